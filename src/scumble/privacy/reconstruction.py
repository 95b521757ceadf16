"""Sample sizes for reconstruction privacy: a person's own group must be too small to estimate the person's value well.

A group of n records in which no value is more frequent than f is (lambda, delta)-private when neither tail of the estimate of
any of its values is below delta (`privacy.tails`). More records make tails smaller, so there is a largest number that may be
perturbed.

where f = `f`, p = `p`, m = `m`, lambda = `lam`, delta = `delta`. Proofs: docs/proofs/reconstruction_privacy.md.
"""

import math
from typing import Any

import numpy as np

from scumble.core.errors import ParameterError
from scumble.core.parameters import number
from scumble.privacy.tails import WHOLE, Counts, Numbers, fails, level_of, parameters, tail_named, tails

MOST_PAIRS = 5e6
"""Sizes of a group with counts of a value that exact tails are looked at for: some seconds of work."""

FIRST = 257
"""The size from which on it is asked how far the search will go."""


def sample_size(f: Any, p: Any, m: int, lam: Any, delta: Any, *, tail: str = "exact") -> Any:
    """The most records of a group that may be perturbed, where no value is more frequent than f.

        exact       the largest N such that for every n <= N and every count 1 <= c <= ceil(f n) both tails are >= delta
        chernoff    s_g = -2 (f p + (1-p)/m) ln(delta) / (lambda p f)^2, a real number

    It is 0 where not even one record may be. At f = 1 it depends on public parameters alone, and so tells nothing.

    >>> round(sample_size(0.5, 0.5, 2, 0.3, 0.3, tail="chernoff"), 1)
    214.0
    >>> sample_size([1, 0.3, 0.1], 0.5, 50, 0.3, 0.1).tolist()
    [12, 40, 190]
    """
    asked = np.asarray(number(f, "f") if np.ndim(f) == 0 else f, dtype=np.float64)
    if asked.size == 0 or not np.all((asked > 0) & (asked <= 1)):
        raise ParameterError(f"f is a frequency and must lie in (0, 1], not {f}")
    retain, width = parameters(p, m, lam, float(asked.max()))
    level = level_of(delta)
    if tail_named(tail) == "chernoff":
        bound = -2 * (asked * retain + (1 - retain) / m) * math.log(level) / (width * retain * asked) ** 2
        return float(bound) if bound.ndim == 0 else bound
    distinct, places = np.unique(-asked, return_inverse=True)
    sizes = _exact_sizes(-distinct, retain, m, width, level)[places].reshape(asked.shape)
    return int(sizes) if sizes.ndim == 0 else sizes


def least_tail(size: int, f: float, p: float, m: int, lam: float) -> float:
    """The smallest exact tail over all groups of at most `size` records in which no value is more frequent than f.

    >>> round(least_tail(60, 1, 0.5, 50, 0.3), 4)
    0.0082
    """
    n, c = _pairs(size, f)
    return float(np.min(tails(n, c, p, m, lam).least))


def keeps(size: int, f: float, p: float, m: int, lam: float, delta: float) -> bool:
    """Whether no such tail is below delta.

    >>> keeps(12, 1, 0.5, 50, 0.3, 0.1), keeps(13, 1, 0.5, 50, 0.3, 0.1)
    (True, False)
    """
    n, c = _pairs(size, f)
    return not fails(n, c, p, m, lam, delta).any()


def _pairs(size: int, f: float) -> tuple[Counts, Counts]:
    """Every n up to a size with every count up to ceil(f n)."""
    sizes = np.arange(1, size + 1)
    most = _most(f, sizes)
    n = np.repeat(sizes, most)
    return n, np.arange(len(n)) - np.repeat(np.cumsum(most) - most, most) + 1


def rungs(lam: Any, power: float = 2, *, lowest: float = 0.01) -> Numbers:
    """A public ladder of frequencies: 1, 1/r, 1/r^2, ... down to `lowest` or just below, r = ((1+lambda)/(1-lambda))^power.

    The sample size of a group shows its rung. Two frequencies that an estimate within lambda confuses differ by up to
    (1+lambda)/(1-lambda); rungs that close would tell f as well as the estimate does, so at least the square is asked.
    A largest frequency is at least 1/m: nothing is lost by `lowest` = 1/m.

    >>> rungs(0.3).round(4).tolist()
    [1.0, 0.2899, 0.0841, 0.0244, 0.0071]
    """
    width = number(lam, "lambda")
    if not 0 < width < 1:
        raise ParameterError(f"a ladder needs lambda in (0, 1), not {lam}")
    if not (power >= 2 and 0 < lowest <= 1):
        raise ParameterError(
            f"a ladder needs power >= 2 (closer rungs tell f), lowest in (0, 1], not {power}, {lowest}"
        )
    ratio = ((1 + width) / (1 - width)) ** power
    steps = math.ceil(math.log(1 / lowest) / math.log(ratio) - WHOLE)
    return np.asarray(ratio ** -np.arange(steps + 1, dtype=np.float64))


def rung_for(f: Any, ladder: Any) -> Numbers:
    """The lowest rung that is not below f: frequencies are rounded up, sample sizes hence down.

    >>> rung_for([0.9, 0.2, 0.001], rungs(0.3)).round(4).tolist()
    [1.0, 0.2899, 0.0071]
    """
    asked, rising = np.asarray(f, dtype=np.float64), np.sort(np.asarray(ladder, dtype=np.float64))
    if np.any(asked > rising[-1]):
        raise ParameterError(
            f"frequency {asked.max():g} is above the highest rung {rising[-1]:g}; a ladder starts at 1"
        )
    return np.asarray(rising[np.searchsorted(rising, asked)])


def _demand_within_reach(f: float, p: float, m: int, lam: float, delta: float) -> None:
    """Refuses sizes that would take too long to find: where no tail is too small in a group as large as can be looked up to."""
    size = int(math.sqrt(2 * MOST_PAIRS / f))
    count = np.arange(1, _most(f, size) + 1)
    if not fails(np.full(len(count), size), count, p, m, lam, delta).any():
        raise ParameterError(
            f"lambda = {lam:g} and delta = {delta:g} let samples have more than {size:,} records, which exact tails are not computed for; "
            'take a larger lambda or delta, or tail = "chernoff"'
        )


def _exact_sizes(falling: Numbers, p: float, m: int, lam: float, delta: float) -> Counts:
    """Sample sizes for frequencies in falling order, in one sweep over n: a pair (n, c) that fails stops f at n - 1 when
    c <= ceil(f n), and the higher f stops first.
    """
    sizes = np.zeros(len(falling), dtype=np.int64)
    done, start = 0, 1
    while done < len(falling):
        if start == FIRST:
            _demand_within_reach(float(falling[-1]), p, m, lam, delta)
        stop = start + max(16, start // 128)
        for n, c in _first_failures(start, stop, falling[done], p, m, lam, delta):
            while done < len(falling) and c <= _most(falling[done], n):
                sizes[done] = n - 1
                done += 1
        start = stop
    return sizes


def _first_failures(
    start: int, stop: int, f: float, p: float, m: int, lam: float, delta: float
) -> list[tuple[int, int]]:
    """For each n of a range where a count up to ceil(f n) fails: n and the least such count."""
    sizes = np.arange(start, stop)
    most = _most(f, sizes)
    size = np.repeat(sizes, most)
    count = np.arange(len(size)) - np.repeat(np.cumsum(most) - most, most) + 1
    failed = np.flatnonzero(fails(size, count, p, m, lam, delta))
    _, first = np.unique(size[failed], return_index=True)
    return [(int(size[i]), int(count[i])) for i in failed[first]]


def _most(f: float, n: Any) -> Any:
    """ceil(f n), where 0.7 * 10 is 7."""
    return np.ceil(f * n * (1 - WHOLE)).astype(np.int64)
