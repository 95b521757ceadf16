"""Answers: never a bare number, always value, standard error, interval and method."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.display import Card, Grid, Note, Shown, Whisker, cell
from scumble.core.errors import did_you_mean

Numbers = npt.NDArray[np.float64]

STEPS = "steps"
"""The method of what is computed from public columns alone, some of them published in steps: it surely lies within its interval."""
WHOLE = 1e-9
"""How far a whole number may be off by the arithmetic, in parts of it, and still be printed as one."""
BOUNDS = "bounds"
"""The method of the same where the interval holds the answers at both ends of steps, and not surely the truth between."""
PUBLISHED = "published"
"""The method of what is exact for rows that were published; with those that were suppressed it surely lies within its interval."""


SURE = {STEPS: "surely within", PUBLISHED: "surely within", BOUNDS: "at both bounds"}
"""How intervals are called that are no matter of chance."""


@dataclass(frozen=True)
class Estimate:
    """One aggregate of an answer, for every row; NaN where there is none."""

    name: str
    value: Numbers
    se: Numbers
    low: Numbers
    high: Numbers
    method: str
    bound: Numbers | None = None
    """The most that it can be among all rows, where some of them were suppressed."""
    least: Numbers | None = None
    """The least, where suppressed rows can make it smaller."""
    spread: bool = False
    """Whether its interval reaches farther than coins do, because numbers were published in steps."""

    @property
    def exact(self) -> bool:
        """Whether there is no uncertainty in it."""
        return self.method == "exact"

    @property
    def certain(self) -> bool:
        """Whether its interval is no matter of chance."""
        return self.method in SURE

    @property
    def bounded(self) -> bool:
        """Whether some row has such a bound."""
        return self.bound is not None and bool(np.isfinite(self.bound).any())

    @property
    def digits(self) -> int:
        """Decimals worth printing: two significant digits of the typical standard error, or of how far sure bounds lie apart."""
        errors = (self.high - self.low) / 2 if self.method in (STEPS, BOUNDS) else self.se
        errors = errors[np.isfinite(errors) & (errors > 0)]
        if len(errors) == 0:
            values = self.value[np.isfinite(self.value)]
            return 0 if np.all(np.abs(values - np.rint(values)) <= WHOLE * (1 + np.abs(values))) else 4
        return int(np.clip(1 - math.floor(math.log10(float(np.median(errors)))), 0, 8))

    def take(self, order: npt.NDArray[np.intp]) -> "Estimate":
        """The same for some rows, in that order."""
        bound, least = (None if ends is None else ends[order] for ends in (self.bound, self.least))
        value, se, low, high = (numbers[order] for numbers in (self.value, self.se, self.low, self.high))
        return Estimate(self.name, value, se, low, high, self.method, bound, least, self.spread)


class Estimates(Shown):
    """An answer: group columns, and for each aggregate `a` the columns a, a_se, a_low, a_high.

    Prints as a table; converts by to_arrow(), to_pandas(), to_polars(), to_list().
    Iterates over its rows, each a dictionary; answer[0] is the first row, and answer["a"] the estimate of an aggregate.
    """

    def __init__(
        self,
        columns: Sequence[str],
        groups: pa.Table,
        estimates: Sequence[Estimate],
        level: float,
        notes: Sequence[str],
    ) -> None:
        self.columns = list(columns)
        """The names of groups and aggregates, in the order of the SELECT list."""
        self.groups = groups
        self.estimates = list(estimates)
        self.level = level
        """How often an interval holds the truth, over the coins of the publication."""
        self.notes = list(notes)

    @property
    def labels(self) -> list[str]:
        """The columns that lines are told apart by."""
        return [name for name in self.columns if name in self.groups.column_names]

    def __len__(self) -> int:
        return len(self.estimates[0].value) if self.estimates else int(self.groups.num_rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_list())

    @overload
    def __getitem__(self, name: str) -> Estimate: ...

    @overload
    def __getitem__(self, name: int) -> dict[str, Any]: ...

    def __getitem__(self, name: str | int) -> Estimate | dict[str, Any]:
        if isinstance(name, int):
            return self.to_list()[name]
        for estimate in self.estimates:
            if estimate.name == name:
                return estimate
        known = [estimate.name for estimate in self.estimates]
        raise KeyError(f"the answer has no aggregate {name!r}{did_you_mean(name, known)}")

    def take(self, lines: npt.NDArray[np.intp]) -> "Estimates":
        """Some of the rows, in that order."""
        groups = self.groups.take(pa.array(lines)) if self.groups.num_columns else self.groups
        return Estimates(self.columns, groups, [e.take(lines) for e in self.estimates], self.level, self.notes)

    def to_arrow(self) -> pa.Table:
        """The group columns, then a, a_se, a_low, a_high for each aggregate a; what cannot be said is null."""
        arrays = {name: self.groups.column(name) for name in self.columns if name in self.groups.schema.names}
        for e in self.estimates:
            for suffix, numbers in (("", e.value), ("_se", e.se), ("_low", e.low), ("_high", e.high)):
                arrays[e.name + suffix] = pa.array(numbers, mask=~np.isfinite(numbers))
            for suffix, ends in (("_least", e.least), ("_bound", e.bound)):
                if ends is not None:
                    arrays[e.name + suffix] = pa.array(ends, mask=~np.isfinite(ends))
        return pa.table(arrays)

    def to_pandas(self) -> Any:
        """A pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A Polars data frame."""
        from scumble.core.extras import need

        return need("polars").from_arrow(self.to_arrow())

    def to_csv(self) -> str:
        """Lines of comma-separated values, with the names first; what cannot be said is empty."""
        out = io.StringIO()
        lines = csv.DictWriter(out, self.to_arrow().column_names, lineterminator="\n")
        lines.writeheader()
        lines.writerows(self.to_list())
        return out.getvalue()

    def to_markdown(self) -> str:
        """A table for documents, value and interval side by side, with the notes below it."""
        grid = self.grid(len(self))
        sides = [":--" if place in grid.left else "--:" for place in range(len(grid.headings))]
        rows = [grid.headings, sides, *grid.rows]
        table = ["| " + " | ".join(cell(text).replace("|", "\\|") for text in row) + " |" for row in rows]
        return "\n".join([*table, "", *(f"{line}  " for line in self.footer(len(self)))]).rstrip() + "\n"

    def to_excel(self, path: str | Path) -> None:
        """A sheet of an Excel file (needs pandas and openpyxl)."""
        from scumble.core.extras import need

        need("pandas")
        need("openpyxl")
        self.to_pandas().to_excel(path, index=False)

    def plot(self, path: str | Path | None = None, *, column: str | None = None, overwrite: bool = False) -> Any:
        """An Altair chart with an interval for every estimate: bars, a line over numbers and days, a cross-table of two groups.

        path       a file to write it to as well: .svg, .png, or .html with the table below it
        column     the one to draw; all of them, below each other, where none is named
        overwrite  whether a file that exists is replaced
        """
        from scumble.query.plotted import chart_of, write

        chart = chart_of(self, column)
        if path is not None:
            write(chart, self, Path(path), overwrite)
        return chart

    def to_list(self) -> list[dict[str, Any]]:
        """A list of one dictionary for each row."""
        rows: list[dict[str, Any]] = self.to_arrow().to_pylist()
        return rows

    def grid(self, most: int = 60) -> Grid:
        """The first rows as texts, for people: value and interval side by side."""
        columns: list[tuple[str, list[str]]] = []
        words: list[int] = []
        whiskers: dict[int, list[Whisker]] = {}
        for name in self.columns:
            if name in self.groups.schema.names:
                words.append(len(columns))
                values = self.groups.column(name).slice(0, most).to_pylist()
                columns.append((name, ["NULL" if v is None else str(v) for v in values]))
                continue
            e = self[name]
            columns += _columns(e, self.level, most)
            if not e.exact and len(self) > 1:
                whiskers[len(columns) - 1 - (e.bounded and not e.certain)] = _whiskers(e, most)
        headings, texts = zip(*columns, strict=True)
        return Grid(headings, list(zip(*texts, strict=True)), words, whiskers)

    def footer(self, most: int = 60) -> list[str]:
        """What stands below the table."""
        lines = [f"({len(self) - most} more rows)"] if len(self) > most else []
        exact = [e.name for e in self.estimates if e.exact]
        if exact:
            lines.append(
                f"{', '.join(exact)}: exact, computed from public columns alone"
                if len(exact) < len(self.estimates)
                else "exact: computed from public columns alone"
            )
        return lines + [f"note: {note}" for note in self.notes]

    def card(self, most: int = 60) -> Card:
        """The table, in a notebook with its intervals drawn beside the numbers, and what stands below it."""
        return Card("", [self.grid(most), *(Note(line, "faint") for line in self.footer(most))])


def _columns(e: Estimate, level: float, most: int) -> list[tuple[str, list[str]]]:
    """An aggregate's headings and texts."""
    digits = e.digits
    ends = [_interval(a, b, digits) for a, b in zip(e.low[:most], e.high[:most], strict=True)]
    shown = zip(e.value[:most], e.low[:most], e.high[:most], strict=True)
    columns = [(e.name, [_beside_bound(*line, digits) for line in shown])]
    if e.exact:
        return columns
    if e.certain:
        return [*columns, (SURE[e.method], ends)]
    columns.append(("± se", [_number(v, digits) for v in e.se[:most]]))
    columns.append((f"{100 * level:g}% interval", ends))
    if e.bound is None or not e.bounded:
        return columns
    if e.least is None:
        return [*columns, ("suppressed included, at most", [_number(v, 0) for v in e.bound[:most]])]
    ends = [_interval(a, b, digits) for a, b in zip(e.least[:most], e.bound[:most], strict=True)]
    return [*columns, ("suppressed included", ends)]


def _whiskers(e: Estimate, most: int) -> list[Whisker]:
    """The intervals of all rows on one scale, which has zero on it."""
    ends = np.concatenate([[0.0], e.low[:most], e.high[:most]])
    ends = ends[np.isfinite(ends)]
    numbers = zip(e.value[:most], e.low[:most], e.high[:most], strict=True)
    return [Whisker(float(v), float(a), float(b), float(ends.min()), float(ends.max())) for v, a, b in numbers]


def _number(value: float, digits: int) -> str:
    return f"{value:z,.{digits}f}" if math.isfinite(value) else "-"


def outside(e: Estimate) -> list[bool]:
    """The rows whose estimate lies beyond what is possible, as far as printed digits tell."""
    digits = e.digits
    return [_side(*line, digits) != "" for line in zip(e.value, e.low, e.high, strict=True)]


def _side(value: float, low: float, high: float, digits: int) -> str:
    """On which side of an interval a number lies: what the arithmetic or a rounding leaves of it is none."""
    if value < low and _number(value, digits) != _number(low, digits):
        return "at least"
    return "at most" if value > high and _number(value, digits) != _number(high, digits) else ""


def _beside_bound(value: float, low: float, high: float, digits: int) -> str:
    """A number, and the bound where it lies beyond what is possible.

    >>> _beside_bound(5, 0, 9, 0), _beside_bound(-12, 0, 9, 0), _beside_bound(1.2, 0.5, 1, 1)
    ('5', '-12 (at least 0)', '1.2 (at most 1.0)')
    >>> _beside_bound(20 - 1e-14, 20, 20, 0), _beside_bound(-0.3, 0, 9, 0)
    ('20', '0')
    """
    side = _side(value, low, high, digits)
    bound = low if side == "at least" else high
    return f"{_number(value, digits)} ({side} {_number(bound, digits)})" if side else _number(value, digits)


def _interval(low: float, high: float, digits: int) -> str:
    """Both ends, or the one that is known.

    >>> _interval(1, 2, 0), _interval(1, math.inf, 0), _interval(-math.inf, math.inf, 0), _interval(math.nan, math.nan, 0)
    ('[1, 2]', 'at least 1', 'unbounded', '-')
    """
    if math.isfinite(low) and math.isfinite(high):
        return f"[{_number(low, digits)}, {_number(high, digits)}]"
    if math.isnan(low) or math.isnan(high):
        return "-"
    if math.isfinite(low):
        return f"at least {_number(low, digits)}"
    return f"at most {_number(high, digits)}" if math.isfinite(high) else "unbounded"
