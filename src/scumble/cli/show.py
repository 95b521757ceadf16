"""scumble show: what is in a release, which guarantee, which conditions, what it does not cover."""

from typing import Annotated

import typer

from scumble.cli.output import Format, print_json
from scumble.cli.progress import progress_bar


def command(
    releases: Annotated[
        list[str], typer.Argument(help="The release, or several that are read as one.", show_default=False)
    ],
    on: Annotated[
        str | None,
        typer.Option(help="Several releases with other columns of the same rows: the row id that they share."),
    ] = None,
    memory: Annotated[str | None, typer.Option(help="The memory that it may take, 1GiB when absent.")] = None,
    format: Annotated[Format, typer.Option(help="text for people, json for programs.")] = Format.TEXT,
) -> None:
    """Show what is in a release, which guarantee it gives, under which conditions, and what it does not cover."""
    from scumble.api import open
    from scumble.cli import shown
    from scumble.core.memory import within

    with within(memory):
        with progress_bar("opening"):
            opened = open(*releases, on=on)
        if format is Format.JSON:
            print_json(shown.derived(opened))
            return
        shown.summary(opened)
        shown.details(opened)
