"""scumble collect new: from a spec to a signed survey."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    spec: Annotated[Path, typer.Argument(help="The spec of the survey (.toml); docs/collect.md.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The survey to write, JSON.", show_default=False)],
    key: Annotated[
        Path | None,
        typer.Option(help="The private key of Ed25519 to sign with; a new one beside the survey when absent."),
    ] = None,
    continues: Annotated[
        Path | None,
        typer.Option(help="The survey that this one continues: who answered it keeps the coins of the same questions."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a survey that exists.")] = False,
) -> None:
    """Make a survey of a spec: channels, promise and signature. It is public, and named by its digest."""
    from scumble.cli.output import print_card
    from scumble.collect.making import make_survey

    made = make_survey(spec, out, key, continues, overwrite=overwrite)
    print(f"wrote {out}: give it to who answers, and to who serves it")
    for line in made.notes:
        print(line)
    print_card(made.survey.card())
