"""scumble advise: from the accuracy that is needed to the strongest privacy that gives it, and back."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.output import Format, console, print_card, print_json, spec_with_rest


def command(
    spec: Annotated[Path, typer.Argument(help="The spec (.toml).", show_default=False)],
    error: Annotated[
        tuple[str, str] | None,
        typer.Option(
            help="A question and the standard error that its worst line may have, as a share of the truth: 'SELECT ...' 0.02.",
            show_default=False,
        ),
    ] = None,
    posterior: Annotated[
        str | None, typer.Option(help="Instead: the largest belief in a protected value to allow, such as 1/6.")
    ] = None,
    question: Annotated[
        list[str] | None, typer.Option(help="A further question, whose error is told; may be given several times.")
    ] = None,
    absolute: Annotated[
        bool, typer.Option("--absolute", help="Errors are in units of the answer, not shares of the truth.")
    ] = False,
    mechanism: Annotated[list[str] | None, typer.Option(help="A mechanism to choose from; several times.")] = None,
    rest: Annotated[
        str | None, typer.Option(help="drop: leave out the columns that have no role; without it they are refused.")
    ] = None,
    repetitions: Annotated[
        int, typer.Option(help="How often the advised spec is published to check the promise; 0 leaves it out.", min=0)
    ] = 20,
    processes: Annotated[
        int | None, typer.Option(help="How many processes work; one for each processor when absent.", min=1)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Repeat the check with the same coins.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the advised spec to this file.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file of that name.")] = False,
    format: Annotated[Format, typer.Option(help="text for people, json for programs.")] = Format.TEXT,
) -> None:
    """Choose the mechanism and its parameters for an accuracy, or for a privacy, and check the promise by publishing."""
    from scumble.cli.output import progress_bar
    from scumble.core.atomic import demand_file, whole_file
    from scumble.evaluate import advise

    if out is not None:
        demand_file(out, overwrite, [spec])
    with progress_bar("checking the promise") as progress:
        advice = advise(
            spec_with_rest(spec, rest),
            error=error,
            posterior=posterior,
            questions=question or (),
            absolute=absolute,
            mechanisms=mechanism,
            repetitions=repetitions,
            processes=processes,
            seed=seed,
            progress=progress,
        )
    advice = replace(advice, folder=spec.parent)  # the spec that is shown names its table as the given one does
    if out is not None:
        with whole_file(out, overwrite=overwrite) as aside:
            aside.write_text(advice.written(out.parent), encoding="utf-8")
    if format is Format.JSON:
        print_json(advice.to_list())
        return
    print_card(advice.card())
    if out is None:
        console().print("\nthe spec (-o FILE writes it):", style="bold")
        print(advice.spec)
    else:
        console().print(f"\nthe spec is in {out}", style="bold")
