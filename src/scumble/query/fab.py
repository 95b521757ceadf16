"""Intervals that hold for each line and are shorter on average: frequentist, assisted by Bayes (Yu and Hoff 2018).

An interval at level 1 - alpha is the set of all theta that a test does not reject. The test may spend alpha on both sides as it likes, and differently for
each theta, as long as that does not depend on what it tests: theta is rejected by estimates below it with alpha s(theta), by those above it with
alpha (1 - s(theta)). Where theta is believed to be N(mu, tau^2), and the estimate has the standard error sigma, the interval that is shortest on average has

    s(theta) = g^-1(2 sigma (theta - mu) / tau^2),         g(s) = Phi^-1(alpha s) - Phi^-1(alpha (1 - s))

mu, tau and sigma of a group come from other groups, whose coins are independent of its own. Then the interval holds with 1 - alpha whatever theta is, also
where the belief is wrong. The test is that of the unbiased interval, with its exact laws, at other levels: s is a step function, and each step has a level.
"""

from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from scumble.query.rates import GroupRates

Numbers = npt.NDArray[np.float64]
Ends = Callable[[float], tuple[Numbers, Numbers]]
"""Both ends of the unbiased intervals that miss on each side with a probability."""

SHARES = 1 / (1 + np.exp(-np.linspace(-6, 6, 21)))
"""The steps of s."""
FOLDS = 10
"""Parts of the groups; of each part the belief comes from all others."""
EDGES = np.concatenate([[0.0], (SHARES[1:] + SHARES[:-1]) / 2, [1.0]])


def beliefs(rates: GroupRates, design: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """mu, tau^2 and sigma of all groups, each from groups that it is not among; families by groups."""
    count = rates.direct.shape[1]
    parts = np.arange(count) % min(FOLDS, count)
    found = np.zeros((3, *rates.direct.shape))
    for part in range(int(parts.max()) + 1):
        left = parts == part
        areas, borrowed = rates.without(np.broadcast_to(left, rates.direct.shape)).areas(design)
        found[:, :, left] = np.stack([borrowed.synthetic, borrowed.mse, np.sqrt(areas.variance)])[:, :, left]
    return found[0], found[1], found[2]


def shortest(mu: Numbers, square: Numbers, sigma: Numbers, ends: Ends, alpha: float) -> tuple[Numbers, Numbers]:
    """The hull of all theta that are not rejected."""
    low, high = np.full(mu.shape, np.inf), np.full(mu.shape, -np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        bounds = [mu + square / (2 * sigma) * lean(edge, alpha) for edge in EDGES]
        for place, share in enumerate(SHARES):
            least = np.fmax(bounds[place], ends(alpha * (1 - share))[0])
            most = np.fmin(bounds[place + 1], ends(alpha * share)[1])
            some = least <= most
            low, high = np.where(some, np.minimum(low, least), low), np.where(some, np.maximum(high, most), high)
    return low, high


def lean(share: float, alpha: float) -> float:
    """g of the docstring above.

    >>> lean(0.5, 0.05), lean(0, 0.05), round(lean(0.9, 0.05), 3)
    (0.0, -inf, 0.88)
    """
    if share in (0, 1):
        return np.inf if share else -np.inf
    normal = NormalDist()
    return normal.inv_cdf(alpha * share) - normal.inv_cdf(alpha * (1 - share))
