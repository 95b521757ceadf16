"""How surely a person's own group lets the person's value be estimated: the tails of the estimate.

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

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from scumble.core.errors import ParameterError, did_you_mean
from scumble.core.parameters import number

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
    size, count = np.broadcast_arrays(whole_counts(n, "n"), whole_counts(c, "c"))
    if np.any(count < 1) or np.any(count > size):
        raise ParameterError("1 <= c <= n must hold: c of the n records of a group have the value")
    retain, width = parameters(p, m, lam, np.max(count / size))
    if tail_named(tail) == "chernoff":
        return chernoff(size, count, retain, m, width)
    return exact(size, count, retain, m, width)


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


def fails(size: Counts, count: Counts, p: float, m: int, lam: float, delta: float) -> npt.NDArray[np.bool_]:
    """Whether an exact tail is below delta, for arrays of pairs; convolutions only where no bound decides.

    Chernoff bounds both tails from above, and Berry and Esseen from both sides,

        |tail - Phi(-lambda p c / sigma)| <= 0.56 sum E|X - EX|^3 / sigma^3,        sigma^2 = Var[O]

    which decides nearly everything that is large. Each pair left over is computed once.
    """
    normal, error = _normal(size, count, p, m, lam)
    failed = np.asarray((chernoff(size, count, p, m, lam).least < delta) | (normal + error < delta))
    open_ = np.flatnonzero(~failed & (normal - error < delta))
    base = int(size.max(initial=0)) + 1
    pairs, places = np.unique(size[open_] * base + count[open_], return_inverse=True)
    failed[open_] = (exact(pairs // base, pairs % base, p, m, lam, NEAR).least < delta)[places]
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


def chernoff(size: Counts, count: Counts, p: float, m: int, lam: float) -> Tails:
    """The bounds U and L."""
    mean = p * count + size * (1 - p) / m
    omega = lam * p * count / mean
    return Tails(np.exp(-(omega**2) * mean / (2 + omega)), np.exp(-(omega**2) * mean / 2))


def exact(size: Counts, count: Counts, p: float, m: int, lam: float, reach: tuple[float, float] = FAR) -> Tails:
    """Both tails by convolution, summed over the smaller of the two binomials, in batches of similar length."""
    from scipy import stats  # it takes a while to load

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


def parameters(p: Any, m: int, lam: Any, f: float) -> tuple[float, float]:
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


def level_of(delta: Any) -> float:
    """delta as a number, strictly between 0 and 1."""
    level = number(delta, "delta")
    if not 0 < level < 1:
        raise ParameterError(f"delta must lie in (0, 1), not {delta}: at 0 every group passes, at 1 none")
    return level


def tail_named(tail: str) -> str:
    """The name of a tail, known."""
    if tail not in ("exact", "chernoff"):
        raise ParameterError(f"there is no tail {tail!r}{did_you_mean(tail, ['exact', 'chernoff'])}")
    return tail


def whole_counts(n: Any, name: str) -> Counts:
    """Counts of records as an array; anything that is not whole is refused."""
    given = np.asarray(n)
    if not np.issubdtype(given.dtype, np.integer):
        raise ParameterError(f"{name} counts records and must be whole, not {n!r}")
    return given.astype(np.int64, copy=False)
