"""Connections to a PostgreSQL server, one for each thread, and what the server says in one line.

The driver takes passwords from the environment, a password file or a service file; none is ever in an address. Names are looked up in the
system's own catalogue and nowhere else, so that nothing that somebody put into another schema is called in place of it.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scumble.core.errors import ReleaseError
from scumble.core.extras import need

SECONDS = 15
"""How long a server may take to be reached."""

SETTINGS = (
    "SET search_path TO pg_catalog",
    "SET standard_conforming_strings TO on",
    "SET TimeZone TO 'UTC'",
    "SET DateStyle TO 'ISO, YMD'",
    "SET extra_float_digits TO 1",
    "SET default_transaction_isolation TO 'repeatable read'",
)
"""What a text, a time and a number are, wherever the server stands; and all statements of a transaction see the same rows."""


def driver() -> Any:
    """The driver, or the line that installs it."""
    return need("psycopg", "postgres")


class Database:
    """A server's database, by its address."""

    def __init__(self, url: str, name: str) -> None:
        self._url, self.name = url, name
        self._own = _Connections()

    def __reduce__(self) -> Any:
        return Database, (self._url, self.name)

    def connect(self) -> Any:
        """A new connection."""
        psycopg = driver()
        with self.one_line():
            connection = psycopg.connect(
                self._url, autocommit=True, connect_timeout=SECONDS, application_name="scumble", prepare_threshold=None
            )
            for setting in SETTINGS:
                connection.execute(setting)
        return connection

    def current(self) -> Any:
        """The connection of this thread in this process: a new one where the last was lost, or belongs to the parent of a fork."""
        held = self._own.held()
        if held is None or held.closed or held.broken:
            held = self._own.keep(self.connect())
        return held

    @contextmanager
    def reading(self, connection: Any = None) -> Iterator[Any]:
        """A transaction that writes nothing, on the connection of this thread where none is given."""
        connection = self.current() if connection is None else connection
        with self.one_line(), connection.transaction():
            connection.execute("SET TRANSACTION READ ONLY")
            yield connection

    @contextmanager
    def one_line(self) -> Iterator[None]:
        """What the server or the network says, in one line and without the address."""
        try:
            yield
        except driver().Error as error:
            raise ReleaseError(f"{self.name} cannot be used: {said(error)}") from None


class _Connections(threading.local):
    """That of each thread."""

    connection: Any = None
    process = 0

    def held(self) -> Any:
        """None in the child of a fork: two processes that talk on one line hear each other's answers."""
        return self.connection if self.process == os.getpid() else None

    def keep(self, connection: Any) -> Any:
        """For the next statement. What a fork inherited is left as it is: closing it would say goodbye in the parent's name."""
        if self.process and self.process != os.getpid():
            _inherited.append(self.connection)
        self.connection, self.process = connection, os.getpid()
        return connection


_inherited: list[Any] = []


def said(error: Exception) -> str:
    """The first sentence of a complaint."""
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    return first.strip().rstrip(".")[:300]
