"""scumble demo: a hospital table is published and asked, with the truth beside the answers."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write into.")] = Path("demo"),
    rows: Annotated[int, typer.Option(help="How many patients.", min=1000)] = 100_000,
) -> None:
    """Make a hospital table, publish it, ask three questions with truth, estimate and interval side by side, and write its report."""
    from scumble.cli.hospital import run

    run(out, rows)
