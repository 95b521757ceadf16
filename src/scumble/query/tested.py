"""The answer of a test: differences with their intervals, or a statistic, and p-values at the end of each row."""

from typing import Any

import numpy.typing as npt
import pyarrow as pa

from scumble.core.display import Grid
from scumble.query.estimates import Estimates

P = "p"
"""The name of the column of p-values."""


class Tested(Estimates):
    """An answer with a column `p`: how likely so large a difference is where there is none."""

    @property
    def labels(self) -> list[str]:
        """The columns that lines are told apart by."""
        return [name for name in super().labels if name != P]

    def take(self, lines: npt.NDArray[Any]) -> "Tested":
        """Some of the rows, in that order."""
        part = super().take(lines)
        return Tested(part.columns, part.groups, part.estimates, part.level, part.notes)

    def to_arrow(self) -> pa.Table:
        """As of every answer, with p at the end."""
        table = super().to_arrow()
        return table.select([name for name in table.column_names if name != P] + [P])

    def grid(self, most: int = 60) -> Grid:
        """The first rows as texts; p with two digits, as it is read."""
        grid = super().grid(most)
        place = list(grid.headings).index(P)
        rows = [[*row[:place], chance(float(row[place])), *row[place + 1 :]] for row in grid.rows]
        return Grid(grid.headings, rows, [i for i in grid.left if i != place], grid.whiskers)


def chance(p: float) -> str:
    """A p-value.

    >>> [chance(p) for p in (0.51234, 0.0312, 0.00042, 3e-9, float("nan"))]
    ['0.51', '0.031', '0.00042', '< 0.0001', '-']
    """
    if p != p:
        return "-"
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"
