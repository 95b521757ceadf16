"""Intervals of counts that are near the floor, where what falls below it was raised to it: by enumeration, no coin is thrown."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from scumble.forms.tuples.estimate import Known, _sum
from scumble.forms.tuples.linear import LinearSum, Noise
from scumble.mechanisms.noisy_count_matrix import ClampedCounts


def covered(counts: list[int], law: ClampedCounts, share: float) -> float:
    """How often the interval of a sum of tuples holds it, over all that may be published."""
    most = law.floor + max(counts) + int(14 / law.rate)
    published = [np.arange(law.floor, most + 1)] * len(counts)
    shown = np.array(list(product(*published)))
    chance = np.prod([law.probabilities(i, shown[:, k]) for k, i in enumerate(counts)], axis=0)
    rows, variances = law.estimate(shown.ravel())
    each = np.full(len(shown), float(len(counts)))
    form = LinearSum(
        rows.reshape(shown.shape).sum(axis=1), variances.reshape(shown.shape).sum(axis=1), each, each, each
    )
    ones = np.ones(len(shown))
    sums = SimpleNamespace(total=form, weight=each, least=ones, most=ones)
    e = _sum("n", sums, Known(Noise.of(law), None, True, share))  # type: ignore[arg-type]
    return float(chance[(e.low <= sum(counts)) & (sum(counts) <= e.high)].sum())


@pytest.mark.parametrize("share", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("floor", [0, 5])
def test_intervals_of_one_small_count_hold_as_often_as_they_say(rate: float, share: float, floor: int) -> None:
    """Every true count from the floor to beyond where raising can be seen. Without a reach of its own for raised counts it is 0.82 for 0.95 (rate 0.1, count 12)."""
    law = ClampedCounts(floor, rate)
    worst = min((covered([floor + i], law, share), i) for i in range(int(6 / rate) + 4))
    assert worst[0] >= share - 1e-9, worst


@pytest.mark.parametrize("rate", [0.5, 1.0])
def test_intervals_of_two_small_counts_hold_as_often_as_they_say(rate: float) -> None:
    law = ClampedCounts(0, rate)
    worst = min((covered([i, j], law, 0.95), i, j) for i in range(0, int(4 / rate), 2) for j in range(0, i + 1, 2))
    assert worst[0] >= 0.95 - 1e-9, worst
