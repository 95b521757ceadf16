"""Intervals that hold together: how wide each is, where columns of one line are known to go together.

Let an interval of c standard errors miss with probability p(c), and two of them, whose errors have the correlation r, both with p(c, r). For a tree over
the columns of a line (Hunter 1976, Worsley 1982)

    P[some column misses]  <=  sum over columns of p(c)  -  sum over the edges of the tree of p(c, r)

and over lines the probabilities add up at most. The c at which the sum is alpha is never larger than Bonferroni's, and that of one column where the others
say the same. Lines are hardly correlated: with c standard errors each, independent ones miss together 0.2% less often than the sum says at 40 lines.
"""

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

POINTS = 96
"""Of the quadrature of joint probabilities."""
STEPS = 40
"""Halvings until c is known."""


def level_of_each(alpha: float, lines: int, columns: int, correlations: Numbers | None = None) -> float:
    """The level of single intervals of which all hold with probability 1 - alpha.

    correlations   columns by columns, for every line; None where they are not known

    >>> round(level_of_each(0.05, 10, 2), 6)
    0.9975
    >>> round(level_of_each(0.05, 10, 2, np.ones((2, 2, 10))), 6)
    0.995
    """
    alone = 1 - alpha / (lines * columns)
    if correlations is None or columns < 2:
        return alone
    edges = _tree(np.nan_to_num(correlations))
    low, high = (NormalDist().inv_cdf(0.5 + share / 2) for share in (1 - alpha / lines, alone))
    for _ in range(STEPS):
        middle = (low + high) / 2
        single = 2 * NormalDist().cdf(-middle)
        missed = lines * columns * single - float(np.sum(both_miss(middle, edges)))
        low, high = (middle, high) if missed > alpha else (low, middle)
    return 2 * NormalDist().cdf(high) - 1


def _tree(correlations: Numbers) -> Numbers:
    """The correlations along a tree of the columns that go together most, for every line."""
    strength = np.abs(correlations).mean(axis=2)
    inside, edges = [0], list[Numbers]()
    while len(inside) < len(strength):
        outside = [i for i in range(len(strength)) if i not in inside]
        one, other = max(((i, j) for i in inside for j in outside), key=lambda pair: strength[pair])
        edges.append(correlations[one, other])
        inside.append(other)
    return np.stack(edges)


def both_miss(c: float, correlation: Numbers) -> Numbers:
    """P[|X| > c and |Y| > c] of two standard normal numbers.

    >>> both_miss(1.96, np.array([0.0, 1.0])).round(4).tolist()
    [0.0025, 0.05]
    """
    from scipy.special import ndtr  # loads scipy

    nodes, weights = np.polynomial.legendre.leggauss(POINTS)
    x, density = c * nodes, c * weights * np.exp(-((c * nodes) ** 2) / 2) / math.sqrt(2 * math.pi)
    r = np.clip(np.abs(correlation), 0, 1)[..., None]
    spread = np.sqrt(np.maximum(1 - r**2, 1e-18))
    inside = np.sum(density * (ndtr((c - r * x) / spread) - ndtr((-c - r * x) / spread)), axis=-1)
    single = 2 * NormalDist().cdf(-c)
    return np.asarray(np.clip(inside - (1 - 2 * single), 0, single))
