"""Many perturbed columns: a count over four of them, and the likelihood from state counts."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import scumble
from benchmarks.measure import Figure, seconds
from scumble.query.likelihood import maximize, plain

NUMBERS = "SELECT COUNT(*) AS n FROM {} WHERE a BETWEEN 10 AND 60 AND b < 30 AND c IN (1, 2, 3) AND d >= 5"
CHOSEN = {"a": range(10, 61), "b": range(30), "c": range(1, 4), "d": range(5, 20)}
FRACTIONS = "SELECT COUNT(*) AS n FROM {} WHERE a BETWEEN 1.0 AND 6.0 AND b < 3.0 AND c IN (0.1, 0.2, 0.3) AND d >= 0.5"
WORDS = "SELECT COUNT(*) AS n FROM {} WHERE " + " AND ".join(
    f"{name} IN ({', '.join(repr(f'v{i}') for i in chosen)})" for name, chosen in CHOSEN.items()
)


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


SIZES = {"a": 100, "b": 50, "c": 8, "d": 20}


def figures() -> Iterator[Figure]:
    numbers = {name: {"low": 0, "high": size - 1} for name, size in SIZES.items()}
    words = {name: [f"v{i}" for i in range(size)] for name, size in SIZES.items()}
    tenths = {name: {"low": 0, "high": str((size - 1) / 10), "step": "0.1"} for name, size in SIZES.items()}
    yield counted("numbers", NUMBERS, "(hash(i + {}) % {})::INT", numbers)
    yield counted("fractions", FRACTIONS, "((hash(i + {}) % {}) / 10.0)::DOUBLE", tenths)
    yield counted("words", WORDS, "'v' || (hash(i + {}) % {})", words)
    yield from likelihoods()


def counted(kind: str, question: str, value: str, domains: dict[str, Any]) -> Figure:
    """A count over four perturbed columns of 10M rows."""
    with tempfile.TemporaryDirectory() as name:
        source, connection = Path(name) / "t.parquet", duckdb.connect()
        columns = ", ".join(f"{value.format(i, size)} AS {n}" for i, (n, size) in enumerate(SIZES.items()))
        connection.execute(f"COPY (SELECT {columns} FROM range(10000000) t(i)) TO '{source}' (FORMAT parquet)")
        release = scumble.publish(source, Path(name) / "r", sensitive=list(SIZES), domains=domains, retain=0.7)
        asked, exact = seconds(
            lambda: release.query(question.format("release")),
            lambda: connection.sql(question.format(f"'{source}'")).fetchall(),
            repeat=9,
        )
    return Figure(
        f"count over 4 perturbed columns of {kind} with interval, 10M rows, against the exact query",
        asked / exact,
        1.5,
        detail=f"{1000 * asked:.0f} ms against {1000 * exact:.0f} ms",
    )


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
