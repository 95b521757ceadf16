"""Which balanced groups to merge into sub-tables, and what a sub-table costs.

    error = sum_i |T_i|/|T| a/sqrt(|T_i|) (m_i/(gamma_i - 1) + 1)

The thesis merges neighbours in one arranging order. Any merge carries the same guarantee, so here all are searched: exactly up
to EXACT groups, beyond by moving groups about. Why that is allowed: docs/proofs/partition.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scumble.channel import Vector

Counts = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Merge = list[list[int]]

EXACT = 12
"""Up to so many groups every merge is compared, at 3^t; beyond, a local search starts from several arranging orders."""

WORK = 200_000_000
"""Counts that a local search may look at; a few sweeps over 300 groups of 1,000 values, and no limit in practice at 50 values."""


class Measure(NamedTuple):
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
class Rule:
    """What a sub-table may be, and what it costs."""

    rho2: float
    protected: Mask
    sets: list[Mask]
    guarded: list[bool]
    scale: float

    def measure(self, rows: Counts) -> Measure:
        """The measure of sub-tables given as rows of counts."""
        totals = [rows[:, each].sum(axis=1) for each in self.sets]
        peaks = [rows[:, each].max(axis=1) for each in self.sets]
        distinct = (rows > 0).sum(axis=1, dtype=np.int64)  # count_nonzero spends most of its time on types here
        return Measure(rows.sum(axis=1), distinct, rows[:, self.protected].max(axis=1), totals, peaks)

    def excess(self, measure: Measure) -> Vector:
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

    def cost(self, measure: Measure) -> Vector:
        """The share of sub-tables in the error; infinite where one is not admitted, 0 where it is empty."""
        excess = self.excess(measure)
        admitted = 1 + excess > 1
        each = np.sqrt(measure.size) * (measure.distinct / np.where(admitted, excess, 1) + 1)
        return self.scale * np.where(measure.size == 0, 0, np.where(admitted, each, np.inf))


def union(groups: Counts, merge: Merge) -> Counts:
    """The counts of each sub-table of a merge."""
    return np.array([groups[each].sum(axis=0) for each in merge])


def error_of(rule: Rule, groups: Counts, merge: Merge) -> float:
    """The expected error of a merge."""
    return math.fsum(rule.cost(rule.measure(union(groups, merge))).tolist())


def cuthill_mckee(groups: Counts) -> list[int]:
    """The Reverse Cuthill-McKee order of the groups, two being neighbours when they share a value: SciPy's."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    holds = csr_array(groups > 0, dtype=np.int64)
    shared = csr_array(holds @ holds.T)
    shared.sort_indices()
    return [int(each) for each in reverse_cuthill_mckee(shared, symmetric_mode=True)]


def merge_neighbours(rule: Rule, groups: Counts, order: Sequence[int]) -> Merge:
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

    def __init__(self, rule: Rule, groups: Counts) -> None:
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

    def measure(self, start: int) -> Measure:
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
        return Measure(since(self.sizes), np.cumsum(new), peak(self.rule.protected), totals, peaks)


def search(rule: Rule, groups: Counts, reference: Merge) -> Merge:
    """The best merge of groups that need not be neighbours: exactly for few groups, else by local search."""
    if len(groups) <= EXACT:
        found = [_best_merge(rule, groups)]
    else:
        starts = [reference, merge_neighbours(rule, groups, range(len(groups)))]
        found = [_improve(rule, groups, each) for each in starts]
    return min(reference, *found, key=lambda each: error_of(rule, groups, each))


def _best_merge(rule: Rule, groups: Counts) -> Merge:
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


def _improve(rule: Rule, groups: Counts, merge: Merge) -> Merge:
    """Groups, and whole sub-tables, move to where the error falls most, until no move helps or WORK is done."""
    blocks = _Blocks(rule, groups, merge)
    for _ in range(WORK // (len(groups) * blocks.rows.size)):
        if not blocks.sweep():
            break
    return [np.flatnonzero(blocks.label == block).tolist() for block in np.unique(blocks.label)]


class _Blocks:
    """A merge in the making: the block of each group, the blocks' counts (one is always empty) and their costs."""

    def __init__(self, rule: Rule, groups: Counts, merge: Merge) -> None:
        self.rule, self.groups = rule, groups
        self.label = np.zeros(len(groups), dtype=int)
        for block, members in enumerate(merge):
            self.label[members] = block
        self.rows = np.vstack([union(groups, merge), np.zeros_like(groups[:1])])
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
