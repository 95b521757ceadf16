"""Counts of values within groups, in sparse form: memory follows the combinations that occur."""

import numpy as np

from scumble.audit.exhibit import Codes


class Cells:
    """How often each value occurs in each group, in the order of the groups and of the values.

    >>> cells = Cells(np.array([0, 0, 0, 2]), np.array([1, 1, 0, 1]), 2)
    >>> cells.at(np.array([0, 2, 1]), np.array([1, 1, 1])).tolist()
    [2, 1, 0]
    >>> [part.tolist() for part in cells.two_largest(3)]
    [[2, 0, 1], [1, 0, 0], [1, -1, 1]]
    """

    def __init__(self, group: Codes, value: Codes, size: int) -> None:
        self._size = size
        self._cells, self.times = np.unique(group * size + value, return_counts=True)
        self.group, self.value = self._cells // size, self._cells % size

    def at(self, group: Codes, value: Codes) -> Codes:
        """The counts of some cells, 0 where there is none."""
        if not len(self._cells):
            return np.zeros(len(group), dtype=np.int64)
        wanted = group * self._size + value
        place = np.minimum(np.searchsorted(self._cells, wanted), len(self._cells) - 1)
        return np.where(self._cells[place] == wanted, self.times[place], 0)

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
