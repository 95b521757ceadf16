"""scumble init: a first spec for a table."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scumble.cli.output import TABLES, in_place_is_done, listed, print_card
from scumble.cli.progress import progress_bar

if TYPE_CHECKING:
    from scumble.core.display import Card
    from scumble.spec.suggest import Suggestion

LONGEST = 20
"""Characters of an example."""


def command(
    table: Annotated[str, typer.Argument(help=f"The table: {TABLES}.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The spec to write; beside the table when absent.")
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="A CSV column to read as text, whatever it looks like.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a spec that exists.")] = False,
    no_questions: Annotated[
        bool, typer.Option("--no-questions", help="Write the suggestions as they are, also on a terminal.")
    ] = False,
) -> None:
    """Write a spec (TOML) with a role and a domain suggested for each column, to be read and edited. On a terminal, ask for the roles."""
    from scumble.spec.first_spec import first_spec

    with progress_bar("reading the table") as progress:
        spec = first_spec(table, out, listed(text), overwrite=overwrite, progress=progress)
    columns = _asked(spec.suggested) if on_terminal() and not no_questions else spec.suggested
    spec.write(columns)
    path = spec.path
    with in_place_is_done(path):
        print_card(_card(columns))
        print(
            f"wrote {path}: {_sentence(columns)}read it, edit it, then: scumble publish {path} -o {path.stem}.release"
        )


def on_terminal() -> bool:
    """Whether somebody sits there who can read and type."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _asked(suggested: list["Suggestion"]) -> list["Suggestion"]:
    """The columns with the roles that somebody chose; whoever quits ends the command."""
    from scumble.cli.asking import asker
    from scumble.spec.interview import interview

    columns = interview(suggested, asker())
    if columns is None:
        print("no spec was written")
        raise typer.Exit(130)
    return columns


def _sentence(suggested: list["Suggestion"]) -> str:
    """What stands between the spec and a release."""
    from scumble.spec.suggest import NONE_SENSITIVE

    roles = [column.role for column in suggested]
    open_ = roles.count("?")
    parts = [f'{open_} column{"s" * (open_ > 1)} to be decided (role = "?")'] if open_ else []
    parts += [] if "sensitive" in roles else [NONE_SENSITIVE.lower()]
    return f"{' and '.join(parts)}, so " if parts else ""


def _card(suggested: list["Suggestion"]) -> "Card":
    """What was decided of each column, and why."""
    from scumble.core.display import Card, Grid

    rows = [(column.seen.name, column.role, column.why, _examples(column.seen.examples)) for column in suggested]
    return Card("", [Grid(("column", "role", "why", "values such as"), rows, (0, 1, 2, 3))])


def _examples(values: list[Any]) -> str:
    return ", ".join(text if len(text := str(value)) <= LONGEST else f"{text[:LONGEST]}..." for value in values)
