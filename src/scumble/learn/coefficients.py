"""The table of a fitted model: coefficients with standard errors, intervals, z and p."""

import math
from typing import Any

import numpy.typing as npt
import pyarrow as pa

from scumble.core.display import Card, Grid, Note, Whisker
from scumble.core.parameters import plain
from scumble.query.estimates import Estimates
from scumble.query.tested import P, Tested, chance

TERM, COEFFICIENT, Z = "term", "coef", "z"
DIGITS = 2
"""Significant digits of a standard error."""


class Coefficients(Tested):
    """An answer with a line for each term of a model: coef, coef_se, coef_low, coef_high, z and p."""

    title = ""
    """What was fitted on what."""

    def take(self, lines: npt.NDArray[Any]) -> "Coefficients":
        """Some of the lines, in that order."""
        part = Estimates.take(self, lines)
        taken = Coefficients(part.columns, part.groups, part.estimates, part.level, part.notes)
        taken.title = self.title
        return taken

    @property
    def labels(self) -> list[str]:
        """The column that lines are told apart by."""
        return [TERM]

    def to_arrow(self) -> pa.Table:
        """term, coef, coef_se, coef_low, coef_high, z and p."""
        table = Estimates.to_arrow(self)
        return table.select([name for name in table.column_names if name not in (Z, P)] + [Z, P])

    def grid(self, most: int = 60) -> Grid:
        """The first lines as texts, each with the digits that its own error leaves worth printing."""
        lines = self.to_list()[:most]
        rows = [[line[TERM], *_texts(line)] for line in lines]
        headings = [TERM, COEFFICIENT, "± se", Z, P, f"{100 * self.level:g}% interval"]
        return Grid(headings, rows, [0], {5: _whiskers(lines)})

    def card(self, most: int = 60) -> Card:
        """What was fitted, the table, and what to know of it."""
        return Card(self.title, [self.grid(most), *(Note(line, "faint") for line in self.footer(most))])


def _texts(line: dict[str, Any]) -> list[str]:
    """The numbers of a line.

    >>> _texts({"coef": 0.31234, "coef_se": 0.0123, "z": 25.39, "p": 1e-9, "coef_low": 0.288, "coef_high": 0.336})
    ['0.312', '0.012', '25.39', '< 0.0001', '[0.288, 0.336]']
    >>> _texts({"coef": 12000.0, "coef_se": 0.0, "z": None, "p": None, "coef_low": 12000.0, "coef_high": 12000.0})
    ['12,000', '0', '-', '-', '[12,000, 12,000]']
    """
    error = line["coef_se"]
    if not error:
        value = plain(line["coef"])
        return [value, "0", "-", "-", f"[{value}, {value}]"]
    digits = min(12, max(0, DIGITS - 1 - math.floor(math.log10(error))))
    coef, se, low, high = (f"{line[name]:z,.{digits}f}" for name in ("coef", "coef_se", "coef_low", "coef_high"))
    return [coef, se, f"{line[Z]:.2f}", chance(line[P]), f"[{low}, {high}]"]


def _whiskers(lines: list[dict[str, Any]]) -> list[Whisker]:
    """The intervals in standard errors, on one scale that has 0 on it: coefficients have units of their own, z has none."""
    ends = [
        [line[name] / (line["coef_se"] or math.inf) for name in ("coef", "coef_low", "coef_high")] for line in lines
    ]
    start, end = min(0.0, *(low for _, low, _ in ends)), max(0.0, *(high for *_, high in ends))
    return [Whisker(value, low, high, start, end, 0.0) for value, low, high in ends]
