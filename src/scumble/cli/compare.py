"""scumble compare: what mechanisms cost at the same privacy, by publishing and asking."""

import json
from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.output import Format, print_card, print_json, spec_with_rest


def command(
    spec: Annotated[Path, typer.Argument(help="The spec (.toml).", show_default=False)],
    mechanism: Annotated[
        list[str] | None,
        typer.Option(help="A mechanism to compare, all when absent; one alone is shown over a range of privacy."),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(help="The largest posterior to allow, such as 1/6; may be given several times."),
    ] = None,
    question: Annotated[
        list[str] | None,
        typer.Option(help="SELECT ... FROM release ...: a question of your own, instead of a random pool of counts."),
    ] = None,
    size: Annotated[int, typer.Option(help="How many random counts are asked.", min=1)] = 200,
    floor: Annotated[str, typer.Option(help="The least share of the rows that a random count may have.")] = "0.001",
    rest: Annotated[
        str | None, typer.Option(help="drop: leave out the columns that have no role; without it they are refused.")
    ] = None,
    repetitions: Annotated[int, typer.Option(help="How often each is published.", min=1)] = 20,
    processes: Annotated[
        int | None, typer.Option(help="How many processes work; one for each processor when absent.", min=1)
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Repeat a comparison with the same coins.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write the result to this file, as JSON.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file of that name.")] = False,
    format: Annotated[Format, typer.Option(help="text for people, json for programs.")] = Format.TEXT,
) -> None:
    """Publish a table by every mechanism that applies, at equal privacy, many times, and measure what the answers are worth."""
    from scumble.cli.output import progress_bar
    from scumble.core.atomic import demand_file, whole_file
    from scumble.evaluate import Workload, compare
    from scumble.evaluate.specified_table import SpecifiedTable

    if out is not None:
        demand_file(out, overwrite, [spec])
    subject = SpecifiedTable.of(spec_with_rest(spec, rest))
    workload = (
        Workload.sql(question)
        if question
        else Workload.counts(subject.truth, size=size, floor=floor, seed=0 if seed is None else seed)
    )
    with progress_bar("publishing and asking") as progress:
        comparison = compare(
            subject,
            mechanisms=mechanism,
            levels=level,
            workload=workload,
            repetitions=repetitions,
            processes=processes,
            seed=seed,
            progress=progress,
        )
    if out is not None:
        with whole_file(out, overwrite=overwrite) as aside:
            aside.write_text(json.dumps(comparison.to_list(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if format is Format.JSON:
        print_json(comparison.to_list())
    else:
        print_card(comparison.card())
