"""Draws of counts from fair bits: what happens to n like records is a few numbers, so n coins need not be kept apart.

Everything rests on one draw that random bits give exactly, the number of ones among n of them:

    half(n) ~ Bin(n, 1/2)

    binomial          each record compares a uniform binary fraction with p, digit by digit; at every digit a half of
                      the undecided records stays undecided, so that n records take about 2n bits
    uniform           halves of halves: n records fall on 2^k leaves alike; those on leaves from m on fall again
    multinomial       one binomial after another
    hypergeometric    records are halved at random; a sample of s takes the one half whole, or lies in it whole

The laws are exact, with these exceptions, each below what any number of releases could show: a p that is no multiple of
2^-64 (a double is one from 2^-12 on) is rounded down to one; and the conditional probabilities of `multinomial` are
doubles, off by (m + 1) 2^-53 of themselves at most. `uniform`, `hypergeometric_split` and `proportional_split` have none.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.entropy import Stream
from scumble.core.errors import ParameterError

Counts = npt.NDArray[np.int64]

DIGITS = 64
"""Binary digits of a probability."""

FEW = 1 << 12
"""Records that are put into order one by one: halving them would take more steps than that is worth."""


def half(stream: Stream, n: Any) -> Counts:
    """Bin(n, 1/2), exactly: the ones among n random bits, for each n of an array.

    >>> from scumble.core.entropy import Entropy
    >>> half(Entropy.seeded(1).stream("doc"), [0, 1, 1000]).tolist()
    [0, 1, 513]
    """
    sizes = _counts(n)
    flat = sizes.ravel()
    used = np.flatnonzero(flat)
    ones = np.zeros(flat.shape, dtype=np.int64)
    if len(used):
        ones[used] = _ones(stream, flat[used])
    return ones.reshape(sizes.shape)


def _ones(stream: Stream, bits: Counts) -> Counts:
    """The ones among so many random bits, for each entry; whole words are drawn and the last one is cut."""
    words = (bits + 63) // 64
    ends = np.cumsum(words)
    drawn = stream.integers(int(ends[-1]), 64)
    drawn[ends - 1] >>= (-bits % 64).astype(np.uint64)
    return np.add.reduceat(np.bitwise_count(drawn), ends - words, dtype=np.int64)


def binomial(stream: Stream, n: Any, p: Any) -> Counts:
    """Bin(n, p), for arrays of n and p that broadcast.

    A record succeeds when its uniform fraction is below p: at the first binary digit where the two differ, p has the 1.

    >>> from scumble.core.entropy import Entropy
    >>> binomial(Entropy.seeded(1).stream("doc"), [10, 10, 1000], [0.0, 1.0, 0.25]).tolist()
    [0, 10, 252]
    """
    sizes, chances = np.broadcast_arrays(_counts(n), _probabilities(p))
    undecided, flat = sizes.ravel().copy(), chances.ravel()
    successes = np.where(flat == 1, undecided, 0)
    digits = np.ldexp(np.where(flat == 1, 0.0, flat), DIGITS).astype(np.uint64)
    while len(places := np.flatnonzero((undecided > 0) & (digits > 0))):
        zeros = half(stream, undecided[places])
        one = digits[places] >> np.uint64(DIGITS - 1) == 1
        successes[places] += np.where(one, zeros, 0)
        undecided[places] = np.where(one, undecided[places] - zeros, zeros)
        digits[places] <<= np.uint64(1)
    return successes.reshape(sizes.shape)


def uniform(stream: Stream, n: Any, m: int) -> Counts:
    """n records on m values alike, exactly: a last axis of m counts with sum n is added.

    >>> from scumble.core.entropy import Entropy
    >>> uniform(Entropy.seeded(1).stream("doc"), [3, 600], 3).sum(axis=-1).tolist()
    [3, 600]
    """
    if m < 1:
        raise ParameterError(f"records fall on at least one value, not on {m}")
    sizes = _counts(n)
    falling = sizes.ravel().copy()
    landed = np.zeros((len(falling), m), dtype=np.int64)
    while len(places := np.flatnonzero(falling)):
        leaves = _leaves(stream, falling[places], (m - 1).bit_length())
        landed[places] += leaves[:, :m]
        falling[places] = leaves[:, m:].sum(axis=1)
    return landed.reshape((*sizes.shape, m))


def _leaves(stream: Stream, n: Counts, levels: int) -> Counts:
    """Records of each row on 2^levels leaves."""
    counts = n[:, np.newaxis]
    for _ in range(levels):
        left = half(stream, counts)
        counts = np.concatenate([left, counts - left], axis=1)
    return counts


def multinomial(stream: Stream, n: Any, probabilities: Any) -> Counts:
    """n records on values of the given probabilities: a last axis of counts with sum n is added.

    >>> from scumble.core.entropy import Entropy
    >>> multinomial(Entropy.seeded(1).stream("doc"), [4, 1000], [0.5, 0.0, 0.5]).tolist()
    [[3, 0, 1], [513, 0, 487]]
    """
    chances = _probabilities(probabilities)
    if chances.ndim != 1 or not np.isclose(chances.sum(), 1, rtol=1e-9):
        raise ParameterError("probabilities must be one for each value and sum to 1")
    left = _counts(n).copy()
    rest = np.cumsum(chances[::-1])[::-1]
    conditional = np.divide(chances, rest, out=np.zeros_like(chances), where=rest > 0)
    conditional[np.flatnonzero(chances)[-1] :] = 1.0  # nobody is left over, whatever the rounding
    counts = np.empty((*left.shape, len(chances)), dtype=np.int64)
    for value, chance in enumerate(conditional):
        counts[..., value] = binomial(stream, left, chance)
        left -= counts[..., value]
    return counts


def perturb(stream: Stream, counts: Any, p: float) -> Counts:
    """Published counts of true ones (last axis: the m values) when each record keeps its value with probability p.

    >>> from scumble.core.entropy import Entropy
    >>> perturb(Entropy.seeded(1).stream("doc"), [[100, 0, 0, 0]], 0.5).sum()
    np.int64(100)
    """
    true = _counts(counts)
    kept = binomial(stream, true, p)
    return kept + uniform(stream, (true - kept).sum(axis=-1), true.shape[-1])


def hypergeometric_split(stream: Stream, counts: Any, size: Any) -> Counts:
    """A sample of `size` of the records without replacement, by value, exactly; groups are rows, values columns.

    A fair coin for each record gives a half H. If |H| <= s, H is taken and s - |H| are wanted of the others; else s are
    wanted of H. Given |H|, H is a uniformly random subset, so the sample is one too. The last few records are put into random order.

    >>> from scumble.core.entropy import Entropy
    >>> hypergeometric_split(Entropy.seeded(1).stream("doc"), [[500, 500], [1, 2]], [10, 3]).sum(axis=1).tolist()
    [10, 3]
    """
    pool, wanted = group_counts(counts, size)
    sample = np.zeros_like(pool)
    while len(rows := np.flatnonzero((wanted > 0) & (pool.sum(axis=1) > wanted))):
        if pool[rows].sum() <= FEW:
            pool[rows] = _first(stream, pool[rows], wanted[rows])
            break
        chosen = half(stream, pool[rows])
        totals = chosen.sum(axis=1)
        taken = totals <= wanted[rows]
        sample[rows] += np.where(taken[:, np.newaxis], chosen, 0)
        pool[rows] = np.where(taken[:, np.newaxis], pool[rows] - chosen, chosen)
        wanted[rows] -= np.where(taken, totals, 0)
    return sample + np.where((wanted > 0)[:, np.newaxis], pool, 0)


def _first(stream: Stream, pool: Counts, wanted: Counts) -> Counts:
    """The first records of each group, all of them in random order."""
    sizes = pool.sum(axis=1)
    group = np.repeat(np.arange(len(pool)), sizes)
    cell = np.repeat(np.arange(pool.size), pool.ravel())
    order = stream.permutation(len(cell))
    order = order[np.argsort(group[order], kind="stable")]
    place = np.arange(len(cell)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.bincount(cell[order[place < wanted[group]]], minlength=pool.size).reshape(pool.shape)


def proportional_split(stream: Stream, counts: Any, size: Any) -> Counts:
    """A sample of `size` of the records that keeps the frequencies: of c records among n, c size / n rounded down or up.

    With S_j the running totals and U uniform on 0 .. n-1, value j gets floor((S_j size + U) / n) less the same of
    S_{j-1}: the counts sum to `size`, and each has the mean c size / n exactly.

    >>> from scumble.core.entropy import Entropy
    >>> proportional_split(Entropy.seeded(1).stream("doc"), [[600, 300, 100]], [10]).tolist()
    [[6, 3, 1]]
    """
    pool, wanted = group_counts(counts, size)
    totals = pool.sum(axis=1)
    start = below(stream, np.maximum(totals, 1))
    steps = np.cumsum(pool, axis=1) * wanted[:, np.newaxis] + start[:, np.newaxis]
    return np.asarray(np.diff(steps // np.maximum(totals, 1)[:, np.newaxis], axis=1, prepend=0))


def below(stream: Stream, bound: Any) -> Counts:
    """Uniform integers from 0 to bound - 1, exactly: words that would favour the small ones are drawn again."""
    bounds = _counts(bound).ravel().astype(np.uint64)
    drawn = np.zeros(bounds.shape, dtype=np.uint64)
    places = np.arange(len(bounds))
    while len(places):
        words, limit = stream.integers(len(places), 64), bounds[places]
        drawn[places] = words % limit
        places = places[words - drawn[places] > np.uint64(2**64 - 1) - (limit - np.uint64(1))]
    return drawn.astype(np.int64).reshape(np.shape(bound))


def group_counts(counts: Any, size: Any) -> tuple[Counts, Counts]:
    """Counts by group and value, and a sample size for each group."""
    pool = _counts(counts).copy()
    if pool.ndim != 2:
        raise ParameterError(f"counts are a table of groups by values, not of {pool.ndim} dimensions")
    wanted = np.broadcast_to(_counts(size), len(pool)).copy()
    short = np.flatnonzero(wanted > pool.sum(axis=1))
    if len(short):
        held, asked = pool[short[0]].sum(), wanted[short[0]]
        raise ParameterError(f"group {short[0]} has {held} records and cannot give {asked}; sample at most its size")
    return pool, wanted


def _counts(n: Any) -> Counts:
    given = np.asarray(n)
    if not np.issubdtype(given.dtype, np.integer) or np.any(given < 0):
        raise ParameterError("counts must be whole numbers, none negative")
    return given.astype(np.int64, copy=False)


def _probabilities(p: Any) -> npt.NDArray[np.float64]:
    given = np.asarray(p, dtype=np.float64)
    if not np.all((given >= 0) & (given <= 1)):
        raise ParameterError(f"a probability must lie in [0, 1], not {p}")
    return given
