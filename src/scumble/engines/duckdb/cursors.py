"""One database, a cursor for each thread: what a server needs whose threads ask one release, and whose processes are forked.

Cursors share the database, its threads and its memory. Each has tables in memory of its own, so that two threads may give theirs the
same name. A cursor is the thread's for as long as that lives; then the next thread has it.

The child of a fork has the database without the threads that work for it: it would wait for them for ever, and closing it ends the
process. So the child lets go of all that it inherited without closing it, and opens its own.
"""

import ctypes
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa

from scumble.engines.duckdb.connection import connect


@dataclass(eq=False)
class Cursor:
    """A connection to the database, and the tables in memory that all threads have and that it was told of."""

    connection: duckdb.DuckDBPyConnection
    known: dict[str, pa.Table] = field(default_factory=dict)
    own: dict[str, pa.Table] = field(default_factory=dict)
    """Those that this thread alone has."""
    database: "Cursor | None" = None
    """What it is a cursor of."""

    def register(self, name: str, table: pa.Table) -> None:
        """A table of this thread."""
        self.connection.register(name, table)
        self.own[name] = table

    def share(self, tables: Mapping[str, pa.Table]) -> None:
        """Tells it of those that are new."""
        for name, table in list(tables.items()):
            if self.known.get(name) is not table:
                self.connection.register(name, table)
                self.known[name] = table


class Cursors:
    """The cursors of a database that is opened when the first is needed."""

    def __init__(self, files: Iterable[Path], prepare: Callable[[Cursor], None]) -> None:
        self._files, self._prepare = list(files), prepare
        self._forget()
        _every.add(self)

    def _forget(self) -> None:
        self._database: Cursor | None = None
        self._of: dict[int, Cursor] = {}
        self._lock = threading.Lock()

    def current(self) -> Cursor:
        """The cursor of this thread."""
        own = self._of.get(threading.get_ident())
        return own if own is not None else self._next()

    def _next(self) -> Cursor:
        with self._lock:
            gone = next(iter(set(self._of) - set(sys._current_frames())), None)
            cursor = self._of.pop(gone) if gone is not None else self._cursor()
            self._of[threading.get_ident()] = cursor
        return cursor

    def _cursor(self) -> Cursor:
        database = self._opened()
        return Cursor(database.connection.cursor(), database=database)

    def _opened(self) -> Cursor:
        if self._database is None:
            database = Cursor(connect(self._files))
            self._prepare(database)
            self._database = database
        return self._database

    def renew(self, cursor: Cursor) -> None:
        """Another database for this thread, and for all that come: files that are read by their handles lie under other names now.

        The engine looks up what a handle is called whenever it opens one, and lets nothing in that had another name when its door was closed.
        """
        with self._lock:
            if cursor.database is self._database:
                self._database = None
            other = self._cursor()
            self._of[threading.get_ident()] = other
        for name, table in cursor.own.items():
            other.register(name, table)

    def let_go(self) -> None:
        """In the child of a fork: nothing of this is ever closed."""
        for inherited in (self._database, *self._of.values()):
            if inherited is not None:
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(inherited.connection))
        self._forget()


_every: "weakref.WeakSet[Cursors]" = weakref.WeakSet()


def _let_go_of_all() -> None:
    for cursors in list(_every):
        cursors.let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_of_all)
