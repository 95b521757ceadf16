"""Random order is not called an order, where few rows or few values decide too."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import norm

from scumble.auditing.attacks.order import Sign, _neighbours, _of_scores

ROWS, DRAWS, ERROR = 300, 2000, 0.01
RUN = np.zeros(ROWS, dtype=np.int64)


def few_scores(order: npt.NDArray[np.int64]) -> list[Sign]:
    """Six rows of 300 have a score that differs."""
    return _of_scores((order < 6).astype(np.float64), RUN, "kept")


def few_pairs(order: npt.NDArray[np.int64]) -> list[Sign]:
    """Five pairs of neighbours are expected to be equal."""
    sign = _neighbours(order % 60, 60, RUN, np.bincount(RUN), "zip")
    return [sign] if sign is not None else []


def many_pairs(order: npt.NDArray[np.int64]) -> list[Sign]:
    sign = _neighbours(order % 2, 2, RUN, np.bincount(RUN), "sex")
    return [sign] if sign is not None else []


@pytest.mark.slow
@pytest.mark.parametrize("signs", [few_scores, few_pairs, many_pairs])
def test_random_order_is_far_off_as_seldom_as_is_said(signs: Callable[..., list[Sign]]) -> None:
    """2,000 random orders at an error of 1%: at most 1% are farther off, by any one sign (beyond 36: probability 1e-3)."""
    draw, most = np.random.default_rng(1), float(norm.isf(ERROR / 2))
    found = [[sign[0] > most for sign in signs(draw.permutation(ROWS))] for _ in range(DRAWS)]
    alarms = np.sum(found, axis=0)
    assert len(alarms) >= 1
    assert (alarms <= 36).all()


@pytest.mark.parametrize("signs", [few_scores, few_pairs])
def test_rows_that_lie_together_are_seen(signs: Callable[..., list[Sign]]) -> None:
    """The six side by side; each value of sixty side by side."""
    order = np.arange(ROWS)
    together = order if signs is few_scores else order // 5 + 60 * (order % 5)
    assert max(sign[0] for sign in signs(together)) > 4
