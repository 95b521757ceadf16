"""Shaped replacement: one retention, and replacements in the shape of the frequencies, in closed form.

Whoever believes the frequencies f, and sees value j, believes it with f_j (p + (1 - p) r_j) / (p f_j + (1 - p) r_j). That is at most rho exactly where

    (1 - p) r_j >= p f_j (1 - rho) / (rho - f_j)                 values with f_j >= rho need no protection: no condition

and odds change by gamma at most, for every belief, exactly where (1 - p) r_j >= p / (gamma - 1). So

    a_j = max(f_j (1 - rho) / (rho - f_j), 1 / (gamma - 1)),      S = sum of a,      p = 1 / (1 + S),      r = a / S

has the largest retention of all: with A_j = (1 - p) r_j / p the conditions are A_j >= a_j, and the sum of A is (1 - p) / p.
Proof that other values are no less protected: docs/proofs/shaped.md.
"""

from typing import Any

import numpy as np

from scumble.core.channel import Channel
from scumble.core.errors import ParameterError
from scumble.core.parameters import number


def shape(counts: Any, rho2: Any, gamma: Any = None) -> Channel:
    """The channel of the largest single retention under which nobody who believes the frequencies believes a value with more than rho2.

    counts  the records of each value, or its frequencies: of the table, or of public knowledge
    rho2    the largest belief after seeing the published value; values that are as frequent before need no protection
    gamma   the factor by which odds may change at most whatever is believed. Without it a value of frequency 0, or of rho2 and
            more, is never drawn: where it is seen, it is true

    >>> channel = shape([40, 30, 20, 10], "1/2", gamma=9)
    >>> round(channel.retain, 4), channel.replace.round(4).tolist(), round(channel.amplification, 9)
    (0.2376, [0.6234, 0.2338, 0.1039, 0.039], 9.0)
    """
    n = np.asarray(counts, dtype=np.float64)
    if n.ndim != 1 or len(n) < 2 or not np.all(np.isfinite(n)) or np.any(n < 0) or n.sum() <= 0:
        raise ParameterError("shaping needs the counts or frequencies of two values or more, none negative, not all 0")
    rho = number(rho2, "rho2")
    if not 0 < rho < 1:
        raise ParameterError(f"rho2 is a belief and must lie between 0 and 1, not {rho2}")
    f = n / n.sum()
    protected = f < rho
    least = np.zeros(len(f))
    least[protected] = f[protected] * (1 - rho) / (rho - f[protected])
    if gamma is not None:
        least = np.maximum(least, 1 / (_factor(gamma) - 1))
    if least.sum() == 0:
        raise ParameterError(
            f"no value is below rho2 = {rho2}, so that all would be published as they are; give a smaller rho2, or gamma"
        )
    return Channel(1 / (1 + least.sum()), least / least.sum())


def _factor(gamma: Any) -> float:
    bound = number(gamma, "gamma")
    if bound <= 1:
        raise ParameterError(f"gamma must be above 1, not {gamma}: at 1 nothing of the value is published")
    return bound
