"""A first spec beside a table: suggested, written whole or not at all, and never over one that somebody edited."""

import os
from collections.abc import Sequence
from pathlib import Path

from scumble.core.atomic import whole_file
from scumble.core.errors import TableError
from scumble.core.progress import Progress
from scumble.sources.source import read
from scumble.spec.suggest import Suggestion, suggestions, written


def write_spec(
    table: Path,
    out: Path | None,
    text: Sequence[str],
    *,
    overwrite: bool,
    progress: Progress = lambda done, of: None,
) -> tuple[Path, list[Suggestion]]:
    """Where it was written, and what was suggested. The spec names the table as it is found from the spec's own folder."""
    path = out or _beside(table)
    if path.exists() and not overwrite:
        raise TableError(
            f"{str(path)!r} exists and is kept; choose another name with -o (out), or say --overwrite (overwrite=True)"
        )
    if path.resolve() == table.resolve():
        raise TableError(f"{str(path)!r} is the table itself; choose another name for the spec")
    near = path.parent.resolve() == table.parent.resolve()
    suggested = suggestions(read(table, text=list(text)), progress)
    with whole_file(path, overwrite=overwrite) as aside:
        name = table.name if near else str(table.resolve())
        aside.write_text(written(name, suggested, text), encoding="utf-8")
    return path, suggested


def _beside(table: Path) -> Path:
    """The file of a table's name in its folder, as short as the table was named."""
    whole = table.resolve()
    path = whole.parent / (whole.name.split(".")[0] + ".toml")
    return path if table.is_absolute() else Path(os.path.relpath(path))
