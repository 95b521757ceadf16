"""Sessions with Spark Connect servers: one for each address in this process, and what Spark says in one line."""

import logging
import os
import socket
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from scumble.core.entropy import fresh_bytes
from scumble.core.errors import InputError
from scumble.core.extras import need
from scumble.engines.interruptible import interruptible
from scumble.engines.spark.server import Server

T = TypeVar("T")

PORT = 15002
"""Of a Spark Connect server, where the address has none."""
SECONDS = 15.0
"""How long a server may take to answer."""

SETTINGS = {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true", "spark.sql.caseSensitive": "false"}
"""What times are, and that what cannot be computed is an error and no missing value, wherever the server stands."""


class Session:
    """A session, and the server behind it where it is our own."""

    def __init__(self, master: str) -> None:
        connect = _connect()
        self.name, self._process = f"Spark at {master.partition(';')[0]!r}", os.getpid()
        self.server = None if master.startswith("sc://") else Server(master)
        if self.server is None:
            _demand_reached(master)
        with self.one_line(), quiet():
            self.spark = connect.SparkSession.builder.remote(self.server.url if self.server else master).create()
            for key, value in SETTINGS.items():
                self.spark.conf.set(key, value)

    @property
    def here(self) -> bool:
        """Whether this is the process that opened it: the line to a server does not survive a fork."""
        return self._process == os.getpid()

    def run(self, work: Callable[[], T]) -> T:
        """What Spark does for a question or a publication; ended where somebody wants its end."""
        tag = f"scumble-{threading.get_ident()}-{fresh_bytes(4).hex()}"

        def tagged() -> T:
            self.spark.addTag(tag)
            try:
                with quiet():
                    return work()
            finally:
                self.spark.removeTag(tag)

        return interruptible(_Tagged(self.spark, tag), tagged)

    @contextmanager
    def one_line(self) -> Iterator[None]:
        """What Spark says, in one line."""
        errors = need("pyspark.errors", "spark")
        try:
            yield
        except errors.PySparkException as error:
            raise InputError(f"{self.name} cannot be used: {said(error)}") from None


class _Tagged:
    """Statements under a tag, which another thread ends."""

    def __init__(self, spark: Any, tag: str) -> None:
        self._spark, self._tag = spark, tag

    def interrupt(self) -> None:
        """Asks the server to end them."""
        with quiet():
            self._spark.interruptTag(self._tag)


_sessions: dict[tuple[str, int], Session] = {}
_opening = threading.Lock()


def session_at(master: str) -> Session:
    """The session of this process with a master or a server."""
    key = (master, os.getpid())
    with _opening:
        if key not in _sessions:
            _sessions[key] = Session(master)
        return _sessions[key]


def _forget() -> None:
    """In the child of a fork, which may find the lock closed."""
    global _opening
    _opening = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _demand_reached(url: str) -> None:
    """Refuses a server that nobody answers for, before the client tries again and again for minutes."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname or "", parts.port or PORT), SECONDS).close()
    except (OSError, ValueError) as error:
        raise InputError(
            f"there is no Spark Connect server at {parts.hostname}:{parts.port or PORT} ({error}); start it, or correct the address: sc://HOST:PORT"
        ) from None


def _connect() -> Any:
    need("pyspark", "spark")
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # pages of JSON for what is said in a line
    with quiet():
        try:
            return need("pyspark.sql.connect.session", "spark")
        except need("pyspark.errors", "spark").PySparkException as error:  # a part that it needs is missing or old
            raise InputError(f"Spark Connect cannot be used: {said(error)}; pip install 'scumble[spark]'") from None


@contextmanager
def quiet() -> Iterator[None]:
    """Without what pyspark has to say about versions of pandas, which it is not asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def said(error: Exception) -> str:
    """The first sentence of a complaint."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return first.rstrip(".")[:300]
