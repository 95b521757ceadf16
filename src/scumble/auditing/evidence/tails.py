"""Bounds on how probable it is that a sum is as far from its mean as it was seen to be. They hold for every number of rows: none rests on a normal law.

    bennett        S a sum of independent terms, each at most L above its mean, with variances that add up to V at most
                   Pr[S - E S >= t] <= exp(-V/L^2 h(L t / V)),   h(u) = (1 + u) ln(1 + u) - u

    hoeffding      S a sum of n independent terms between 0 and 1, with mean n q
                   Pr[S >= n a] <= exp(-n (a ln(a/q) + (1-a) ln((1-a)/(1-q)))),   a > q

    betting        M_1, M_2, ... each of mean 0 given all before, at most 1, with variances q_i that are known one step ahead: for any l > 0
                   exp(l sum M - (e^l - 1 - l) sum q)  has a mean of at most 1, so that it exceeds 1/a with probability a at most (Markov).
                   Over a fixed list of l the bound is multiplied by its length.

    polya          n throws of one law P, of which n_y came out as y: against the throws of an urn that returns what came out,
                   E = prod_y [aP_y]^(n_y) / ([a]^(n) prod_y P_y^n_y),   [b]^(n) = b (b + 1) ... (b + n - 1)
                   is a ratio of two probabilities and has mean 1. It is large where outcomes agree with each other more than P makes them.

    tilted         coins of chances q_i, of which some group kept k: against coins whose odds are all e^s times as large,
                   E = exp(s k - sum_i ln(1 + q_i (e^s - 1))), mixed over a fixed list of s, has mean 1

A hypergeometric number is a sum of independent coins (its generating function has real roots only), so that Bennett's bound holds for it with its own variance. All
logarithms are natural, and those of probabilities at most 0.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

Numbers = npt.NDArray[np.float64]

ROUNDING = 1e-9
"""The share of a mean by which a sum may lie above it by rounding alone."""

FARTHEST = 1e18
"""How far a sum can lie from its mean, at most."""

BETS = np.exp2(np.arange(-24, 5) / 2)
"""The list of l: the best one is never more than a fifth off, which costs a hundredth of the exponent."""

STIFFNESS = (1.0, 8.0, 64.0, 512.0)
"""The list of a, from outcomes that agree entirely to those that hardly do."""


def bennett(above: Any, variance: Any, largest: Any = 1.0) -> Numbers:
    """The logarithm of the bound for sums that lie so far above their means.

    >>> bennett(0.0, 5.0).item(), round(bennett(10.0, 5.0).item(), 3), bennett(1.0, 0.0).item()
    (-0.0, -6.479, -inf)
    """
    t, v, most = np.broadcast_arrays(*(np.asarray(given, dtype=np.float64) for given in (above, variance, largest)))
    t = np.where(t > ROUNDING * most, t, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        u = most * t / v
        exponent = v / most**2 * ((1 + u) * np.log1p(u) - u)
    exponent = np.where(v > 0, np.where(np.isfinite(exponent), exponent, np.inf), np.inf)
    return np.where(t > 0, -exponent, -0.0)


def bennett_of(above: float, variance: float, largest: float = 1.0) -> float:
    """The same of one sum."""
    if above <= ROUNDING * largest:
        return 0.0
    if variance <= 0:
        return -math.inf
    u = largest * above / variance
    return -variance / largest**2 * ((1 + u) * math.log1p(u) - u)


def hoeffding_of(hits: float, expected: float, count: float) -> float:
    """The logarithm of the bound for so many hits, or more, of so many terms.

    >>> round(hoeffding_of(20, 10, 20), 3), hoeffding_of(5, 10, 20)
    (-13.863, 0.0)
    """
    if count <= 0 or hits <= expected + ROUNDING:
        return 0.0
    a, q = min(1.0, hits / count), expected / count
    if q <= 0:
        return -math.inf
    rest = (1 - a) * math.log((1 - a) / (1 - q)) if a < 1 else 0.0
    return -count * (a * math.log(a / q) + rest)


def least_above(bound: Callable[[float], float], error: float, step: float = 1.0) -> float:
    """How far above its mean a sum has to lie for the logarithm of its bound to be at most that of the error.

    >>> t = least_above(lambda above: float(bennett(above, 5.0)), 1e-6)
    >>> round(math.exp(bennett(t, 5.0).item()) * 1e6, 3)
    1.0
    """
    low, high, wanted = 0.0, step, math.log(error)
    while bound(high) > wanted:
        low, high = high, 2 * high
        if high > FARTHEST:
            return math.inf
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if bound(middle) > wanted else (low, middle)
    return high


def betting(sums: Any, variances: Any) -> Numbers:
    """The logarithm of the bound for sums of terms of at most 1 either way, of mean 0 given all before, as far from 0 as these."""
    far, q = np.abs(np.asarray(sums, dtype=np.float64)), np.asarray(variances, dtype=np.float64)
    best = np.zeros(np.broadcast(far, q).shape)
    for bet in BETS:
        np.maximum(best, bet * far - (math.expm1(bet) - bet) * q, out=best)
    return np.minimum(math.log(2 * len(BETS)) - best, 0.0)


def polya(group: npt.NDArray[np.int64], times: Numbers, chance: Numbers, groups: int) -> Numbers:
    """For each group ln E, mixed over STIFFNESS; one entry for each outcome that occurs in a group, how often it does, and its probability.

    >>> polya(np.array([0, 1, 1]), np.array([6.0, 3.0, 3.0]), np.array([0.5, 0.5, 0.5]), 2).round(2).tolist()
    [1.6, -0.28]
    """
    size = np.bincount(group, weights=times, minlength=groups)
    plain = np.bincount(group, weights=times * np.log(np.maximum(chance, 1e-300)), minlength=groups)
    urns = []
    for stiffness in STIFFNESS:
        base = stiffness * np.maximum(chance, 1e-300)
        rising = np.bincount(group, weights=gammaln(base + times) - gammaln(base), minlength=groups)
        urns.append(rising - (gammaln(stiffness + size) - gammaln(stiffness)) - plain)
    return np.asarray(np.logaddexp.reduce(urns, axis=0) - math.log(len(urns)))


TILTS = (0.0, 0.0, 0.0, 0.0, -2.0, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 2.0, 4.0)
"""The list of s. It has 0 several times, so that groups that are as they should be cost little where others are not."""


def tilted(group: npt.NDArray[np.int64], kept: Numbers, chance: Numbers, groups: int) -> Numbers:
    """For each group ln E, of who was kept with what chance.

    >>> tilted(np.array([0] * 9 + [1] * 2), np.array([1.0] * 10 + [0.0]), np.full(11, 0.5), 2).round(2).tolist()
    [3.9, -0.23]
    """
    hits = np.bincount(group, weights=kept, minlength=groups)
    ratios = []
    for tilt in TILTS:
        most = np.bincount(group, weights=np.log1p(chance * math.expm1(tilt)), minlength=groups)
        ratios.append(tilt * hits - most)
    return np.asarray(np.logaddexp.reduce(ratios, axis=0) - math.log(len(ratios)))
