"""A folder whose files are one table together."""

from collections.abc import Sequence
from pathlib import Path

from scumble.core.errors import TableError


def files_in(folder: Path, endings: Sequence[str]) -> list[Path]:
    """The files of a folder with these endings, hidden ones left aside as every reader does; a column that is in the names of folders would be lost."""
    named = [
        path for path in sorted(folder.rglob("*")) if path.name.lower().endswith(tuple(endings)) and path.is_file()
    ]
    within = [(path, path.relative_to(folder).parts) for path in named]
    shown = [(path, parts) for path, parts in within if not any(part.startswith((".", "_")) for part in parts)]
    if hive := next((part for _, parts in shown for part in parts[:-1] if "=" in part), None):
        raise TableError(
            f"the folder {folder.name!r} has a column in the names of its folders ({hive}), which no file has; write it into the files, or give one folder"
        )
    return [path for path, _ in shown]
