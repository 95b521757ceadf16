"""Which balanced groups to merge into sub-tables, and what a sub-table costs.

    error = sum_i |T_i|/|T| a/sqrt(|T_i|) (m_i/(gamma_i - 1) + 1)

The thesis merges neighbours in one arranging order, which is here. Any merge carries the same guarantee, and merge_search.py looks
at all of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Vector

Counts = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Merge = list[list[int]]


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
class SubtableRule:
    """What a sub-table may be, and what it costs."""

    rho2: float
    protected: Mask
    sets: list[Mask]
    guarded: list[bool]
    scale: float

    def measure(self, rows: Counts) -> Measure:
        """The measure of sub-tables given as rows of counts."""
        totals = [rows[:, guarded].sum(axis=1) for guarded in self.sets]
        peaks = [rows[:, guarded].max(axis=1) for guarded in self.sets]
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
        error = np.sqrt(measure.size) * (measure.distinct / np.where(admitted, excess, 1) + 1)
        return self.scale * np.where(measure.size == 0, 0, np.where(admitted, error, np.inf))


def union(groups: Counts, merge: Merge) -> Counts:
    """The counts of each sub-table of a merge."""
    return np.array([groups[members].sum(axis=0) for members in merge])


def error_of(rule: SubtableRule, groups: Counts, merge: Merge) -> float:
    """The expected error of a merge."""
    return math.fsum(rule.cost(rule.measure(union(groups, merge))).tolist())


def cuthill_mckee(groups: Counts) -> list[int]:
    """The Reverse Cuthill-McKee order of the groups, two being neighbours when they share a value: SciPy's."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    holds = csr_array(groups > 0, dtype=np.int64)
    shared = csr_array(holds @ holds.T)
    shared.sort_indices()
    return [int(place) for place in reverse_cuthill_mckee(shared, symmetric_mode=True)]


def merge_neighbours(rule: SubtableRule, groups: Counts, order: Sequence[int]) -> Merge:
    """The best merge of neighbours in the order: dynamic programming over where the last sub-table begins."""
    costs = _run_costs(rule, groups[list(order)])
    best, begin = np.full(len(order) + 1, np.inf), np.zeros(len(order) + 1, dtype=int)
    best[0] = 0
    for start in range(len(order)):
        reached = best[start] + costs[start]
        better = np.flatnonzero(reached < best[start + 1 :])
        best[start + 1 + better], begin[start + 1 + better] = reached[better], start
    merge, end = [], len(order)
    while end:
        merge.append(sorted(order[begin[end] : end]))
        end = int(begin[end])
    return merge


def _run_costs(rule: SubtableRule, groups: Counts) -> list[Vector]:
    """What each run of neighbours costs, by its first group and its last: measured start by start, and priced all at once."""
    runs = _Runs(rule, groups)
    measures = [runs.measure(start) for start in range(len(groups))]
    size, distinct, top = (np.concatenate([m[field] for m in measures]) for field in range(3))
    totals, peaks = (
        [np.concatenate(parts) for parts in zip(*(m[field] for m in measures), strict=True)] for field in (3, 4)
    )
    costs = rule.cost(Measure(size, distinct, top, totals, peaks))
    return np.split(costs, np.cumsum(range(len(groups), 1, -1)))


class _Runs:
    """Measures of all runs of neighbouring groups, from the non-zero cells alone: O(cells) for each start."""

    def __init__(self, rule: SubtableRule, groups: Counts) -> None:
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
        self.totals = [self.before[:, guarded].sum(axis=1) for guarded in rule.sets]

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

        totals, peaks = [since(total) for total in self.totals], [peak(guarded) for guarded in self.rule.sets]
        return Measure(since(self.sizes), np.cumsum(new), peak(self.rule.protected), totals, peaks)
