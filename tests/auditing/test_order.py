"""Random order is not called an order, where few rows or few values decide too; and an order is seen."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from scumble.auditing.attacks.order import _signs

ROWS, DRAWS, ERROR = 300, 1000, 0.1
RUN = np.repeat(np.arange(6), 50)
Order = npt.NDArray[np.int64]


def few_scores(order: Order) -> npt.NDArray[np.float64]:
    """Six rows of 300 have a score that differs."""
    return (order < 6).astype(np.float64)


def many_scores(order: Order) -> npt.NDArray[np.float64]:
    return (order % 2).astype(np.float64)


def ranks(order: Order) -> npt.NDArray[np.float64]:
    return order / ROWS


@pytest.mark.slow
@pytest.mark.parametrize("scores", [few_scores, many_scores, ranks])
def test_random_order_is_far_off_as_seldom_as_is_said(scores: Callable[[Order], npt.NDArray[np.float64]]) -> None:
    """1,000 random orders within six runs at an error of 10%: at most 10% are farther off, by any one sign (beyond 134: probability 1e-3)."""
    draw = np.random.default_rng(1)
    alarms = np.zeros(3)
    for _ in range(DRAWS):
        score = scores(np.concatenate([50 * run + draw.permutation(50) for run in range(6)]))
        alarms += [sign.log_p <= np.log(ERROR) for sign in _signs(score, RUN, "it", np.arange(ROWS), ROWS)]
    assert (alarms <= 134).all()


@pytest.mark.parametrize("scores", [few_scores, many_scores, ranks])
def test_an_order_is_seen(scores: Callable[[Order], npt.NDArray[np.float64]]) -> None:
    """One run, in the order of its scores; or every other row."""
    order, run = np.arange(ROWS), np.zeros(ROWS, dtype=np.int64)
    assert min(sign.log_p for sign in _signs(scores(order), run, "it", order, ROWS)) < (
        np.log(1e-9) if scores is not few_scores else -1
    )
