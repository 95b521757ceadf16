"""scumble init: a first spec for a table."""

import os
from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.output import listed
from scumble.cli.progress import progress_bar
from scumble.core.errors import TableError


def command(
    table: Annotated[
        Path, typer.Argument(help="The table: .csv, .parquet, or a folder of .parquet.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The spec to write; beside the table when absent.")
    ] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="A CSV column to read as text, whatever it looks like.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a spec that exists.")] = False,
) -> None:
    """Write a spec (TOML) with a role and a domain suggested for each column, to be read and edited."""
    from scumble.core.atomic import whole_file
    from scumble.sources.source import read
    from scumble.spec.suggest import NONE_SENSITIVE, spec_text

    name = table.resolve().name
    path = out or table.resolve().parent / (name.split(".")[0] + ".toml")
    path = path if out or table.is_absolute() else Path(os.path.relpath(path))
    if path.exists() and not overwrite:
        raise TableError(f"{str(path)!r} exists and is kept; choose another name with -o, or say --overwrite")
    source = table if path.parent.resolve() == table.parent.resolve() else table.resolve()
    with progress_bar("reading the table") as progress:
        named = source.name if source is table else str(source)
        suggested = spec_text(named, read(table, text=listed(text)), progress, text=listed(text))
    with whole_file(path) as aside:
        aside.write_text(suggested, encoding="utf-8")
    first = f"{NONE_SENSITIVE.lower()}, so " if NONE_SENSITIVE in suggested else ""
    print(f"wrote {path}: {first}read it, edit it, then: scumble publish {path} -o {path.stem}.release")
