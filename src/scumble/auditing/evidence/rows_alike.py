"""Rows that a model is fitted on or tested by, those with the same public values together: what is believed of one of them is believed of all, so it is computed once.

Of a group with beliefs p, and a row of it that shows kind k, with L_k(x) how likely that is if the true value is x:

    chance of the row  c_k = sum_x p(x) L_k(x)          its slope  s_k(x) = p(x) L_k(x) / c_k - p(x)

Where true values are known, L_k is 1 at k and 0 elsewhere: n_x rows with value x, of n in the group, have the slopes n_x - n p(x) and the squares n_x (1 - 2 p(x)) + n p(x)^2 in sum. No row is looked at.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from scumble.auditing.evidence.column_law import Numbers
from scumble.auditing.evidence.publication import Codes


@dataclass(frozen=True, eq=False)
class RowsAlike(ABC):
    """Groups of rows, and in each group the kinds of what its rows show."""

    at: Codes
    """One row of each group."""
    owner: Codes
    """Of each kind in a group the group, ascending."""
    kind: Codes
    count: Numbers
    """How many rows of the group are of that kind."""

    @classmethod
    def of(cls, rows: npt.NDArray[np.intp], group: Codes, kind: Codes, kinds: int) -> Self:
        """Some rows of a table, each with its group and the kind of what it shows."""
        _, first, owner = np.unique(group[rows], return_index=True, return_inverse=True)
        cell, count = np.unique(owner * kinds + kind[rows], return_counts=True)
        return cls(rows[first], cell // kinds, cell % kinds, count.astype(np.float64))

    def mean_log(self, chances: Numbers) -> float:
        """The mean over rows of the logarithm of their chances."""
        total = self.count.sum()
        return float(self.count @ np.log(np.maximum(chances, 1e-300)) / total) if total else 0.0

    @abstractmethod
    def chances(self, beliefs: Numbers) -> Numbers:
        """How likely each kind of row is, by the beliefs about its group."""

    @abstractmethod
    def slopes(self, beliefs: Numbers) -> tuple[Numbers, Numbers]:
        """The sums over the rows of each group of their slopes, by value; and those of the slopes' squares."""


class KnownRows(RowsAlike):
    """Rows whose true values are known: the kind is the value."""

    def chances(self, beliefs: Numbers) -> Numbers:
        """How likely each kind of row is."""
        return np.asarray(beliefs[self.owner, self.kind])

    def slopes(self, beliefs: Numbers) -> tuple[Numbers, Numbers]:
        """Sums of slopes and of their squares, by group and value."""
        rows = np.bincount(self.owner, self.count, len(beliefs))[:, np.newaxis]
        expected = rows * beliefs
        sums, squares = -expected, expected * beliefs
        sums[self.owner, self.kind] += self.count
        squares[self.owner, self.kind] += self.count * (1 - 2 * beliefs[self.owner, self.kind])
        return sums, squares


@dataclass(frozen=True, eq=False)
class ShownRows(RowsAlike):
    """Rows of which is known what they show."""

    table: Numbers = field(default_factory=lambda: np.zeros((0, 0)))
    """Of each kind the likelihood of each value."""

    def told_by(self, table: Numbers) -> Self:
        """The same rows, with the likelihood of each value by kind."""
        return replace(self, table=table)

    def chances(self, beliefs: Numbers) -> Numbers:
        """How likely each kind of row is."""
        return np.asarray((beliefs[self.owner] * self.table[self.kind]).sum(axis=1))

    def slopes(self, beliefs: Numbers) -> tuple[Numbers, Numbers]:
        """Sums of slopes and of their squares, by group and value."""
        before = beliefs[self.owner]
        slope = before * self.table[self.kind]
        slope /= np.maximum(slope.sum(axis=1, keepdims=True), 1e-300)
        slope -= before
        starts = np.searchsorted(self.owner, np.arange(len(beliefs)))
        weighted = slope * self.count[:, np.newaxis]
        sums = np.add.reduceat(weighted, starts, axis=0)
        weighted *= slope
        return sums, np.add.reduceat(weighted, starts, axis=0)
