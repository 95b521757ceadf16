"""Real servers for tests: a process, a database, and means to kill both."""

import atexit
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from collect.surveys import survey as some_survey
from homes import of_postgres, postgres

from scumble.collect.survey import Survey

PATIENCE = 120.0
"""Seconds for what takes one on a machine that does nothing else."""

STORES = ["sqlite", "postgres"]


def store_of(kind: str, folder: Path) -> str:
    """The address of a store of its own."""
    if kind == "sqlite":
        return str(folder / "answers.db")
    pytest.importorskip("psycopg")
    return of_postgres(postgres(), f"store=s{os.getpid()}_{time.monotonic_ns()}")


@cache
def zygote() -> Any:
    """From which servers are forked, each in no time; it ends with the tests."""
    sys.path.append(str(Path(__file__).parents[2]))
    folder = Path(tempfile.mkdtemp(prefix="scumble-zygote-"))
    (folder / "s.json").write_text(some_survey().text())
    started = import_module("faults.zygote").Zygote(folder / "s.json")
    atexit.register(started.stop)
    return started


class Server:
    """A server in a process of its own, at a port that stays the same when it is started again."""

    def __init__(self, survey: Survey, folder: Path, store: str, *flags: str, port: int = 0) -> None:
        self.folder, self.store, self.flags, self.port = folder, store, flags, port
        self.admin = ""
        self.survey = folder / "survey.json"
        self.survey.write_text(survey.text())
        self.log = folder / "log"
        self.log.touch()
        self.number = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        arguments = ["collect", "serve", str(self.survey), "--store", self.store, "--port", str(self.port), *self.flags]
        before = len(self.lines())
        self.number = zygote().start(arguments, self.log)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.alive:
            started = [line for line in self.lines()[before:] if line.get("event") == "started"]
            if started:
                self.port = int(started[0]["address"].rsplit(":", 1)[1])
                self.admin = started[0].get("admin", "")
                return
            time.sleep(0.02)
        raise AssertionError(f"the server did not start: {self.text()}")

    @property
    def alive(self) -> bool:
        return bool(zygote().alive(self.number))

    def text(self) -> str:
        """What it said."""
        return self.log.read_text()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text().splitlines() if line.startswith("{")]

    def kill(self, number: int = signal.SIGKILL) -> int:
        """The code with which it ended."""
        return int(zygote().kill(self.number, number))


@contextmanager
def running(survey: Survey, folder: Path, store: str, *flags: str) -> Iterator[Server]:
    """A server that ends with the block."""
    server = Server(survey, folder, store, *flags)
    server.start()
    try:
        yield server
    finally:
        if server.alive:
            server.kill()


def call(url: str, body: bytes | None = None, **headers: str) -> tuple[int, Any, dict[str, str]]:
    """Status, document and headers of an answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(
        url, body, {"Content-Type": "application/json", **named} if body is not None else named
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, _document(answer.read()), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, _document(error.read()), dict(error.headers)


def _document(body: bytes) -> Any:
    with contextlib.suppress(ValueError):
        return json.loads(body)
    return body.decode("utf-8", "replace")
