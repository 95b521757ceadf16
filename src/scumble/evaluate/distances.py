"""How far a distribution is from another: each is 0 where they agree.

total variation   1/2 sum |p - q|                   from 0 to 1: the largest difference in the probability of any set of values
Hellinger         sqrt(1 - sum sqrt(p q))           from 0 to 1
Kullback-Leibler  sum p ln(p / q)                   infinite where q lacks a value that p has
earth mover's     sum |P - Q| (x_{i+1} - x_i)       P, Q the cumulated shares: how far mass has to move, for ordered values
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.errors import ParameterError

Shares = npt.NDArray[np.float64]


def shares(counts: Any) -> Shares:
    """Counts or estimates as a distribution: negative estimates are taken as 0, as whoever needs a distribution has to.

    >>> shares([3, -1, 1]).tolist()
    [0.75, 0.0, 0.25]
    """
    kept = np.maximum(np.asarray(counts, dtype=np.float64), 0)
    if kept.ndim != 1 or not np.all(np.isfinite(kept)) or kept.sum() <= 0:
        raise ParameterError("a distribution is a list of finite numbers, not all of them 0 or below")
    return np.asarray(kept / kept.sum())


def total_variation(p: Shares, q: Shares) -> float:
    """The largest difference in the probability of any set of values.

    >>> total_variation(shares([1, 1]), shares([3, 1]))
    0.25
    """
    return float(np.abs(p - q).sum() / 2)


def hellinger(p: Shares, q: Shares) -> float:
    """The Hellinger distance.

    >>> round(hellinger(shares([1, 0]), shares([0, 1])), 9)
    1.0
    """
    return math.sqrt(max(0.0, 1 - float(np.sqrt(p * q).sum())))


def kullback_leibler(p: Shares, q: Shares) -> float:
    """What is lost by taking q for p, in nats.

    >>> kullback_leibler(shares([1, 1]), shares([1, 0])), kullback_leibler(shares([1, 0]), shares([1, 1])) == math.log(2)
    (inf, True)
    """
    seen = p > 0
    if np.any(q[seen] == 0):
        return math.inf
    return max(0.0, float((p[seen] * np.log(p[seen] / q[seen])).sum()))


def earth_movers(p: Shares, q: Shares, places: Any = None) -> float:
    """How far shares have to be moved on average; places are the values themselves, or 0, 1, 2, ... when absent.

    >>> earth_movers(shares([1, 0, 0]), shares([0, 0, 1]), [10, 20, 40])
    30.0
    """
    at = np.arange(len(p), dtype=np.float64) if places is None else np.asarray(places, dtype=np.float64)
    return float(np.abs(np.cumsum(p - q)[:-1]) @ np.diff(at))
