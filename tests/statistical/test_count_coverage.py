"""Intervals of noisy counts hold the truth as often as they say, also for few tuples and for counts near k."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from scipy.stats import binom

from scumble.forms.tuples.linear import quantile
from scumble.mechanisms.noisy_count_matrix import ClampedCounts

pytestmark = pytest.mark.slow

PUBLICATIONS = 60
GROUPS = 48
LEVEL = 0.9
K = 5


def table() -> tuple[pa.Table, dict[tuple[int, int], int]]:
    """Groups of 1 to 6 tuples with counts from 6 to 40: many of them are raised to k, some are suppressed."""
    draw = np.random.default_rng(8)
    counts = {(g, j): int(draw.integers(6, 40)) for g in range(GROUPS) for j in range(1 + g % 6)}
    rows = np.array([t for t, n in counts.items() for _ in range(n)])
    return pa.table({"g": rows[:, 0], "j": rows[:, 1]}), counts


@pytest.fixture(scope="module")
def outcomes() -> list[tuple[float, float, float, float, int, int]]:
    return list(_outcomes())


def _outcomes() -> Iterator[tuple[float, float, float, float, int, int]]:
    """(estimate, low, high, bound, true rows behind published tuples, true rows) of each group with a published tuple."""
    raw, counts = table()
    settings = {"k": K, "delta": 1e-2, "total": raw.num_rows}
    for seed in range(PUBLICATIONS):
        release = publish_openly(raw, mechanism="noisy_counts", epsilon=1, settings=settings, seed=seed)
        published = set(zip(*(release.table()[n].to_pylist() for n in ("g", "j")), strict=True))
        for row in release.query("SELECT g, COUNT(*) AS n FROM release GROUP BY g", level=LEVEL).to_list():
            own = {t: n for t, n in counts.items() if t[0] == row["g"]}
            behind = sum(n for t, n in own.items() if t in published)
            yield row["n"], row["n_low"], row["n_high"], row["n_bound"], behind, sum(own.values())


def test_intervals_cover_what_was_published(outcomes: list[tuple[float, ...]]) -> None:
    """About 2,500 intervals at 0.9: fewer hits than binomial chance explains at 1e-6 fail; so would intervals 30% too short."""
    hits = [low <= behind <= high for _, low, high, _, behind, _ in outcomes]
    least = binom.isf(1 - 1e-6, len(hits), LEVEL)
    assert sum(hits) >= least
    short = [abs(value - behind) <= 0.7 * (high - value) for value, _, high, _, behind, _ in outcomes]
    assert sum(short) < least, "the test would notice intervals that are too short"


def test_bounds_hold_what_was_suppressed(outcomes: list[tuple[float, ...]]) -> None:
    hits = [low <= whole <= bound for _, low, _, bound, _, whole in outcomes]
    assert sum(hits) >= binom.isf(1 - 1e-6, len(hits), LEVEL)
    assert any(behind < whole for *_, behind, whole in outcomes), "something was suppressed"


def test_estimates_are_unbiased_given_what_was_published(outcomes: list[tuple[float, ...]]) -> None:
    """The mean error over all publications is within 4.9 standard errors of 0."""
    error = np.array([value - behind for value, _, _, _, behind, _ in outcomes])
    assert abs(error.mean()) < 4.9 * error.std() / np.sqrt(len(error))


def test_the_correction_at_k_is_needed() -> None:
    """200,000 counts of k + 2: published ones are too high by 1 on average, corrected ones are right; false alarm 1e-6."""
    from scumble.core.entropy import Entropy

    noise = ClampedCounts(K, 0.5)
    drawn = noise.draw(Entropy.seeded(1).stream("c"), np.full(200_000, K + 2))
    values, _ = noise.estimate(drawn)
    error = 4.9 * values.std() / np.sqrt(len(values))
    assert abs(values.mean() - K - 2) < error
    assert abs(drawn.mean() - K - 2) > error


@pytest.mark.parametrize("count", [1, 2, 5, 30])
@pytest.mark.parametrize("rate", [0.1, 0.5, 1.5])
def test_quantiles_are_those_of_sums(rate: float, count: int) -> None:
    """Against 20,000 sums of `count` draws: the interval's share is not below 0.9 by more than chance (1e-6)."""
    from scumble.core.entropy import Entropy

    r = np.exp(-rate)
    drawn = ClampedCounts(0, rate).draw(Entropy.seeded(3).stream("q", count), np.full(20_000 * count, 10**6)) - 10**6
    sums = np.abs(drawn.reshape(-1, count).sum(axis=1))
    reach = quantile(rate, count, 0.9) * np.sqrt(count * 2 * r) / (1 - r)
    assert (sums <= reach + 1e-9).sum() >= binom.isf(1 - 1e-6, 20_000, 0.9)
