"""Better operators: planning and publishing sub-tables, and the fine-grain program."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import scumble
from benchmarks.measure import Figure, seconds
from benchmarks.road import DISEASES, PUBLIC
from scumble.mechanisms import find_mechanism, fine_grain, partition
from scumble.publishing.publish import profile
from scumble.sources.source import read
from scumble.spec.spec import ColumnSpec, Spec, Target

ROWS = 10_000_000


def table(path: Path, rows: int) -> Path:
    """Six columns as on the road, the disease by Zipf's law over 50 values, so that sub-tables have something to do."""
    weights = 1 / np.arange(1, 51)
    edges = np.cumsum(weights / weights.sum())
    steps = ", ".join(f"{edge:.12f}" for edge in edges[:-1])
    duckdb.connect().execute(
        f"""COPY (SELECT (hash(i) % 91)::INT AS age, ['F', 'M'][1 + (hash(i + 1) % 2)::INT] AS sex, 'region-' || (hash(i + 2) % 16) AS region,
        'ward ' || (hash(i + 3) % 30) AS ward,
        'disease number ' || len(list_filter([{steps}], lambda e: e <= (hash(i + 4) % 1000000007) / 1000000007.0)) AS disease,
        round((hash(i + 5) % 1000000) / 100.0, 2)::DOUBLE AS cost FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"""
    )
    return path


def publish(source: Path, out: Path, **how: Any) -> None:
    shutil.rmtree(out, ignore_errors=True)
    scumble.publish(source, out, sensitive=["disease"], public=PUBLIC, domains={"disease": DISEASES}, **how)


def planning(source: Path) -> Figure:
    """Both sides open a connection of their own, as a script does."""
    column = ColumnSpec(role="sensitive", values=DISEASES)
    spec = Spec(mechanism="partitioned", privacy=Target(rho2="1/3"), columns={"disease": column})

    def group() -> None:
        with duckdb.connect() as connection:
            connection.sql(f"SELECT disease, COUNT(*) FROM '{source}' GROUP BY 1").fetchall()

    def ours() -> None:
        find_mechanism(spec.mechanism).plan(profile(read(source), spec), spec)

    ours()
    mine, theirs = seconds(ours, group, repeat=9)
    detail = f"{1000 * mine:.0f} ms against {1000 * theirs:.0f} ms"
    return Figure(
        "planning sub-tables, 10M rows, m = 50, against one GROUP BY of DuckDB", mine / theirs, 1.5, detail=detail
    )


def publishing(source: Path, folder: Path) -> Figure:
    parted, uniform = seconds(
        lambda: publish(source, folder / "parted", mechanism="partitioned", rho2="1/3"),
        lambda: publish(source, folder / "uniform", epsilon=1.6),
        repeat=5,
    )
    detail = f"{parted:.2f} s against {uniform:.2f} s"
    return Figure("publishing 10M x 6 partitioned against uniform", parted / uniform, 1.5, detail=detail)


def program(size: int, limit: float) -> Figure:
    counts = np.random.default_rng(size).pareto(1.2, size) * 1000 + 1
    (taken,) = seconds(lambda: fine_grain(counts, theta=3), repeat=9)
    return Figure(f"the fine-grain program at m = {size:,}", 1000 * taken, limit, unit="ms")


def search(size: int, limit: float) -> Figure:
    """How much the search saves over Reverse Cuthill-McKee order stands beside the time."""
    weights = 1 / np.arange(1, size + 1)
    counts = (weights / weights.sum() * ROWS).astype(int)
    share = counts.max() / counts.sum()
    (taken,) = seconds(lambda: partition(counts, share, 1.5 * share), repeat=3)
    gain = partition(counts, share, 1.5 * share).gain
    detail = f"the search saves {gain:.1%} of the error of Reverse Cuthill-McKee order"
    return Figure(f"making sub-tables at m = {size:,}", 1000 * taken, limit, unit="ms", detail=detail)


def figures() -> Iterator[Figure]:
    for size, limit in ((50, 5), (1000, 50), (10_000, 500)):
        yield program(size, limit)
    for size, limit in ((50, 200), (200, 2000), (1000, 20_000)):
        yield search(size, limit)
    with tempfile.TemporaryDirectory() as name:
        source = table(Path(name) / "t.parquet", ROWS)
        yield planning(source)
        yield publishing(source, Path(name))
