"""A first spec beside a table: suggested, written whole or not at all, and never over one that somebody edited."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scumble.core.atomic import whole_file
from scumble.core.errors import TableError
from scumble.core.progress import Progress
from scumble.sources.address import address, behind, is_url
from scumble.sources.source import read
from scumble.spec.suggest import Suggestion, suggestions, written


@dataclass(frozen=True)
class FirstSpec:
    """Where a spec will be written, and what is suggested for it."""

    table: str | Path
    path: Path
    text: Sequence[str]
    overwrite: bool
    suggested: list[Suggestion]

    def write(self, columns: list[Suggestion]) -> None:
        """Writes it with these roles. It names the table as it is found from the spec's own folder."""
        with whole_file(self.path, overwrite=self.overwrite) as aside:
            aside.write_text(written(_name(self.table, self.path), columns, self.text), encoding="utf-8")


def first_spec(
    table: str | Path,
    out: Path | None,
    text: Sequence[str],
    *,
    overwrite: bool,
    progress: Progress = lambda done, of: None,
) -> FirstSpec:
    """Reads the table, and refuses a place that cannot be written to before that."""
    path = out or _beside(table)
    if path.exists() and not overwrite:
        raise TableError(
            f"{str(path)!r} exists and is kept; choose another name with -o (out), or say --overwrite (overwrite=True)"
        )
    if not is_url(table) and path.resolve() == Path(table).resolve():
        raise TableError(f"{str(path)!r} is the table itself; choose another name for the spec")
    return FirstSpec(table, path, text, overwrite, suggestions(read(table, text=list(text)), progress))


def _name(table: str | Path, spec: Path) -> str:
    """How the spec names the table: shortly where it lies beside it."""
    if is_url(table):
        return str(table)
    path = Path(table)
    return path.name if spec.parent.resolve() == path.parent.resolve() else str(path.resolve())


def _beside(table: str | Path) -> Path:
    """The file of a table's name in its folder, as short as the table was named; here for a table in a database."""
    if is_url(table):
        return Path(f"{(address(str(table)).table or 'query').rpartition('.')[2]}.toml")
    table, _ = behind(table)
    whole = table.resolve()
    path = whole.parent / (whole.name.split(".")[0] + ".toml")
    return path if table.is_absolute() else Path(os.path.relpath(path))
