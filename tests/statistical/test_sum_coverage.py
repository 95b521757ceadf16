"""Intervals of sums and averages of noisy counts hold the truth as often as they say, with weights of both signs and of very different size."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from scipy.stats import binom

pytestmark = pytest.mark.slow

PUBLICATIONS = 40
GROUPS = 48
LEVEL = 0.9
K = 5
VALUES = [-3, 1, 2, 5, 90, 400]
DOMAIN = {"low": -3, "high": 400}

Outcome = tuple[dict[str, Any], float, float, float, float]


def table() -> tuple[pa.Table, dict[tuple[int, int], int]]:
    """Groups of 2 to 6 tuples with counts from 8 to 60 and values from -3 to 400; some are suppressed."""
    draw = np.random.default_rng(8)
    counts = {
        (g, x): int(draw.integers(8, 60)) for g in range(GROUPS) for x in draw.choice(VALUES, 2 + g % 5, False).tolist()
    }
    rows = np.array([t for t, n in counts.items() for _ in range(n)])
    return pa.table({"g": rows[:, 0], "x": rows[:, 1]}), counts


@pytest.fixture(scope="module", params=["practical", "full"])
def outcomes(request: pytest.FixtureRequest) -> list[Outcome]:
    return list(_outcomes(request.param))


def _outcomes(matrix: str) -> Iterator[Outcome]:
    """An answer, sum and average of the rows behind published tuples, and sum and average of all rows, for each group."""
    raw, counts = table()
    practical = {"k": K, "delta": 1e-4, "total": raw.num_rows}
    settings, domains = (
        (practical, {"x": DOMAIN})
        if matrix == "practical"
        else ({"matrix": "full"}, {"x": VALUES, "g": list(range(GROUPS))})
    )
    given = {"epsilon": 1, "settings": settings, "sensitive": list(domains), "domains": domains}
    for seed in range(PUBLICATIONS):
        release = publish_openly(raw, mechanism="noisy_counts", seed=seed, **given)
        published = set(zip(*(release.table()[n].to_pylist() for n in ("g", "x")), strict=True))
        for row in release.query("SELECT g, SUM(x) AS s, AVG(x) AS a FROM release GROUP BY g", level=LEVEL).to_list():
            own = {x: n for (g, x), n in counts.items() if g == row["g"]}
            behind = {x: n for x, n in own.items() if matrix == "full" or (row["g"], x) in published}
            sums = [sum(x * n for x, n in each.items()) for each in (behind, own)]
            yield row, sums[0], sums[0] / sum(behind.values()), sums[1], sums[1] / sum(own.values())


def enough(outcomes: list[Outcome]) -> float:
    """About 1,900 intervals at 0.9: fewer hits than this come by chance with probability 1e-6."""
    return float(binom.isf(1 - 1e-6, len(outcomes), LEVEL))


def test_intervals_of_sums_cover_what_was_published(outcomes: list[Outcome]) -> None:
    assert sum(row["s_low"] <= total <= row["s_high"] for row, total, *_ in outcomes) >= enough(outcomes)
    short = sum(abs(row["s"] - total) <= 0.7 * (row["s_high"] - row["s"]) for row, total, *_ in outcomes)
    assert short < enough(outcomes), "the test would notice intervals that are too short"


def test_intervals_of_averages_cover_what_was_published(outcomes: list[Outcome]) -> None:
    assert sum(row["a_low"] <= mean <= row["a_high"] for row, _, mean, *_ in outcomes) >= enough(outcomes)
    middle = [((row["a_low"] + row["a_high"]) / 2, (row["a_high"] - row["a_low"]) / 2) for row, *_ in outcomes]
    short = sum(abs(at - mean) <= 0.7 * half for (at, half), (_, _, mean, *_) in zip(middle, outcomes, strict=True))
    assert short < enough(outcomes), "the test would notice intervals that are too short"


def test_sums_are_unbiased_and_their_errors_are_as_large_as_they_say(outcomes: list[Outcome]) -> None:
    """The mean error is within 4.9 standard errors of 0, the mean square within 37% of the variance (five times its own spread)."""
    error = np.array([row["s"] - total for row, total, *_ in outcomes])
    variance = np.array([row["s_se"] ** 2 for row, *_ in outcomes])
    assert abs(error.mean()) < 4.9 * error.std() / np.sqrt(len(error))
    assert 0.63 < (error**2).sum() / variance.sum() < 1.37


@pytest.mark.parametrize("outcomes", ["practical"], indirect=True)
def test_bounds_hold_what_was_suppressed(outcomes: list[Outcome]) -> None:
    assert sum(row["s_least"] <= whole <= row["s_bound"] for row, _, _, whole, _ in outcomes) >= enough(outcomes)
    assert sum(row["a_least"] <= whole <= row["a_bound"] for row, *_, whole in outcomes) >= enough(outcomes)
    missed = sum(not row["s_low"] <= whole <= row["s_high"] for row, _, _, whole, _ in outcomes)
    assert missed > len(outcomes) / 5, "intervals for what was published do not hold for all rows"
