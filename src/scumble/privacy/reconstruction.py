"""Reconstruction privacy: a person's own group must be too small to estimate the person's value well.

A personal group has n records that agree on every public attribute; c of them, f = c / n, have some sensitive value. Each
record keeps its value with probability p and is otherwise redrawn among m values alike, so the published count O of the
value, the sum of two binomials, and the estimate F of f are

    O ~ Bin(c, p + (1-p)/m) + Bin(n - c, (1-p)/m)          mu = E[O] = n (p f + (1-p)/m)
    F = (O/n - (1-p)/m) / p                                F > (1 + lambda) f   <=>   O > mu + lambda p c

The value is (lambda, delta)-private when neither tail, Pr[F > (1 + lambda) f] and Pr[F < (1 - lambda) f], is below delta.

    exact       the tails themselves, by convolution
    chernoff    the bounds U = exp(-omega^2 mu / (2 + omega)) and L = exp(-omega^2 mu / 2), omega = lambda p f / (p f + (1-p)/m)

Where the bound L is 0.3 the tails are 15 to 260 times smaller (p = 0.5, lambda = 0.3, f from 0.1 to 0.9, m = 2 and 50), so
passing by Chernoff certifies little; failing by it settles the matter.

where c = `count`, n = `size`, f = `f`, p = `p`, m = `m`, lambda = `lam`, delta = `delta`. Proofs: docs/proofs/reconstruction_privacy.md.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from scumble.errors import ParameterError, did_you_mean
from scumble.parameters import number

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

WHOLE = 1e-9
"""A threshold this near (relatively) to a whole number is that number: 0.65 * 20 is 13."""

BERRY_ESSEEN = 0.56
"""The constant for sums of independent terms that are not alike (Shevtsova 2010)."""

FAR, NEAR = (30.0, 500.0), (8.0, 30.0)
"""Reach of a convolution, in standard deviations plus records: it leaves out a mass below 1e-90, and below 1e-13."""

CELLS = 1 << 20
"""Terms of convolutions held in memory at a time."""


class Tails(NamedTuple):
    """Probabilities of an estimate too high, and too low, by more than lambda f; or bounds on them."""

    upper: Any
    lower: Any

    @property
    def least(self) -> Any:
        """What delta is compared with."""
        return np.minimum(self.upper, self.lower)


def tails(n: Any, c: Any, p: Any, m: int, lam: Any, *, tail: str = "exact") -> Tails:
    """Both tails of the estimate for a value of c records in a group of n, for numbers or arrays that broadcast.

    >>> [round(float(t), 4) for t in tails(214, 107, 0.5, 2, 0.3)]
    [0.0045, 0.0045]
    >>> [round(float(t), 4) for t in tails(214, 107, 0.5, 2, 0.3, tail="chernoff")]
    [0.3264, 0.3001]
    """
    size, count = np.broadcast_arrays(_whole(n, "n"), _whole(c, "c"))
    if np.any(count < 1) or np.any(count > size):
        raise ParameterError("1 <= c <= n must hold: c of the n records of a group have the value")
    retain, width = _parameters(p, m, lam, np.max(count / size))
    if _named(tail) == "chernoff":
        return _chernoff(size, count, retain, m, width)
    return _exact(size, count, retain, m, width)


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
    retain, width = _parameters(p, m, lam, float(asked.max()))
    level = _level(delta)
    if _named(tail) == "chernoff":
        bound = -2 * (asked * retain + (1 - retain) / m) * math.log(level) / (width * retain * asked) ** 2
        return float(bound) if bound.ndim == 0 else bound
    distinct, places = np.unique(-asked, return_inverse=True)
    sizes = _exact_sizes(-distinct, retain, m, width, level)[places].reshape(asked.shape)
    return int(sizes) if sizes.ndim == 0 else sizes


def lambda_limits(f: Any, p: Any, m: int) -> tuple[float, float]:
    """How far below and above f an estimate can fall at all, as multiples of f: a tail beyond that is 0 for every n.

        below: 1 + (1-p)/(m p f)        above: (1 - (1-p)/m)/(p f) - 1

    At a lambda beyond `below` nothing is defined (omega > 1). Beyond `above` the estimate is never that much too high,
    an attacker knows so, and no group is private: sample sizes are 0 until p or lambda is smaller.

    >>> [round(limit, 3) for limit in lambda_limits(1, 0.5, 2)], [round(limit, 3) for limit in lambda_limits(1, 0.9, 2)]
    ([1.5, 0.5], [1.056, 0.056])
    """
    retain, frequency = number(p, "p"), number(f, "f")
    other = (1 - retain) / m
    return 1 + other / (retain * frequency), (1 - other) / (retain * frequency) - 1


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


@dataclass(frozen=True, eq=False)
class Verdict:
    """Which groups let a value be estimated too well, by one of the tests."""

    violating: npt.NDArray[np.bool_]
    groups: float
    """v_g: their share of the groups."""
    records: float
    """v_r: their share of the records."""


@dataclass(frozen=True)
class Exposure:
    """The most frequent value of a group, and how surely it is estimated."""

    group: int
    value: int
    size: int
    count: int
    exact: Tails
    chernoff: Tails


@dataclass(frozen=True, eq=False)
class Violations:
    """Both verdicts, and the groups where the estimate is surest."""

    exact: Verdict
    chernoff: Verdict
    worst: list[Exposure]


def violations(counts: Any, p: Any, lam: Any, delta: Any, *, worst: int = 10) -> Violations:
    """Which personal groups are not (lambda, delta)-private under uniform perturbation: a row for each group, a column for
    each of the m values; empty rows are no groups.

    The Chernoff bounds fall with f, so its test looks at the most frequent value alone; a group that fails it fails the
    exact one. Of the others the most frequent value is tried, then every value, because true tails are jagged in c. The
    worst groups are those of the smallest Chernoff bound.

    >>> found = violations([[60, 40], [3, 2], [0, 0]], 0.5, 0.3, 0.1)
    >>> found.exact.violating.tolist(), found.exact.groups, round(found.exact.records, 3), found.chernoff.groups
    ([True, False, False], 0.5, 0.952, 0.0)
    """
    table = _whole(counts, "counts")
    if table.ndim != 2 or np.any(table < 0) or not table.any():
        raise ParameterError("counts are a table of groups by values, whole, not negative and not all zero")
    retain, width = _parameters(p, table.shape[1], lam, 1.0)
    level, size, most = _level(delta), table.sum(axis=1), table.max(axis=1)
    some = size > 0
    bound = np.ones(len(table))
    bound[some] = _chernoff(size[some], most[some], retain, table.shape[1], width).least
    loose = bound < level
    strict = loose.copy()
    for tried in (table * (table == most[:, np.newaxis]), table):
        strict |= _any_fails(tried, size, some & ~strict, retain, width, level)
    surest = np.argsort(bound, kind="stable")[: min(worst, int(some.sum()))]
    exposures = [_exposure(table, int(g), retain, width) for g in surest]
    return Violations(_verdict(strict, size), _verdict(loose, size), exposures)


def _any_fails(
    table: Counts, size: Counts, asked: npt.NDArray[np.bool_], p: float, lam: float, delta: float
) -> npt.NDArray[np.bool_]:
    """For the groups that are asked about: whether an exact tail of any value in the table is below delta."""
    group, value = np.nonzero((table > 0) & asked[:, np.newaxis])
    failed = fails(size[group], table[group, value], p, table.shape[1], lam, delta)
    return np.bincount(group[failed], minlength=len(table)) > 0


def _verdict(violating: npt.NDArray[np.bool_], size: Counts) -> Verdict:
    return Verdict(violating, float(violating.sum() / (size > 0).sum()), float(size[violating].sum() / size.sum()))


def _exposure(table: Counts, group: int, p: float, lam: float) -> Exposure:
    value, size = int(table[group].argmax()), int(table[group].sum())
    count = int(table[group, value])
    both = [tails(size, count, p, table.shape[1], lam, tail=tail) for tail in ("exact", "chernoff")]
    return Exposure(group, value, size, count, *(Tails(float(t.upper), float(t.lower)) for t in both))


def fails(size: Counts, count: Counts, p: float, m: int, lam: float, delta: float) -> npt.NDArray[np.bool_]:
    """Whether an exact tail is below delta, for arrays of pairs; convolutions only where no bound decides.

    Chernoff bounds both tails from above, and Berry and Esseen from both sides,

        |tail - Phi(-lambda p c / sigma)| <= 0.56 sum E|X - EX|^3 / sigma^3,        sigma^2 = Var[O]

    which decides nearly everything that is large. Each pair left over is computed once.
    """
    normal, error = _normal(size, count, p, m, lam)
    failed = np.asarray((_chernoff(size, count, p, m, lam).least < delta) | (normal + error < delta))
    open_ = np.flatnonzero(~failed & (normal - error < delta))
    base = int(size.max(initial=0)) + 1
    pairs, places = np.unique(size[open_] * base + count[open_], return_inverse=True)
    failed[open_] = (_exact(pairs // base, pairs % base, p, m, lam, NEAR).least < delta)[places]
    return failed


def _normal(size: Counts, count: Counts, p: float, m: int, lam: float) -> tuple[Numbers, Numbers]:
    """The normal approximation of either tail, and how far off it is at most."""
    variance, third = np.zeros(size.shape), np.zeros(size.shape)
    for records, chance in ((count, p + (1 - p) / m), (size - count, (1 - p) / m)):
        spread = records * chance * (1 - chance)
        variance += spread
        third += spread * (chance**2 + (1 - chance) ** 2)
    deviation = np.sqrt(variance)
    return special.ndtr(-lam * p * count / deviation), BERRY_ESSEEN * third / deviation**3


def _chernoff(size: Counts, count: Counts, p: float, m: int, lam: float) -> Tails:
    mean = p * count + size * (1 - p) / m
    omega = lam * p * count / mean
    return Tails(np.exp(-(omega**2) * mean / (2 + omega)), np.exp(-(omega**2) * mean / 2))


def _exact(size: Counts, count: Counts, p: float, m: int, lam: float, reach: tuple[float, float] = FAR) -> Tails:
    """Both tails by convolution, summed over the smaller of the two binomials, in batches of similar length."""
    own, other = p + (1 - p) / m, (1 - p) / m
    fewer = count <= size - count
    first, second = np.where(fewer, count, size - count).ravel(), np.where(fewer, size - count, count).ravel()
    chance = np.where(fewer, own, other).ravel()
    mean, off = (size * other + p * count).ravel(), (lam * p * count).ravel()
    above = np.floor((mean + off) * (1 + WHOLE))  # an estimate is too high when O is larger
    under = np.ceil((mean - off) * (1 - WHOLE)) - 1  # too low when O is at most this
    low, length = _window(first, chance, reach)
    upper, lower = np.empty(first.shape), np.empty(first.shape)
    for batch in _batches(length):
        k = low[batch, None] + np.arange(length[batch].max())
        weight = stats.binom.pmf(k, first[batch, None], chance[batch, None])
        rest = (second[batch, None], np.where(chance == own, other, own)[batch, None])
        upper[batch] = (weight * stats.binom.sf(above[batch, None] - k, *rest)).sum(axis=1)
        lower[batch] = (weight * stats.binom.cdf(under[batch, None] - k, *rest)).sum(axis=1)
    return Tails(upper.reshape(size.shape), lower.reshape(size.shape))


def _window(trials: Counts, chance: Numbers, reach: tuple[float, float]) -> tuple[Counts, Counts]:
    """Where a binomial lies, within a reach of its mean: the first outcome, and how many."""
    mean, span = trials * chance, reach[0] * np.sqrt(trials * chance * (1 - chance)) + reach[1]
    low = np.maximum(0, np.floor(mean - span)).astype(np.int64)
    return low, np.minimum(trials, np.ceil(mean + span)).astype(np.int64) - low + 1


def _batches(length: Counts) -> list[npt.NDArray[np.intp]]:
    """Places of similar length together, each batch of at most CELLS terms or one place."""
    order = np.argsort(length, kind="stable")
    batches = []
    while len(order):
        room = np.arange(1, len(order) + 1) * length[order] <= CELLS
        cut = max(1, int(room.sum()))
        batches.append(order[:cut])
        order = order[cut:]
    return batches


def _exact_sizes(falling: Numbers, p: float, m: int, lam: float, delta: float) -> Counts:
    """Sample sizes for frequencies in falling order, in one sweep over n: a pair (n, c) that fails stops f at n - 1 when
    c <= ceil(f n), and the higher f stops first.
    """
    sizes = np.zeros(len(falling), dtype=np.int64)
    done, start = 0, 1
    while done < len(falling):
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


def _parameters(p: Any, m: int, lam: Any, f: float) -> tuple[float, float]:
    """p and lambda as numbers, in their ranges: the largest f has the narrowest."""
    retain, width = number(p, "p"), number(lam, "lambda")
    if not 0 < retain < 1:
        raise ParameterError(f"p is a retention probability and must lie in (0, 1), not {p}")
    if int(m) != m or m < 2:
        raise ParameterError(f"m, the number of sensitive values, must be a whole number of at least 2, not {m}")
    limit, _ = lambda_limits(f, retain, m)
    if not 0 < width < limit:
        raise ParameterError(
            f"lambda must lie in (0, 1 + (1-p)/(m p f)) = (0, {limit:.4g}) at p = {retain:g}, m = {m}, f = {f:.4g}, not {lam}"
        )
    return retain, width


def _level(delta: Any) -> float:
    level = number(delta, "delta")
    if not 0 < level < 1:
        raise ParameterError(f"delta must lie in (0, 1), not {delta}: at 0 every group passes, at 1 none")
    return level


def _named(tail: str) -> str:
    if tail not in ("exact", "chernoff"):
        raise ParameterError(f"there is no tail {tail!r}{did_you_mean(tail, ['exact', 'chernoff'])}")
    return tail


def _whole(n: Any, name: str) -> Counts:
    given = np.asarray(n)
    if not np.issubdtype(given.dtype, np.integer):
        raise ParameterError(f"{name} counts records and must be whole, not {n!r}")
    return given.astype(np.int64, copy=False)
