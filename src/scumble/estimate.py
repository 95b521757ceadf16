"""Answers: never a bare number, always value, standard error, interval and method."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Numbers = npt.NDArray[np.float64]


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

    @property
    def exact(self) -> bool:
        """Whether there is no uncertainty in it."""
        return self.method == "exact"

    def take(self, order: npt.NDArray[np.intp]) -> "Estimate":
        """The same for some rows, in that order."""
        bound = None if self.bound is None else self.bound[order]
        return Estimate(
            self.name, self.value[order], self.se[order], self.low[order], self.high[order], self.method, bound
        )


class Estimates:
    """An answer: group columns, and for each aggregate `a` the columns a, a_se, a_low, a_high.

    Prints as a table; converts by to_arrow(), to_pandas(), to_polars(), to_list().
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

    def __len__(self) -> int:
        return len(self.estimates[0].value)

    def __getitem__(self, name: str) -> Estimate:
        return next(e for e in self.estimates if e.name == name)

    def to_arrow(self) -> pa.Table:
        """The group columns, then a, a_se, a_low, a_high for each aggregate a; what cannot be said is null."""
        arrays = {name: self.groups.column(name) for name in self.columns if name in self.groups.schema.names}
        for e in self.estimates:
            for suffix, numbers in (("", e.value), ("_se", e.se), ("_low", e.low), ("_high", e.high)):
                arrays[e.name + suffix] = pa.array(numbers, mask=~np.isfinite(numbers))
            if e.bound is not None:
                arrays[f"{e.name}_bound"] = pa.array(e.bound, mask=~np.isfinite(e.bound))
        return pa.table(arrays)

    def to_pandas(self) -> Any:
        """A pandas data frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A Polars data frame."""
        from scumble.extras import need

        return need("polars").from_arrow(self.to_arrow())

    def to_list(self) -> list[dict[str, Any]]:
        """A list of one dictionary for each row."""
        rows: list[dict[str, Any]] = self.to_arrow().to_pylist()
        return rows

    def table(self, most: int = 60) -> tuple[list[str], list[list[str]]]:
        """Headings and texts, for people: value and interval side by side."""
        headings: list[str] = []
        columns: list[list[str]] = []
        for name in self.columns:
            if name in self.groups.schema.names:
                headings.append(name)
                columns.append(
                    ["NULL" if v is None else str(v) for v in self.groups.column(name).slice(0, most).to_pylist()]
                )
            else:
                e = self[name]
                digits = _digits(e)
                headings.append(name)
                columns.append([_number(v, digits) for v in e.value[:most]])
                if not e.exact:
                    headings += ["± se", f"{100 * self.level:g}% interval"]
                    columns.append([_number(v, digits) for v in e.se[:most]])
                    columns.append([_interval(a, b, digits) for a, b in zip(e.low[:most], e.high[:most], strict=True)])
                if e.bound is not None and np.isfinite(e.bound).any():
                    headings.append("suppressed included, at most")
                    columns.append([_number(v, 0) for v in e.bound[:most]])
        return headings, [list(row) for row in zip(*columns, strict=True)]

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

    def __str__(self) -> str:
        headings, rows = self.table()
        widths = [max(len(t) for t in column) for column in zip(headings, *rows, strict=True)]
        numeric = {i for i, h in enumerate(headings) if h not in self.groups.schema.names}
        lines = [
            "  ".join(
                t.rjust(w) if i in numeric else t.ljust(w) for i, (t, w) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in [headings, ["-" * w for w in widths], *rows]
        ]
        return "\n".join([*lines, *self.footer()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        headings, rows = self.table()
        head = "".join(f"<th>{escape(h)}</th>" for h in headings)
        body = "".join("<tr>" + "".join(f"<td>{escape(t)}</td>" for t in row) + "</tr>" for row in rows)
        foot = "".join(f"<p><small>{escape(line)}</small></p>" for line in self.footer())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"


def _digits(estimate: Estimate) -> int:
    """Decimals worth printing: two significant digits of the typical standard error."""
    errors = estimate.se[np.isfinite(estimate.se) & (estimate.se > 0)]
    if len(errors) == 0:
        values = estimate.value[np.isfinite(estimate.value)]
        return 0 if np.all(values == np.rint(values)) else 4
    return int(np.clip(1 - math.floor(math.log10(float(np.median(errors)))), 0, 8))


def _number(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}" if math.isfinite(value) else "-"


def _interval(low: float, high: float, digits: int) -> str:
    return (
        f"[{_number(low, digits)}, {_number(high, digits)}]"
        if math.isfinite(low) and math.isfinite(high)
        else "unbounded"
    )
