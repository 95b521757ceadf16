"""Counts of values within groups, in sparse form: memory follows the combinations that occur."""

from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.auditing.evidence.publication import Codes


def _narrow(numbers: Codes, largest: int) -> npt.NDArray[Any]:
    """Numbers in no more bytes than the largest needs; signed, so that differences are right."""
    return numbers.astype(np.int32 if largest < 1 << 31 else np.int64)


class ValueCounts:
    """How often each value occurs in each group, in the order of the groups and of the values.

    >>> cells = ValueCounts(np.array([0, 0, 0, 2]), np.array([1, 1, 0, 1]), 2)
    >>> cells.at(np.array([0, 2, 1]), np.array([1, 1, 1])).tolist()
    [2, 1, 0]
    >>> [part.tolist() for part in cells.two_largest(3)]
    [[2, 0, 1], [1, 0, 0], [1, -1, 1]]
    """

    def __init__(self, group: Codes, value: Codes, size: int) -> None:
        self._size = size
        self.cell, times = np.unique(group * size + value, return_counts=True)
        self.times = _narrow(times, len(group))
        self.group = _narrow(self.cell // size, int(group.max(initial=0)))
        self.value = _narrow(self.cell % size, size)

    def at(self, group: Codes, value: Codes) -> Codes:
        """The counts of some cells, 0 where there is none."""
        if not len(self.cell):
            return np.zeros(len(group), dtype=np.int64)
        wanted = group * self._size + value
        place = np.minimum(np.searchsorted(self.cell, wanted), len(self.cell) - 1)
        return np.where(self.cell[place] == wanted, self.times[place], 0)

    def two_largest(self, groups: int) -> tuple[Codes, Codes, Codes]:
        """For each group the largest and the second largest count, and the value that has the largest (-1 in an empty group)."""
        order = np.lexsort((-self.times, self.group))
        start = np.searchsorted(self.group[order], np.arange(groups))
        length = np.bincount(self.group, minlength=groups)
        first, second, whose = np.zeros(groups, np.int64), np.zeros(groups, np.int64), np.full(groups, -1, np.int64)
        there, two = length > 0, length > 1
        first[there], whose[there] = self.times[order][start[there]], self.value[order][start[there]]
        second[two] = self.times[order][start[two] + 1]
        return first, second, whose
