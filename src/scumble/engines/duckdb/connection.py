"""The only door to DuckDB: a connection reads the files that it is given and nothing else, and nobody can change that afterwards.

Nothing is fetched from outside. Times are told in UTC, wherever the machine stands. Rows that do not fit into memory go where nobody else can
read them: left to itself, the engine writes them into the working directory, readable for all, and a process that is killed leaves them there.
"""

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import duckdb

from scumble.core.memory import of_engine
from scumble.core.scratch import private_folder
from scumble.engines.sql import literal, text

OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}

_place: ContextVar[Path | None] = ContextVar("place", default=None)
_numbers = itertools.count()


def connect(files: Iterable[Path] = ()) -> duckdb.DuckDBPyConnection:
    """A database in memory that may read these files; what it has to put aside, it puts into a folder of its own, made when it is needed."""
    spill = (_place.get() or _private()) / f"spill-{os.getpid()}-{next(_numbers)}"
    connection = duckdb.connect(config={"memory_limit": f"{of_engine()}B", **OFFLINE, "temp_directory": str(spill)})
    for setting in _closed(files):
        connection.execute(f"SET {setting}")
    return connection


def _closed(files: Iterable[Path]) -> list[str]:
    """The settings of a closed door, in the order in which the engine takes them: once access is off, no file can be added.

    A name with a wildcard is looked at twice, as it is written in a statement and as it is on the disk.
    """
    names = dict.fromkeys(name for file in files for name in (str(file.absolute()), literal(file)))
    return [
        "GLOBAL TimeZone = 'UTC'",  # of every cursor, too
        f"allowed_paths = [{', '.join(map(text, names))}]",
        "enable_external_access = false",
        "lock_configuration = true",
    ]


@contextmanager
def spilling_into(folder: Path) -> Iterator[None]:
    """Connections made meanwhile, in this thread, use a folder that nobody else can read; in the end nothing of theirs is in it."""
    place = Path(tempfile.mkdtemp(prefix="spill-", dir=folder))
    before = _place.set(place)
    try:
        yield
    finally:
        _place.reset(before)
        shutil.rmtree(place, ignore_errors=True)


def _private() -> Path:
    return private_folder(os.getpid())
