"""Many perturbed columns: a count over four of them, and the likelihood from state counts."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np

import scumble
from benchmarks.measure import Figure, seconds
from scumble.query.likelihood import maximize, plain

QUESTION = "SELECT COUNT(*) AS n FROM {} WHERE a BETWEEN 10 AND 60 AND b < 30 AND c IN (1, 2, 3) AND d >= 5"


def states(k: int, p: float, rows: int) -> tuple[np.ndarray, list[scumble.Channel]]:
    """State counts of k yes-or-no columns that depend on a hidden kind of person, published."""
    draw = np.random.default_rng(k)
    kind = draw.random(rows) < 0.3
    channel = scumble.Channel(p, size=2)
    code = np.zeros(rows, dtype=np.int64)
    for _ in range(k):
        true = draw.random(rows) < np.where(kind, draw.uniform(0.5, 0.9), draw.uniform(0.05, 0.3))
        kept = draw.random(rows) < p
        code = code * 2 + np.where(kept, true, draw.random(rows) < 0.5)
    return np.bincount(code, minlength=2**k).reshape((2,) * k).astype(float), [channel] * k


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "t.parquet"
        connection = duckdb.connect()
        connection.execute(
            f"""COPY (SELECT (hash(i) % 100)::INT AS a, (hash(i + 1) % 50)::INT AS b, (hash(i + 2) % 8)::INT AS c, (hash(i + 3) % 20)::INT AS d
            FROM range(10000000) t(i)) TO '{source}' (FORMAT parquet)"""
        )
        domains = {n: {"low": 0, "high": h} for n, h in (("a", 99), ("b", 49), ("c", 7), ("d", 19))}
        release = scumble.publish(source, Path(name) / "r", sensitive=list("abcd"), domains=domains, retain=0.7)
        asked, exact = seconds(
            lambda: release.query(QUESTION.format("release")),
            lambda: connection.sql(QUESTION.format(f"'{source}'")).fetchall(),
            repeat=9,
        )
        detail = f"{1000 * asked:.0f} ms against {1000 * exact:.0f} ms"
        yield Figure(
            "count over 4 perturbed columns with interval, 10M rows, against the exact query",
            asked / exact,
            1.5,
            detail=detail,
        )
    yield from likelihoods()


def likelihoods() -> Iterator[Figure]:
    for k, p, limit, slow in ((8, 0.7, 5, True), (8, 0.3, 500, True), (12, 0.7, 50, False)):
        y, channels = states(k, p, 100_000)
        (taken,) = seconds(lambda y=y, channels=channels: maximize(y, channels), repeat=9)
        detail = f"{maximize(y, channels).method}, 100,000 rows of a mixture of two kinds of people"
        if slow:
            start = plain(y, channels, limit=2000)
            (dense,) = seconds(lambda y=y, channels=channels: plain(y, channels, limit=2000), repeat=1)
            detail += f"; plain dense iteration: {1000 * dense:.0f} ms" + (
                "" if start.converged else f" for 2,000 steps, gap still {start.gap:.2g}"
            )
        yield Figure(f"likelihood from state counts, k = {k}, p = {p}", 1000 * taken, limit, unit="ms", detail=detail)
    counts = (
        np.random.default_rng(1)
        .multinomial(100_000, scumble.Channel(0.3, size=1000).apply(np.arange(1000) / 499500))
        .astype(float)
    )
    (taken,) = seconds(lambda: maximize(counts, [scumble.Channel(0.3, size=1000)]), repeat=9)
    yield Figure("likelihood of one column with m = 1000, closed form", 1000 * taken, 1, unit="ms")
