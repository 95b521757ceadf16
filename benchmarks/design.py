"""Cyclic designs: planning, publishing against uniform, and a GROUP BY against the exact query."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb

import scumble
from benchmarks.measure import Figure, seconds
from benchmarks.operators import ROWS, publish, table
from scumble.core.difference_set import singer

GAMMA = 3
SQL = "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease"


def planning() -> Figure:
    def ours() -> None:
        singer.cache_clear()
        scumble.Design(5000, GAMMA)

    (taken,) = seconds(ours)
    return Figure("planning a design of 5,000 values", taken, 1, unit="s")


def publishing(source: Path, folder: Path) -> Figure:
    coded, uniform = seconds(
        lambda: publish(source, folder / "design", mechanism="design", gamma=GAMMA),
        lambda: publish(source, folder / "uniform", gamma=GAMMA),
        repeat=5,
    )
    detail = f"{coded:.2f} s against {uniform:.2f} s"
    return Figure("publishing 10M x 6 by a design against uniform", coded / uniform, 1.2, detail=detail)


def asking(source: Path, folder: Path) -> Figure:
    """Both sides have their table open; ours opens no file anew either."""
    release = scumble.open(folder / "design")
    exact = SQL.replace("release", f"'{source}'")
    with duckdb.connect() as connection:
        release.query(SQL)
        mine, theirs = seconds(lambda: release.query(SQL), lambda: connection.sql(exact).fetchall(), repeat=9)
    detail = f"{1000 * mine:.0f} ms against {1000 * theirs:.0f} ms"
    return Figure("GROUP BY over 10M rows of a design against the exact query", mine / theirs, 1.5, detail=detail)


def figures() -> Iterator[Figure]:
    yield planning()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = table(folder / "table.parquet", ROWS)
        yield publishing(source, folder)
        yield asking(source, folder)
