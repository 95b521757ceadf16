"""Connections to DuckDB: nothing is fetched from outside, and rows that do not fit into memory go where nobody else can read them.

Left to itself, the engine writes such rows into the working directory, readable for all, and a process that is killed leaves them there.
"""

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path

import duckdb

OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}

_place: ContextVar[Path | None] = ContextVar("place", default=None)
_numbers = itertools.count()


def connect() -> duckdb.DuckDBPyConnection:
    """A database in memory; what it has to put aside, it puts into a folder of its own, which it makes when it needs it."""
    spill = (_place.get() or _private()) / f"spill-{os.getpid()}-{next(_numbers)}"
    return duckdb.connect(config={**OFFLINE, "temp_directory": str(spill)})


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


@cache
def _private() -> Path:
    """A folder of this process, gone when it ends, also where a pool started it and `atexit` is not heard."""
    folder = Path(tempfile.mkdtemp(prefix="scumble-"))
    Finalize(None, shutil.rmtree, (folder,), {"ignore_errors": True}, exitpriority=0)
    return folder
