"""Intervals that hold for each line, and are shorter on average where beliefs are right."""

from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pytest

from scumble.query.fab import beliefs, shortest
from scumble.query.rates import GroupRates

Numbers = npt.NDArray[np.float64]

ESTIMATES = np.linspace(-9, 9, 36_001)
"""Fine enough for integrals over what coins do."""


def interval(y: Numbers, mu: float, tau: float, alpha: float, factor: float = 1.0) -> tuple[Numbers, Numbers]:
    """Of estimates with standard error 1; a factor of alpha makes the test a wrong one."""
    one = np.ones_like(y)

    def ends(miss: float) -> tuple[Numbers, Numbers]:
        reach = -NormalDist().inv_cdf(miss * factor)
        return y - reach, y + reach

    return shortest(mu * one, tau**2 * one, one, ends, alpha)


def held(theta: float, mu: float, tau: float, alpha: float, factor: float = 1.0) -> float:
    """The probability that the interval holds theta, by an integral over all estimates."""
    y = theta + ESTIMATES
    low, high = interval(y, mu, tau, alpha, factor)
    density = np.exp(-(ESTIMATES**2) / 2) / np.sqrt(2 * np.pi)
    return float(np.sum(density * ((low <= theta) & (theta <= high))) * (ESTIMATES[1] - ESTIMATES[0]))


@pytest.mark.parametrize("theta", [-6.0, -1.0, 0.0, 0.3, 2.0, 6.0])
@pytest.mark.parametrize("tau", [0.2, 1.0, 5.0])
def test_every_truth_is_held_as_often_as_is_said_whatever_is_believed(theta: float, tau: float) -> None:
    """No lot is drawn: the integral is right to 4 digits. A test that spends 4% more than it may is rejected."""
    for alpha in (0.2, 0.05, 0.01):
        share = held(theta, 0.0, tau, alpha)
        assert share >= 1 - alpha - 1e-4
        assert share <= 1 - alpha + 1e-3 * (1 + 9 * (tau < 1)), "no longer than it has to be"
        assert held(theta, 0.0, tau, alpha, 1.04) < 1 - alpha - 1e-4


@pytest.mark.parametrize(("tau", "shorter"), [(0.2, 0.851), (0.5, 0.857), (1.0, 0.878), (5.0, 0.982)])
def test_intervals_are_shorter_on_average_where_beliefs_are_right(tau: float, shorter: float) -> None:
    """Beside z = 1.96; one-sided tests would come to 1.645 / 1.96 = 0.839 at best for truths that are at mu. Far from it they are longer."""
    y = np.linspace(-8, 8, 4001) * np.hypot(1, tau)
    low, high = interval(y, 0.0, tau, 0.05)
    density = np.exp(-(y**2) / 2 / (1 + tau**2))
    assert np.sum(density * (high - low)) / np.sum(density) / (2 * 1.96) == pytest.approx(shorter, abs=0.005)
    assert np.all((low <= y) & (y <= high))
    assert (high - low)[-1] > 2 * 1.96


def test_what_is_believed_of_a_group_does_not_depend_on_it() -> None:
    rng = np.random.default_rng(3)
    rows = rng.integers(20, 200, 24).astype(float)
    direct = rng.normal(0.3, 0.1, (2, 24))
    variance = (0.4 + 0.2 * direct) / rows
    before = beliefs(GroupRates(direct, variance, rows, True), np.ones((24, 1)) / np.sqrt(24))
    moved = direct + 0.5 * (np.arange(24) == 7)
    after = beliefs(GroupRates(moved, (0.4 + 0.2 * moved) / rows, rows, True), np.ones((24, 1)) / np.sqrt(24))
    for one, other in zip(before, after, strict=True):
        assert np.array_equal(one[:, 7], other[:, 7])
        assert not np.array_equal(one[:, 6], other[:, 6])
