"""A column cut into few parts that a page can show: its commonest values, or ranges of a number. Each part is a condition in SQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.core.errors import InputError, NotEstimable
from scumble.core.scale import grid_of, points_of
from scumble.reporting.figure import text
from scumble.reporting.subject import Subject

MOST_VALUES = 2000
"""Different values of a public column, above which it is not looked at."""


@dataclass(frozen=True)
class Slice:
    """One value, or a range of values."""

    label: str
    where: exp.Expression
    key: Any
    """The value, or the number of the range."""


@dataclass(frozen=True)
class Axis:
    """The parts of a column that are shown, and how many of its values are not."""

    name: str
    parts: Sequence[Slice]
    left_out: int = 0
    ranges: bool = False

    @property
    def number(self) -> exp.Expression:
        """The number of a row's part as an expression, to group by."""
        cases = [exp.If(this=part.where.copy(), true=exp.Literal.number(i)) for i, part in enumerate(self.parts)]
        return exp.Case(ifs=cases, default=exp.Literal.number(len(self.parts)))


def protected_axis(subject: Subject, name: str, most: int) -> Axis:
    """The parts of a protected column: the values that are commonest by the estimate, or ranges where it is a number with many values."""
    domain = subject.domains.get(name)
    grid = grid_of(domain) if domain is not None else None
    if domain is not None and grid is not None and grid.size > most:
        points = grid.numbers
        starts = points[np.unique(np.linspace(0, grid.size, most + 1).astype(int)[:-1])]
        return Axis(name, _ranges(name, starts, whole=pa.types.is_integer(domain.type)), ranges=True)
    if domain is not None and (held := points_of(domain)) is not None and held[0] > most:
        starts = domain.values.take(np.unique(np.linspace(0, held[0], most + 1).astype(int)[:-1]))
        return Axis(name, _ranges_of_days(name, starts.to_pylist()), ranges=True)
    estimates = subject.ask([exp.column(name, quoted=True)])
    if not len(estimates):
        raise NotEstimable("nothing of it was published, because every combination of its values is rare")
    order = np.argsort(-estimates.estimates[0].value, kind="stable")
    values = estimates.groups.column(0).to_pylist()
    if domain is not None and points_of(domain) is not None:
        order = np.arange(len(values))
    parts = [Slice(text(values[i]), _equal(name, values[i]), values[i]) for i in order[:most]]
    return Axis(name, parts, len(values) - len(parts))


def public_axis(subject: Subject, name: str, most: int) -> Axis | None:
    """The parts of a column that was published as it is; None where it has a single value, or too many that are no numbers."""
    column = exp.column(name, quoted=True)
    try:
        counts = subject.published([column], MOST_VALUES)
    except InputError:
        return None
    if counts is None or len(counts) < 2:
        return None
    values = [key[0] for key in counts]
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    if len(values) > most and numbers:
        order = np.argsort(values)
        points, rows = np.array(values, dtype=np.float64)[order], np.array(list(counts.values()))[order]
        starts = points[_alike(rows, most)]
        return Axis(name, _ranges(name, starts, whole=bool(np.all(points % 1 == 0))), ranges=True)
    if len(values) > 12 * most:
        return None
    chosen = sorted(counts, key=lambda key: -counts[key])[:most]
    chosen.sort(key=lambda key: (key[0] is None, str(type(key[0])), key[0] if key[0] is not None else 0))
    return Axis(name, [Slice(text(key[0]), _equal(name, key[0]), key[0]) for key in chosen], len(values) - len(chosen))


def _equal(name: str, value: Any) -> exp.Expression:
    """The condition that a column has a value."""
    column = exp.column(name, quoted=True)
    if value is None:
        return exp.Is(this=column, expression=exp.null())
    return exp.EQ(
        this=column, expression=exp.convert(value if isinstance(value, bool | int | float | str | date) else str(value))
    )


def _ranges(name: str, starts: npt.NDArray[np.float64], whole: bool) -> list[Slice]:
    column = exp.column(name, quoted=True)
    ends = [*starts[1:].tolist(), None]
    parts = []
    for i, (start, end) in enumerate(zip(starts.tolist(), ends, strict=True)):
        low = exp.GTE(this=column.copy(), expression=_number(start, whole))
        if end is None:
            where: exp.Expression = low
            label = f"{start:,.10g} and over"
        else:
            high = exp.LT(this=column.copy(), expression=_number(end, whole))
            where = exp.and_(low, high) if i else high
            label = f"{start:,.10g} to {end - 1:,.10g}" if whole else f"{start:,.10g} to below {end:,.10g}"
            label = f"{start:,.10g}" if whole and end - 1 == start else label
        parts.append(Slice(label, where, i))
    return parts


def _ranges_of_days(name: str, starts: list[date]) -> list[Slice]:
    column = exp.column(name, quoted=True)
    parts = []
    for i, start in enumerate(starts):
        where: exp.Expression = exp.GTE(this=column.copy(), expression=exp.convert(start))
        label = f"{start} and later"
        if i + 1 < len(starts):
            where = exp.and_(where, exp.LT(this=column.copy(), expression=exp.convert(starts[i + 1])))
            label = f"{start} to {starts[i + 1] - timedelta(days=1)}"
        parts.append(Slice(label, where, i))
    return parts


def _number(value: float, whole: bool) -> exp.Expression:
    return exp.convert(int(value) if whole else float(value))


def _alike(rows: npt.NDArray[np.float64], most: int) -> npt.NDArray[np.intp]:
    """Where ranges of about as many rows each begin."""
    before = np.concatenate([[0], np.cumsum(rows)[:-1]]) / rows.sum()
    return np.unique(np.searchsorted(before, np.arange(most) / most - 1e-9))
