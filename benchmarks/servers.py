"""One open release in a server: questions a second by 8 threads, and by 8 forked processes, against DuckDB's own on the same files."""

import multiprocessing
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import scumble
from benchmarks.measure import Figure, seconds

ROWS, WORKERS, QUESTIONS = 1_000_000, 8, 64
WORDS = [f"disease {i}" for i in range(20)]
ASKED = "SELECT sex, COUNT(*) AS n FROM {} WHERE disease IN ('disease 1', 'disease 7') AND age > {} GROUP BY sex"

opened: dict[str, Any] = {}
"""What forked processes inherit."""


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        opened["release"] = published(Path(folder))
        opened["files"] = f"'{folder}/r/data*.parquet'"
        opened["database"] = duckdb.connect()
        ours, theirs = seconds(lambda: by_threads(ask), lambda: by_threads(ask_duckdb), repeat=3)
        yield figure("threads", ours, theirs)
        ours, theirs = seconds(lambda: by_processes(ask), lambda: by_processes(ask_anew), repeat=3)
        yield figure("forked processes", ours, theirs)


def published(folder: Path) -> scumble.Release:
    draw = np.random.default_rng(1)
    columns = {
        "age": draw.integers(0, 90, ROWS),
        "sex": draw.choice(["F", "M"], ROWS),
        "disease": draw.choice(WORDS, ROWS),
    }
    how: dict[str, Any] = {"sensitive": "disease", "public": ["age", "sex"], "domains": {"disease": WORDS}}
    scumble.publish(pa.table(columns), folder / "r", **how, retain=0.5)
    return scumble.open(folder / "r")


def ask(turn: int) -> int:
    return len(opened["release"].query(ASKED.format("release", turn % 60)))


def ask_duckdb(turn: int) -> int:
    return len(opened["database"].cursor().execute(ASKED.format(opened["files"], turn % 60)).fetchall())


def ask_anew(turn: int) -> int:
    """A process may not use the database that it inherited."""
    if "own" not in opened:
        opened["own"] = duckdb.connect()
    return len(opened["own"].execute(ASKED.format(opened["files"], turn % 60)).fetchall())


def by_threads(work: Callable[[int], int]) -> None:
    with ThreadPoolExecutor(WORKERS) as pool:
        assert set(pool.map(work, range(QUESTIONS))) == {2}


def by_processes(work: Callable[[int], int]) -> None:
    with multiprocessing.get_context("fork").Pool(WORKERS) as pool:
        assert set(pool.map(work, range(QUESTIONS))) == {2}


def figure(how: str, ours: float, theirs: float) -> Figure:
    detail = f"{QUESTIONS / ours:.0f} questions a second against {QUESTIONS / theirs:.0f}"
    return Figure(f"{WORKERS} {how}, 1M rows, counts by group against DuckDB's own", ours / theirs, 6, detail=detail)
