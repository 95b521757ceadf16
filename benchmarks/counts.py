"""Counted tuples: noisy counts against one GROUP BY, and columnizing ratings in memory that follows them."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb

import scumble
from benchmarks.measure import Figure, peak_memory, seconds
from benchmarks.road import table

NAMES = ["age", "sex", "region", "ward"]
ITEMS = 2000


def publish(source: Path, out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    scumble.publish(
        source,
        out,
        mechanism="noisy_counts",
        public=NAMES,
        drop=["disease", "cost"],
        epsilon=1,
        settings={"k": 10, "delta": 1e-7},
    )


def ratings(path: Path, rows: int) -> Path:
    """About `rows` ratings by a tenth as many users; popular items are rated most, and a user rates an item once."""
    duckdb.connect().execute(
        f"""COPY (SELECT DISTINCT ON (user, item) user, item, rating FROM (
        SELECT (hash(i) % {rows // 10})::INT AS user, ({ITEMS} * pow((hash(i + 1) % 1000000) / 1e6, 3))::INT AS item, (1 + hash(i + 2) % 5)::TINYINT AS rating
        FROM range({rows}) t(i))) TO '{path}' (FORMAT parquet)"""
    )
    return path


def columnizing(source: Path, out: Path) -> str:
    """A program that columnizes ratings into 50 columns of items, in a process of its own."""
    return f"""
import scumble, numpy as np, pyarrow.parquet as pq
items = np.unique(pq.read_table({str(source)!r}, columns=["item"])["item"].to_numpy())
schema = [part.tolist() for part in np.array_split(items, 50)]
scumble.publish({str(source)!r}, {str(out)!r}, mechanism="columnized", drop="user", epsilon=3,
    settings=dict(k=10, delta=1e-5, user="user", item="item", value="rating", schema=schema, c_star=4), overwrite=True)
"""


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = table(folder / "t.parquet", 20_000_000)
        connection = duckdb.connect()
        listed = ", ".join(NAMES)
        grouping = f"SELECT {listed}, COUNT(*) FROM '{source}' GROUP BY {listed}"
        ours, plain = seconds(
            lambda: publish(source, folder / "r"), lambda: connection.sql(grouping).to_arrow_table(), repeat=5
        )
        rows = scumble.open(folder / "r").manifest.rows
        detail = f"{ours:.2f} s against {plain:.2f} s; {rows:,} rows of 4 columns written"
        yield Figure("noisy counts of 20M rows against one GROUP BY", ours / plain, 2, detail=detail)
        small, large = (ratings(folder / f"{rows}.parquet", rows) for rows in (1_250_000, 5_000_000))
        memory = [peak_memory(columnizing(path, folder / "c")) for path in (small, large)]
        base = peak_memory("import scumble.api, scumble.mechanisms.columnized.publish")
        growth = (memory[1] - base) / (memory[0] - base)
        yield Figure("peak memory columnizing 5M ratings", memory[1], 2048, unit="MiB")
        yield Figure(
            "its growth for 4 times the ratings",
            growth,
            4.4,
            detail=f"{memory[0]:.0f} to {memory[1]:.0f} MiB, {base:.0f} before the first",
        )
