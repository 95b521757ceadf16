"""The best merge of balanced groups that need not be neighbours: any merge carries the same guarantee (docs/proofs/partition.md).

Up to EXACT groups every merge is compared. Beyond, groups and whole sub-tables are moved about, from several arranging orders, until no move helps.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Vector
from scumble.mechanisms.partitioned.merge import (
    Counts,
    Mask,
    Measure,
    Merge,
    SubtableRule,
    error_of,
    merge_neighbours,
    union,
)

Places = npt.NDArray[np.intp]
Find = Callable[[int], tuple[int, int] | None]

EXACT = 12
"""Up to so many groups every merge is compared, at 3^t; beyond, a local search starts from several arranging orders."""

WORK = 200_000_000
"""Counts that a local search may look at; a few sweeps over 300 groups of 1,000 values, and no limit in practice at 50 values."""

CHUNK = 1 << 16
"""Counts that are looked at together, where they are made for that: few enough to stay in the cache."""


def search(rule: SubtableRule, groups: Counts, reference: Merge) -> Merge:
    """The best merge of groups that need not be neighbours: exactly for few groups, else by local search."""
    if len(groups) <= EXACT:
        merges = [_best_merge(rule, groups)]
    else:
        starts = [reference, merge_neighbours(rule, groups, range(len(groups)))]
        merges = [_improve(rule, groups, start) for start in starts]
    return min(reference, *merges, key=lambda merge: error_of(rule, groups, merge))


def _best_merge(rule: SubtableRule, groups: Counts) -> Merge:
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


def _improve(rule: SubtableRule, groups: Counts, merge: Merge) -> Merge:
    """Groups, and whole sub-tables, move to where the error falls most, until no move helps or WORK is done."""
    blocks = _Blocks(rule, groups, merge)
    while blocks.looked < WORK and (blocks.move_groups() | blocks.move_blocks()):
        pass
    return [np.flatnonzero(blocks.label == block).tolist() for block in np.unique(blocks.label)]


class _Blocks:
    """A merge in the making: the block of each group, the blocks' counts (one is always empty) and their costs.

        joined[b, g]     what block b costs with group g added
        without[g]       what the block of group g costs without it

    A move changes two blocks, so two rows of `joined` are priced anew and nothing else, all groups at once and from their own cells alone:
    what a group does not have, it does not change in a block.
    """

    def __init__(self, rule: SubtableRule, groups: Counts, merge: Merge) -> None:
        self.rule, self.groups = rule, groups
        self.looked = 0
        self.alone = rule.measure(groups)
        position, self.value = np.nonzero(groups)
        self.count = groups[position, self.value]
        self.first = np.searchsorted(position, np.arange(len(groups)))
        self.label = np.zeros(len(groups), dtype=int)
        for block, members in enumerate(merge):
            self.label[members] = block
        self.rows = np.vstack([union(groups, merge), np.zeros_like(groups[:1])])
        self.cost = self._price(self.rows)
        self.joined = self._join(self.rows)
        self.without = self._price(self.rows[self.label] - groups)

    def move_groups(self) -> bool:
        """Move each group in turn, if that lowers the error; whether any moved."""
        return self._in_turn(self._move_of_group, lambda group: np.array([group]))

    def move_blocks(self) -> bool:
        """Join each block in turn to another, if that lowers the error; whether any was joined."""
        return self._in_turn(self._move_of_block, lambda block: np.flatnonzero(self.label == block))

    def _in_turn(self, find: Find, members: Callable[[int], Places]) -> bool:
        first, moved = 0, False
        while self.looked < WORK and (move := find(first)) is not None:
            self._move(members(move[0]), move[1])
            first, moved = move[0] + 1, True
        return moved

    def _move_of_group(self, first: int) -> tuple[int, int] | None:
        """The first group, from a given one on, whose move lowers the error, and the block where it then falls most."""
        home = self.label[first:]
        change = self.joined[:, first:] - self.cost[:, np.newaxis] + (self.without[first:] - self.cost[home])
        return self._first_helped(change, home, first)

    def _move_of_block(self, first: int) -> tuple[int, int] | None:
        """The same for whole blocks, of which as many are looked at together as fit into CHUNK."""
        step = max(1, CHUNK // self.rows.size)
        for start in range(first, len(self.rows), step):
            home = np.arange(start, min(start + step, len(self.rows)))
            pairs = self.rows[:, np.newaxis] + self.rows[home]
            cost = self._price(pairs.reshape(-1, self.rows.shape[1])).reshape(pairs.shape[:2])
            move = self._first_helped(cost - self.cost[:, np.newaxis] - self.cost[home], home, start)
            if move is not None:
                return move
        return None

    def _first_helped(self, change: Vector, home: Places, first: int) -> tuple[int, int] | None:
        """The first column in which the error falls by more than rounding, and the row where it falls most; home is no move."""
        change[home, np.arange(len(home))] = 0
        helped = np.flatnonzero(change.min(axis=0, initial=0) <= -1e-12 * self.cost.sum())
        return (first + int(helped[0]), int(np.argmin(change[:, helped[0]]))) if len(helped) else None

    def _move(self, unit: Places, target: int) -> None:
        """Move groups of one block to another one."""
        home, moved = int(self.label[unit[0]]), self.groups[unit].sum(axis=0)
        both = [home, target]
        self.label[unit] = target
        self.rows[both] += np.stack([-moved, moved])
        members = np.flatnonzero((self.label == home) | (self.label == target))
        priced = self._price(np.vstack([self.rows[both], self.rows[self.label[members]] - self.groups[members]]))
        self.cost[both], self.without[members] = priced[:2], priced[2:]
        self.joined[both] = self._join(self.rows[both])
        if self.rows.any(axis=1).all():
            empty = np.zeros_like(self.rows[:1])
            self.joined = np.vstack([self.joined, self._join(empty)])
            self.rows, self.cost = np.vstack([self.rows, empty]), np.append(self.cost, 0)

    def _price(self, rows: Counts) -> Vector:
        self.looked += rows.size
        return self.rule.cost(self.rule.measure(rows))

    def _join(self, rows: Counts) -> Vector:
        """What each row costs with each group added."""
        held = rows[:, self.value]
        self.looked += held.size

        def plus(own: Counts, added: Counts) -> Counts:
            return np.asarray(own[:, np.newaxis] + added)

        def peak(own: Counts, mask: Mask) -> Counts:
            grown = np.where(mask[self.value], held + self.count, 0)
            return np.maximum(own[:, np.newaxis], np.maximum.reduceat(grown, self.first, axis=1))

        own = self.rule.measure(rows)
        new = np.add.reduceat(held == 0, self.first, axis=1, dtype=np.int64)
        return self.rule.cost(
            Measure(
                plus(own.size, self.alone.size),
                own.distinct[:, np.newaxis] + new,
                peak(own.top, self.rule.protected),
                [plus(a, b) for a, b in zip(own.totals, self.alone.totals, strict=True)],
                [peak(a, mask) for a, mask in zip(own.peaks, self.rule.sets, strict=True)],
            )
        )
