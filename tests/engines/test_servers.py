"""One open release in a server: threads, forks, time limits and cancelling."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from engines.test_engines import QUESTIONS, RELEASES, published_in, sql

import scumble
from scumble.core.errors import ParameterError, QueryError, QuestionStopped
from scumble.engines import ENGINES
from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.cursors import Cursors
from scumble.engines.duckdb.results import arrow

ENGINES["sqlite"] = "toys.engine:SQLite"

FOREVER = 300
"""Seconds after which what does not end is a failure, also on a busy machine."""

ENDLESS = "SELECT COUNT(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range % 7 = 3"
"""A statement that takes years."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return published_in(tmp_path_factory.mktemp("served"))


def answers(release: scumble.Release, questions: list[str]) -> list[list[dict[str, Any]]]:
    return [release.query(sql(question)).to_list() for question in questions]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "engine"), [(n, e) for n in RELEASES for e in ENGINES if (n, e) != ("sets", "sqlite")]
)
def test_eight_threads_get_the_answers_of_one(name: str, engine: str, folders: dict[str, Path]) -> None:
    """All begin on a release that was never asked, so that they also prepare it at the same time."""
    questions = QUESTIONS[name]
    alone = answers(scumble.open(folders[name], engine=engine), questions)
    shared = scumble.open(folders[name], engine=engine)
    begin = threading.Barrier(8)

    def ask(turn: int) -> list[list[dict[str, Any]]]:
        begin.wait(FOREVER)
        own = questions[turn % len(questions) :] + questions[: turn % len(questions)]
        found = answers(shared, own)
        place = len(questions) - turn % len(questions)
        return found[place:] + found[:place]

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(ask, range(8)):
            np.testing.assert_equal(rounded(found), rounded(alone))


def test_a_thread_that_is_gone_leaves_its_cursor_to_the_next(folders: dict[str, Path]) -> None:
    cursors = Cursors([], lambda database: None)
    seen = []
    for _ in range(20):
        thread = threading.Thread(target=lambda: seen.append(cursors.current()))
        thread.start()
        thread.join()
    assert len({id(cursor) for cursor in seen}) == 1


def test_every_cursor_tells_times_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    hour = "SELECT hour(TIMESTAMPTZ '2026-01-01 12:00:00+00')"
    try:
        assert connect().cursor().sql(hour).fetchall() == [(12,)]
    finally:
        monkeypatch.undo()
        time.tzset()


def in_child(work: Callable[[], Any], leave: Callable[[int], Any]) -> int:
    """The exit status of a forked process that does some work; -1 where it hangs."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            leave(status)
    for _ in range(FOREVER * 20):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["rows", "tuples", "buckets"])
def test_a_fork_asks_a_release_that_its_parent_opened_and_asked(name: str, folders: dict[str, Path]) -> None:
    """Also where threads of the parent have asked and live on, and what the form prepared is there.

    A fork in the middle of a statement is not promised: a lock of the database may be closed in the child for ever.
    """
    release, questions = scumble.open(folders[name]), QUESTIONS[name]
    before = answers(release, questions)

    def asks_as_before() -> bool:
        np.testing.assert_equal(rounded(answers(release, questions)), rounded(before))
        return True

    with ThreadPoolExecutor(2) as pool:
        for _ in range(3):
            assert all(pool.map(lambda _: asks_as_before(), range(4)))
            assert in_child(asks_as_before, os._exit) == 0
    assert asks_as_before()


def rounded(found: list[list[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    """To ten digits: cells come, and are added, in any order."""
    digits = lambda value: float(f"{value:.10g}") if isinstance(value, float) else value  # noqa: E731
    return [[{name: digits(value) for name, value in line.items()} for line in lines] for lines in found]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.slow
def test_a_fork_ends_well_that_never_asked(folders: dict[str, Path]) -> None:
    """Closing a database whose threads are gone ends a process with a fault; it is let go of instead."""
    code = f"""
import os, sys, scumble
release = scumble.open({str(folders["rows"])!r})
release.query("SELECT COUNT(*) AS n FROM release WHERE disease = 'flu'")
child = os.fork()
if child == 0:
    sys.exit(0)
print(os.waitpid(child, 0)[1])
"""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=FOREVER)
    assert run.stdout == "0\n"


def _asked(release: scumble.Release) -> list[dict[str, Any]]:
    return release.query("SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'flu' GROUP BY sex").to_list()


_opened: dict[str, scumble.Release] = {}


def _inherited(_: int) -> list[dict[str, Any]]:
    return _asked(_opened["release"])


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_pool_of_forked_workers_answers_alike(folders: dict[str, Path]) -> None:
    _opened["release"] = scumble.open(folders["rows"])
    before = _asked(_opened["release"])
    with get_context("fork").Pool(4) as pool:
        assert pool.map_async(_inherited, range(8)).get(FOREVER) == [before] * 8


def slow_release(monkeypatch: pytest.MonkeyPatch, folder: Path) -> scumble.Release:
    """One whose statements take years."""
    release = scumble.open(folder)
    monkeypatch.setattr("scumble.engines.duckdb.engine.arrow", lambda connection, statement: arrow(connection, ENDLESS))
    return release


def test_a_question_has_so_much_time(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    release = slow_release(monkeypatch, folders["rows"])
    with pytest.raises(QuestionStopped, match=r"took more than 0\.3 seconds; ask a simpler one, or give it more time"):
        _asked_within(release, 0.3)
    with ThreadPoolExecutor(2) as pool:
        for stopped in [pool.submit(_asked_within, release, 0.2) for _ in range(2)]:
            assert isinstance(stopped.exception(FOREVER), QuestionStopped)


def _asked_within(release: scumble.Release, seconds: Any) -> Any:
    return release.query("SELECT COUNT(*) AS n FROM release WHERE age > 3", timeout=seconds)


def test_the_time_is_given_when_opening_too(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    release = scumble.open(folders["rows"], timeout="1/4")
    monkeypatch.setattr("scumble.engines.duckdb.engine.arrow", lambda connection, statement: arrow(connection, ENDLESS))
    with pytest.raises(QuestionStopped, match=r"0\.25 seconds"):
        _asked(release)


@pytest.mark.parametrize("timeout", [0, -1, "soon", float("nan")])
def test_a_time_that_is_none_is_refused(timeout: Any, folders: dict[str, Path]) -> None:
    with pytest.raises(ParameterError, match="timeout"):
        scumble.open(folders["rows"], timeout=timeout)


def test_another_thread_cancels(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    release = slow_release(monkeypatch, folders["rows"])
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(_asked_within, release, None) for _ in range(3)]
        while len(release._running) < 3:
            time.sleep(0.01)
        release.cancel()
        for each in asked:
            assert "was cancelled" in str(each.exception(FOREVER))
    monkeypatch.undo()
    assert _asked(release)


@pytest.mark.skipif(os.name != "posix", reason="there are no signals here")
def test_an_interruption_ends_a_question_at_once(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    release = slow_release(monkeypatch, folders["rows"])
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        _asked(release)
    timer.join()
    monkeypatch.undo()
    assert _asked(release)


def test_what_is_no_text_or_path_is_refused_in_a_sentence(folders: dict[str, Path]) -> None:
    release: Any = scumble.open(folders["rows"])
    for nothing in (None, 3, ["SELECT 1"]):
        with pytest.raises(QueryError, match="a question is a text"):
            release.query(nothing)
        opened: Any = scumble.open
        with pytest.raises(scumble.errors.ReleaseError, match="by the path of its folder"):
            opened(nothing)


def test_a_table_that_one_thread_registers_is_not_seen_by_another(folders: dict[str, Path]) -> None:
    from scumble.engines.expressions import count, select

    engine = scumble.open(folders["rows"]).engine
    statement = select({"n": count()}, "own")
    with ThreadPoolExecutor(1) as other:
        engine.register("own", pa.table({"x": [1]}))
        with pytest.raises(QueryError):
            other.submit(engine.run, statement).result()
        other.submit(engine.register, "own", pa.table({"x": [1, 2]})).result()
        assert engine.run(statement).to_pylist() == [{"n": 1}]
        engine.register("all", pa.table({"x": [1, 2, 3]}), everywhere=True)
        assert other.submit(engine.run, select({"n": count()}, "all")).result().to_pylist() == [{"n": 3}]
