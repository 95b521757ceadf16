"""scumble query: SQL in, estimates with intervals out."""

from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.output import Format, print_estimates, print_json


def command(
    release: Annotated[Path, typer.Argument(help="The release.", show_default=False)],
    sql: Annotated[str, typer.Argument(help="SELECT ... FROM release ...", show_default=False)],
    level: Annotated[str, typer.Option(help="How often an interval holds the truth.")] = "0.95",
    method: Annotated[str, typer.Option(help="How to estimate: unbiased, or likelihood (never negative).")] = "unbiased",
    format: Annotated[Format, typer.Option(help="text for people, json for programs.")] = Format.TEXT,
) -> None:
    """Ask a release a question: COUNT(*), SUM, AVG with WHERE, GROUP BY, ORDER BY and LIMIT."""
    from scumble.api import open

    answer = open(release).query(sql, level=level, method=method)
    if format is Format.JSON:
        print_json(answer.to_list())
    else:
        print_estimates(answer)
