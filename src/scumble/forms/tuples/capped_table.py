"""A published table of a capped release: what its tuples stand for."""

from dataclasses import dataclass

import numpy as np

from scumble.forms.tuples.linear import Floats
from scumble.mechanisms.kept_columns import KeptColumn

PLACE = "scumble place"
"""The column of counted tuples that says which table one is of."""


@dataclass(frozen=True)
class CappedTable:
    """A table of a capped release: what is known of the tuples that stayed in it, and how many of them were published."""

    column: KeptColumn | None
    value: float
    variance: float
    """That of the noise alone."""

    @property
    def factor(self) -> float:
        """How many tuples a published one stands for; 1 where that is not known, so that a count is a lower count."""
        return 1.0 if self.column is None else self.column.factor

    def scaled(self, numbers: Floats, noise: Floats) -> tuple[Floats, Floats]:
        """What published tuples stand for, and how uncertain that is, with the choice of columns."""
        if self.column is None:
            return numbers, noise
        return self.factor * numbers, self.factor**2 * noise + self.column.sampling * np.maximum(numbers, 0)

    def beyond(self, count: Floats, variance: Floats, rows: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """F (matching + rows (K - B)), a count if all suppressed tuples had so many rows that match, and its variance.

        count, variance   of what is published and matches, with the choice of columns

        Then the least and the most that a count can be, if tuples that match had the smallest or the largest weights of all.
        """
        column = self.column
        assert column is not None
        found = count / self.factor
        square = np.maximum(rows, 1) * found
        noise = np.maximum(variance - column.sampling * square, 0) / self.factor**2
        rest = np.where(rows > 1, noise + rows**2 * self.variance, np.where(rows > 0, self.variance - noise, noise))
        value = self.factor * (found + rows * (column.kept - self.value))
        spread = column.beyond(found, square, np.maximum(rest, 0), self.value, rows)
        each, missing = np.maximum(rows, 1), np.maximum(column.kept - self.value, 0)
        least = each * column.extreme(np.maximum(found, 0) / each, heaviest=False)
        most = each * column.extreme(np.maximum(found, 0) / each + np.minimum(rows, 1) * missing, heaviest=True)
        return value, spread, least, most
