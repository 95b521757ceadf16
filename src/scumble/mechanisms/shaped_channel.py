"""Shaped replacement: one retention, and replacements in the shape of the frequencies, in closed form.

Where value j is seen, its odds rise by 1 + p / ((1 - p) r_j); where another is seen, they fall. So the odds of value j rise by at most g_j exactly where

    (1 - p) r_j >= p a_j,        a_j = 1 / (g_j - 1)

and with S the sum of a,     p = 1 / (1 + S),     r = a / S     has the largest retention of all: with A_j = (1 - p) r_j / p the conditions
are A_j >= a_j, and the sum of A is (1 - p) / p. It has the smallest variance too, of every question and whatever the true values are.

Whoever believes value j with at most f_j believes it with at most rho after seeing it where g_j = rho (1 - f_j) / (f_j (1 - rho)), that is
a_j = f_j (1 - rho) / (rho - f_j); values with f_j >= rho need no protection, and have no condition. A factor gamma for every belief is g_j <= gamma
for all. Proofs: docs/proofs/shaped.md.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scumble.core.channel import Channel, Vector, gamma_bound
from scumble.core.errors import ParameterError, did_you_mean
from scumble.core.parameters import number

OBJECTIVES = ("retention", "error")


def shape(
    counts: Any,
    rho2: Any,
    gamma: Any = None,
    *,
    rho1: Any = None,
    pairs: Mapping[int, Sequence[Any]] | None = None,
    objective: str = "retention",
    workload: Any = None,
    weights: Any = None,
) -> Channel:
    """The channel of the largest single retention under which nobody who believes the frequencies believes a value with more than rho2.

    counts     the records of each value, or its frequencies: of the table, or of public knowledge
    rho2       the largest belief after seeing the published value, one or one for each value; values that are as frequent before need no protection
    gamma      the factor by which odds may change at most whatever is believed. Without it a value of frequency 0, or of rho2 and
               more, is never drawn: where it is seen, it is true
    rho1       values of a larger frequency are not protected by rho2; when absent, all below rho2 are
    pairs      (rho1, rho2) of single values, by their place: whoever believes it with at most rho1 believes it with at most rho2
    objective  "retention": in closed form; no single retention is more exact for any question. "error": a retention for each value, of
               the least variance of a `workload` (a row of numbers for each question; the counts of single values when absent), weighted by
               `weights`. A search, whose result is never worse for it than the closed form

    >>> channel = shape([40, 30, 20, 10], "1/2", gamma=9)
    >>> round(channel.retain, 4), channel.replace.round(4).tolist(), round(channel.amplification, 9)
    (0.2376, [0.6234, 0.2338, 0.1039, 0.039], 9.0)
    """
    f = shares(counts)
    bounds = factors(f, rho2, gamma, rho1=rho1, pairs=pairs)
    if objective not in OBJECTIVES:
        raise ParameterError(f"there is no objective {objective!r}{did_you_mean(str(objective), OBJECTIVES)}")
    if objective == "error":
        from scumble.mechanisms.shaped_program import least_error

        return least_error(bounds, f, workload, weights)
    if workload is not None or weights is not None:
        raise ParameterError(
            "a workload and weights are for objective='error'; the closed form is best for all at once"
        )
    return of_factors(bounds)


def shares(counts: Any) -> Vector:
    """Counts or frequencies as shares of 1."""
    n = np.asarray(counts, dtype=np.float64)
    if n.ndim != 1 or len(n) < 2 or not np.all(np.isfinite(n)) or np.any(n < 0) or n.sum() <= 0:
        raise ParameterError("shaping needs the counts or frequencies of two values or more, none negative, not all 0")
    return np.asarray(n / n.sum())


def factors(
    f: Vector, rho2: Any, gamma: Any = None, *, rho1: Any = None, pairs: Mapping[int, Sequence[Any]] | None = None
) -> Vector:
    """By how much the odds of each value may rise; infinite where nothing bounds them.

    >>> factors(np.array([0.5, 0.25, 0.25]), "1/2", 9).tolist()
    [9.0, 3.0, 3.0]
    """
    rho = np.array([_belief(value) for value in (rho2 if np.ndim(rho2) == 1 else [rho2] * len(f))])
    if len(rho) != len(f):
        raise ParameterError(f"rho2 is given for {len(rho)} values, but there are {len(f)}; give one for each")
    guarded = (f < rho) & (f > 0) & (f <= (1.0 if rho1 is None else number(rho1, "rho1")))
    bounds = np.full(len(f), math.inf)
    bounds[guarded] = (rho * (1 - f))[guarded] / (f * (1 - rho))[guarded]
    for place, pair in (pairs or {}).items():
        bounds[place] = gamma_bound(*pair)
    return bounds if gamma is None else np.minimum(bounds, _factor(gamma))


def of_factors(bounds: Vector) -> Channel:
    """The channel of the largest single retention under which the odds of each value rise by at most its factor.

    >>> of_factors(np.array([3.0, 2.0, 3.0])).retain
    0.3333333333333333
    """
    least = 1 / (bounds - 1)
    if least.sum() == 0:
        raise ParameterError(
            "no value is below rho2, so that all would be published as they are; give a smaller rho2, or gamma"
        )
    return Channel(1 / (1 + least.sum()), least / least.sum())


def _belief(given: Any) -> float:
    rho = number(given, "rho2")
    if not 0 < rho < 1:
        raise ParameterError(f"rho2 is a belief and must lie between 0 and 1, not {given}")
    return rho


def _factor(gamma: Any) -> float:
    bound = number(gamma, "gamma")
    if bound <= 1:
        raise ParameterError(f"gamma must be above 1, not {gamma}: at 1 nothing of the value is published")
    return bound
