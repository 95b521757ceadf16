"""Perturbation partitioning, planned from counts alone: disjoint sub-tables, each perturbed within its own values.

Sub-table T_i has m_i values. With N = |T_i| and C_S records of property S, of which c_S have its most frequent value, the
posterior of S, with the sub-table's own frequencies as prior, is at most rho2 exactly when

    gamma_i - 1 <= (rho2 N - C_S) / ((1 - rho2) c_S)

The properties are the protected values (C_S = c_S: this is gamma_i = rho2 (1 - rho1_i) / (rho1_i (1 - rho2)), rho1_i = c_S / N)
and the sets in `together`; the strictest sets gamma_i. Sub-tables are unions of balanced groups that minimise

    error = sum_i |T_i|/|T| a/sqrt(|T_i|) (m_i/(gamma_i - 1) + 1),        a = 2 sqrt(ln(2/delta))

A union with gamma_i <= 1 is not admitted. The proof, and what a sub-table's number tells: docs/proofs/partition.md.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scumble.channel import Channel, Vector
from scumble.errors import ParameterError
from scumble.parameters import number

Counts = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Merge = list[list[int]]

EXACT = 12
"""Up to so many groups every merge is compared, at 3^t; beyond, a local search starts from several arranging orders."""

WORK = 200_000_000
"""Counts that a local search may look at; a few sweeps over 300 groups of 1,000 values, and no limit in practice at 50 values."""


@dataclass(frozen=True, eq=False)
class Partition:
    """How many records of each value go to which sub-table, and what each sub-table's channel is.

    >>> plan = partition([12, 8, 6, 5, 4, 3, 1, 1, 1, 1], "1/3", "2/3")
    >>> plan.subtables.tolist()
    [[12, 8, 6, 4, 4, 2, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 1, 1, 1, 1]]
    >>> [round(gamma, 9) for gamma in plan.gamma], round(plan.error, 4), round(plan.reference_error, 4)
    ([4.0, 10.0], 2.0196, 2.0303)
    """

    groups: Counts
    """The balanced groups, a row of counts each."""
    merged: tuple[tuple[int, ...], ...]
    """The groups that make up each sub-table."""
    subtables: Counts
    """The sub-tables, a row of counts each: exactly so many records of a value, drawn at random, go there."""
    protected: Mask
    """The values whose posterior is bounded by rho2."""
    guarded: tuple[tuple[int, ...], ...]
    """The sets of `together` whose posterior is bounded by rho2 too, because they are at most rho1 of the table."""
    gamma: tuple[float, ...]
    """The amplification within each sub-table."""
    error: float
    """The weighted expected reconstruction error."""
    reference_error: float
    """The same for neighbours merged in Reverse Cuthill-McKee order."""
    whole_error: float
    """The same for the table in one piece."""

    @cached_property
    def values(self) -> tuple[npt.NDArray[np.intp], ...]:
        """The indices of the values of each sub-table, in the order of its channel."""
        return tuple(np.flatnonzero(row) for row in self.subtables)

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """The channel of each sub-table, over its own values."""
        return tuple(Channel.from_gamma(len(own), gamma) for own, gamma in zip(self.values, self.gamma, strict=True))

    @property
    def rho1(self) -> tuple[float, ...]:
        """The largest relative frequency of a protected value in each sub-table."""
        return tuple(int(row[self.protected].max()) / int(row.sum()) for row in self.subtables)

    @property
    def gain(self) -> float:
        """The part of the reference error that the search saves; negative where a given order is worse."""
        return 1 - self.error / self.reference_error


def partition(
    counts: Any,
    rho1: Any,
    rho2: Any,
    *,
    delta: Any = 0.05,
    order: Sequence[int] | None = None,
    together: Iterable[Iterable[int]] = (),
    protected: Any = None,
) -> Partition:
    """The sub-tables of smallest expected error in which no protected value's posterior exceeds rho2.

    counts     the records of each value; a value without records belongs to no sub-table
    order      an arranging order of the groups, counted from 0: only neighbours in it are merged. When absent, all merges
               are searched
    together   sets of values (indices) that say something even where it stays open which of them it is. No sub-table lies inside
               one; and one that is at most rho1 of the table is held to rho2 like a protected value
    protected  a mask of the protected values; when absent, those of relative frequency at most rho1

    >>> partition([40, 30, 20, 10], 0.4, 0.3)
    Traceback (most recent call last):
    scumble.errors.ParameterError: 0 < rho1 < rho2 < 1 must hold, not rho1 = 0.4, rho2 = 0.3; the most frequent protected ...
    """
    table = _whole_numbers(counts)
    low, high = number(rho1, "rho1"), number(rho2, "rho2")
    chosen = _protected(table, low, protected)
    _check_feasible(table, chosen, low, high)
    sets = [_member(table, each) for each in together]
    guarded = [int(table[each].sum()) / int(table.sum()) <= low for each in sets]
    rule = _Rule(high, chosen, sets, guarded, _scale(delta) / int(table.sum()))
    groups = balance(table, chosen)
    reference = _merge_neighbours(rule, groups, cuthill_mckee(groups))
    if order is None:
        return _partition(rule, groups, reference, _search(rule, groups, reference))
    return _partition(rule, groups, reference, _merge_neighbours(rule, groups, _given(order, len(groups))))


def _partition(rule: "_Rule", groups: Counts, reference: Merge, found: Merge) -> Partition:
    rows = _union(groups, sorted(found))
    return Partition(
        groups=groups,
        merged=tuple(tuple(each) for each in sorted(found)),
        subtables=rows,
        protected=rule.protected,
        guarded=tuple(tuple(np.flatnonzero(each).tolist()) for each in compress(rule.sets, rule.guarded)),
        gamma=tuple((1 + rule.excess(rule.measure(rows))).tolist()),
        error=_error(rule, groups, found),
        reference_error=_error(rule, groups, reference),
        whole_error=_error(rule, groups, [list(range(len(groups)))]),
    )


def balance(counts: Counts, protected: Mask) -> Counts:
    """The balanced groups: in each, a protected value has about the share of the most frequent one in the table, or less.

    Over the protected records, theta = floor(|T'| / f_max); a group takes h records of each of the theta most frequent
    values that are left, h as large as keeps the rest balanced. The other records follow in proportion.

    >>> balance(np.array([3, 2, 2, 1]), np.ones(4, bool)).tolist()
    [[2, 2, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]]
    """
    left = np.where(protected, counts, 0)
    width = int(left.sum()) // int(left.max())
    groups = []
    while left.any():
        most = np.argsort(-left, kind="stable")
        depth = _depth(np.append(left[most], 0), int(left.sum()), width)
        group = np.zeros_like(left) if depth else left.copy()
        group[most[:width]] += depth
        groups.append(group)
        left = left - group
    balanced = np.array(groups)
    return np.asarray(balanced + _proportional(balanced.sum(axis=1), np.where(protected, 0, counts)))


def _depth(most_first: Counts, total: int, width: int) -> int:
    """h: how many records of each of the `width` most frequent values can go while the others stay balanced; in integers.

        h = min(mu_width, floor(total / width) - mu_{width + 1})

    The thesis' rule, whose further case mu_1 - mu_width > mu_{width + 1} gives mu_width too, because width mu_1 <= total.
    """
    return min(int(most_first[width - 1]), total // width - int(most_first[width]))


def _proportional(sizes: Counts, rest: Counts) -> Counts:
    """The unprotected records by group: the most frequent value first, so that few groups get many values."""
    total, most = int(rest.sum()), np.argsort(-rest, kind="stable")
    quotas = [int(size) * total // int(sizes.sum()) for size in sizes]
    quotas[-1] += total - sum(quotas)
    to_group, to_value = np.cumsum(quotas), np.cumsum(rest[most])
    last = np.minimum.outer(to_group, to_value)
    first = np.maximum.outer(to_group - quotas, to_value - rest[most])
    shares = np.zeros_like(last)
    shares[:, most] = np.maximum(last - first, 0)
    return np.asarray(shares)


class _Measure(NamedTuple):
    """What the cost of sub-tables depends on, an entry for each sub-table."""

    size: Counts
    distinct: Counts
    top: Counts
    """The records of the most frequent protected value."""
    totals: list[Counts]
    """The records of each set."""
    peaks: list[Counts]
    """The records of the most frequent value of each set."""


@dataclass(frozen=True)
class _Rule:
    """What a sub-table may be, and what it costs."""

    rho2: float
    protected: Mask
    sets: list[Mask]
    guarded: list[bool]
    scale: float

    def measure(self, rows: Counts) -> _Measure:
        """The measure of sub-tables given as rows of counts."""
        totals = [rows[:, each].sum(axis=1) for each in self.sets]
        peaks = [rows[:, each].max(axis=1) for each in self.sets]
        distinct = np.count_nonzero(rows, axis=1).astype(np.int64)
        return _Measure(rows.sum(axis=1), distinct, rows[:, self.protected].max(axis=1), totals, peaks)

    def excess(self, measure: _Measure) -> Vector:
        """gamma - 1: the largest that keeps every property within rho2; 0 or less where no channel does."""
        largest = self._room(measure.size, measure.top, measure.top)
        for total, peak, guarded in zip(measure.totals, measure.peaks, self.guarded, strict=True):
            if guarded:
                largest = np.minimum(largest, self._room(measure.size, total, peak))
            largest = np.where(total == measure.size, 0, largest)
        return largest

    def _room(self, size: Counts, total: Counts, peak: Counts) -> Vector:
        room = (self.rho2 * size - total) / ((1 - self.rho2) * np.maximum(peak, 1))
        return np.where(peak > 0, room, np.inf)

    def cost(self, measure: _Measure) -> Vector:
        """The share of sub-tables in the error; infinite where one is not admitted, 0 where it is empty."""
        excess = self.excess(measure)
        admitted = 1 + excess > 1
        each = np.sqrt(measure.size) * (measure.distinct / np.where(admitted, excess, 1) + 1)
        return self.scale * np.where(measure.size == 0, 0, np.where(admitted, each, np.inf))


def _union(groups: Counts, merge: Merge) -> Counts:
    return np.array([groups[each].sum(axis=0) for each in merge])


def _error(rule: _Rule, groups: Counts, merge: Merge) -> float:
    return math.fsum(rule.cost(rule.measure(_union(groups, merge))).tolist())


def cuthill_mckee(groups: Counts) -> list[int]:
    """The Reverse Cuthill-McKee order of the groups, two being neighbours when they share a value: SciPy's."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    holds = csr_array(groups > 0, dtype=np.int64)
    shared = csr_array(holds @ holds.T)
    shared.sort_indices()
    return [int(each) for each in reverse_cuthill_mckee(shared, symmetric_mode=True)]


def _merge_neighbours(rule: _Rule, groups: Counts, order: Sequence[int]) -> Merge:
    """The best merge of neighbours in the order: dynamic programming over where the last sub-table begins."""
    runs = _Runs(rule, groups[list(order)])
    best, begin = np.full(len(order) + 1, np.inf), np.zeros(len(order) + 1, dtype=int)
    best[0] = 0
    for start in range(len(order)):
        reached = best[start] + rule.cost(runs.measure(start))
        better = np.flatnonzero(reached < best[start + 1 :])
        best[start + 1 + better], begin[start + 1 + better] = reached[better], start
    merge, end = [], len(order)
    while end:
        merge.append(sorted(order[begin[end] : end]))
        end = int(begin[end])
    return merge


class _Runs:
    """Measures of all runs of neighbouring groups, from the non-zero cells alone: O(cells) for each start."""

    def __init__(self, rule: _Rule, groups: Counts) -> None:
        self.rule = rule
        self.position, self.value = np.nonzero(groups)
        self.first = np.searchsorted(self.position, np.arange(len(groups)))
        self.before = np.vstack([np.zeros_like(groups[:1]), np.cumsum(groups, axis=0)])
        self.through = self.before[self.position + 1, self.value]
        self.previous = np.full(len(self.value), -1)
        line = np.lexsort((self.position, self.value))
        again = self.value[line[1:]] == self.value[line[:-1]]
        self.previous[line[1:][again]] = self.position[line[:-1][again]]
        self.sizes = self.before.sum(axis=1)
        self.totals = [self.before[:, each].sum(axis=1) for each in rule.sets]

    def measure(self, start: int) -> _Measure:
        """The runs that begin at `start`, by their last group."""
        cells = slice(self.first[start], None)
        by_group = self.first[start:] - self.first[start]
        value = self.value[cells]
        grown = self.through[cells] - self.before[start, value]
        new = np.add.reduceat(self.previous[cells] < start, by_group, dtype=np.int64)

        def peak(mask: Mask) -> Counts:
            return np.maximum.accumulate(np.maximum.reduceat(np.where(mask[value], grown, 0), by_group))

        def since(sums: Counts) -> Counts:
            return np.asarray(sums[start + 1 :] - sums[start])

        totals, peaks = [since(each) for each in self.totals], [peak(each) for each in self.rule.sets]
        return _Measure(since(self.sizes), np.cumsum(new), peak(self.rule.protected), totals, peaks)


def _search(rule: _Rule, groups: Counts, reference: Merge) -> Merge:
    """The best merge of groups that need not be neighbours: exactly for few groups, else by local search."""
    if len(groups) <= EXACT:
        found = [_best_merge(rule, groups)]
    else:
        starts = [reference, _merge_neighbours(rule, groups, range(len(groups)))]
        found = [_improve(rule, groups, each) for each in starts]
    return min(reference, *found, key=lambda each: _error(rule, groups, each))


def _best_merge(rule: _Rule, groups: Counts) -> Merge:
    """The best of all set partitions of the groups, by dynamic programming over subsets (bit k: group k).

    best(S) = min over C of cost(C + k) + best(S - C - k),        k the last group in S, C a subset of the others
    """
    rows = np.zeros((1, groups.shape[1]), dtype=np.int64)
    for group in groups:
        rows = np.concatenate([rows, rows + group])
    cost = rule.cost(rule.measure(rows))
    best = np.zeros(1)
    for k in range(len(groups)):
        best = np.concatenate([best, _split(cost[1 << k : 2 << k], best)])
    merge, left = [], len(best) - 1
    while left:
        block = _last_block(cost, best, left)
        merge.append([k for k in range(len(groups)) if block >> k & 1])
        left -= block
    return merge


def _split(f: Vector, g: Vector) -> Vector:
    """h(S) = min over subsets C of S of f(C) + g(S - C), for all S at once: 3^n additions.

    By halves on the last element: without it h = f0*g0, with it the better of f0*g1 and f1*g0.
    """
    half = f.shape[-1] // 2
    if half == 0:
        return f + g
    f0, f1, g0, g1 = f[..., :half], f[..., half:], g[..., :half], g[..., half:]
    without, after, before = _split(np.stack([f0, f0, f1]), np.stack([g0, g1, g0]))
    return np.concatenate([without, np.minimum(after, before)], axis=-1)


def _last_block(cost: Vector, best: Vector, subset: int) -> int:
    """The block that holds the last group of a subset in its best merge."""
    last = 1 << (subset.bit_length() - 1)
    others = np.arange(last)
    others = others[others & ~subset == 0]
    return last + int(others[np.argmin(cost[last + others] + best[subset - last - others])])


def _improve(rule: _Rule, groups: Counts, merge: Merge) -> Merge:
    """Groups, and whole sub-tables, move to where the error falls most, until no move helps or WORK is done."""
    blocks = _Blocks(rule, groups, merge)
    for _ in range(WORK // (len(groups) * blocks.rows.size)):
        if not blocks.sweep():
            break
    return [np.flatnonzero(blocks.label == block).tolist() for block in np.unique(blocks.label)]


class _Blocks:
    """A merge in the making: the block of each group, the blocks' counts (one is always empty) and their costs."""

    def __init__(self, rule: _Rule, groups: Counts, merge: Merge) -> None:
        self.rule, self.groups = rule, groups
        self.label = np.zeros(len(groups), dtype=int)
        for block, members in enumerate(merge):
            self.label[members] = block
        self.rows = np.vstack([_union(groups, merge), np.zeros_like(groups[:1])])
        self.cost = rule.cost(rule.measure(self.rows))

    def sweep(self) -> bool:
        """Try to move each group, then each block as it then is; whether any moved."""
        groups = [self.move(np.array([group])) for group in range(len(self.groups))]
        blocks = [self.move(np.flatnonzero(self.label == block)) for block in range(len(self.rows))]
        return any(groups) or any(blocks)

    def move(self, unit: npt.NDArray[np.intp]) -> bool:
        """Move groups of one block to another, or to one of their own, if that lowers the error."""
        if len(unit) == 0:
            return False
        home, moved = int(self.label[unit[0]]), self.groups[unit].sum(axis=0)
        cost = self.rule.cost(self.rule.measure(np.vstack([self.rows + moved, self.rows[home] - moved])))
        change = cost[:-1] - self.cost + cost[-1] - self.cost[home]
        change[home] = 0
        target = int(np.argmin(change))
        if change[target] > -1e-12 * self.cost.sum():
            return False
        self.label[unit] = target
        self.rows[home], self.rows[target] = self.rows[home] - moved, self.rows[target] + moved
        self.cost[home], self.cost[target] = cost[-1], cost[target]
        if self.rows.any(axis=1).all():
            self.rows, self.cost = np.vstack([self.rows, np.zeros_like(moved)]), np.append(self.cost, 0)
        return True


def _whole_numbers(counts: Any) -> Counts:
    given = np.asarray(counts)
    if given.ndim != 1 or given.dtype.kind not in "iuf" or len(given) == 0:
        raise ParameterError("counts must be a list of whole numbers, the records of each value")
    bad = np.flatnonzero(~((given >= 0) & (given == np.floor(given)) & (given < 2**62)))
    if len(bad):
        raise ParameterError(f"counts must be whole numbers from 0 on; value {bad[0]} has {given[bad[0]]}")
    if not given.any():
        raise ParameterError("counts are all 0: a table without records has nothing to publish")
    return given.astype(np.int64)


def _scale(delta: Any) -> float:
    """a = 2 sqrt(ln(2/delta))."""
    exceeded = number(delta, "delta")
    if not 0 < exceeded < 1:
        raise ParameterError(f"delta is the probability that the error is exceeded and must lie in (0, 1), not {delta}")
    return 2 * math.sqrt(math.log(2 / exceeded))


def _protected(counts: Counts, rho1: float, mask: Any) -> Mask:
    """The protected values that occur. Quotients of integers are rounded like rho1 itself, so that ties are ties."""
    if mask is None:
        chosen = counts / counts.sum() <= rho1
    else:
        chosen = np.asarray(mask)
        if chosen.shape != counts.shape or chosen.dtype != np.bool_:
            raise ParameterError(f"protected must be a mask of {len(counts)} booleans, one for each value")
    chosen = np.asarray(chosen & (counts > 0))
    if not chosen.any():
        rare = int(np.argmin(np.where(counts > 0, counts, counts.max())))
        raise ParameterError(
            f"no value that occurs is protected: rho1 = {rho1:.6g}, and the rarest value, {rare}, has {_share(counts, rare)} of the "
            "table; take rho1 at least as large"
        )
    return chosen


def _check_feasible(counts: Counts, protected: Mask, rho1: float, rho2: float) -> None:
    """The whole table must qualify; then some merge does."""
    top = int(np.argmax(np.where(protected, counts, 0)))
    way_out = f"the most frequent protected value, {top}, has {_share(counts, top)} of the table, and any rho2 above that is feasible"
    if not 0 < rho1 < rho2 < 1:
        raise ParameterError(
            f"0 < rho1 < rho2 < 1 must hold, not rho1 = {rho1:.6g}, rho2 = {rho2:.6g}; {way_out} (with a lower rho1)"
        )
    if int(counts[top]) / int(counts.sum()) >= rho2:
        raise ParameterError(f"rho2 = {rho2:.6g} is not above what the table itself tells: {way_out}")


def _share(counts: Counts, value: int) -> str:
    return f"{counts[value]}/{counts.sum()} = {counts[value] / counts.sum():.6g}"


def _member(counts: Counts, values: Iterable[int]) -> Mask:
    """A set of `together` as a mask."""
    chosen = sorted(set(values))
    wrong = [each for each in chosen if not 0 <= each < len(counts)]
    if wrong or not chosen:
        problem = f"there is no value {wrong[0]}" if wrong else "one is empty"
        raise ParameterError(f"a set in together holds indices of values from 0 to {len(counts) - 1}; {problem}")
    mask = np.zeros(len(counts), dtype=bool)
    mask[chosen] = True
    if not counts[~mask].any():
        raise ParameterError(
            f"the set {chosen} in together holds every value that occurs, so that each sub-table, and the whole table, lies inside it; "
            "leave at least one value out"
        )
    return mask


def _given(order: Sequence[int], size: int) -> list[int]:
    if sorted(order) != list(range(size)):
        raise ParameterError(f"order must hold each of the {size} groups once, counted from 0, not {list(order)}")
    return [int(each) for each in order]
