"""What a published value of a coarsened column stands for.

steps    bins and dates: a value is published as the lower end of its step, which looks like a value of the table and is none
labels   edges, groups, prefixes: a value is published under a name
"""

import datetime as dt
import itertools
import math
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.parameters import number
from scumble.spec.coarsening import coarsen
from scumble.spec.spec import Coarsen

MOST_LISTED = 8
"""Groups, and members of a group, that are listed by name."""

FARTHEST = 2.0**53
"""The number beyond which neighbouring whole numbers are one."""

DAY = dt.timedelta(days=1)
EXAMPLE = dt.date(2020, 5, 20)


@dataclass(frozen=True)
class Steps:
    """A column whose values were published as the lower ends of equal bins, or as the first moments of periods."""

    how: Coarsen
    type: str
    """Of the published column, as Arrow names it."""

    @property
    def dated(self) -> bool:
        """Whether the values are dates or times."""
        return self.how.date is not None

    @property
    def whole(self) -> bool:
        """Whether the values are whole numbers or days, so that a step has a last one."""
        return self.type.startswith("date" if self.dated else ("int", "uint"))

    def value(self, constant: Any) -> Any:
        """A constant of a question as a value of the column; None where it cannot be one, or lies where there are no steps."""
        try:
            if not self.dated:
                value = float(constant)
                return value if abs(value) <= FARTHEST else None
            moment = constant if isinstance(constant, dt.date) else dt.datetime.fromisoformat(str(constant))
        except ValueError:
            return None
        if not dt.MINYEAR < moment.year < dt.MAXYEAR:
            return None
        moment = moment.replace(tzinfo=None) if isinstance(moment, dt.datetime) else _moment(moment)
        return moment.date() if self.whole and moment == _moment(moment.date()) else moment

    def low(self, value: Any) -> Any:
        """The lower end of the step of a value."""
        (label,) = coarsen(pa.array([value]), self.how, "").to_pylist()
        return label.date() if self.whole and isinstance(label, dt.datetime) else label

    def after(self, value: Any) -> Any:
        """The lower end of the step that comes next."""
        low = self.low(value)
        if not self.dated:
            return low + number(self.how.bins, "bins")
        return pc.ceil_temporal(pa.scalar(low), unit=self.how.date, ceil_is_strictly_greater=True).as_py()

    def bound(self, value: Any, *, beyond: bool) -> Any:
        """The first value from a bound on, or the first beyond it; None where values lie close and there is no first beyond."""
        if not self.whole:
            return None if beyond else value
        if self.dated:
            day = value.date() if isinstance(value, dt.datetime) else value
            return day + DAY if beyond or isinstance(value, dt.datetime) else day
        return float(math.floor(value) + 1 if beyond else math.ceil(value))

    @property
    def reach(self) -> float:
        """How far the highest value of a step of numbers lies above its lower end."""
        width = number(self.how.bins, "bins")
        return width - 1 if self.whole else width

    @property
    def single(self) -> bool:
        """Whether each step is one value, so that nothing became coarser."""
        return self.whole and (self.how.date == "day" if self.dated else number(self.how.bins, "bins") == 1)

    def span(self, value: Any) -> str:
        """The step of a value, in words."""
        low, after = self.low(value), self.after(value)
        if not self.whole:
            return f"{shown(low)} to below {shown(after)}"
        return f"{shown(low)} to {shown(after - (DAY if self.dated else 1))}"

    def words(self) -> str:
        """How the column is published, with an example."""
        if self.dated:
            first = self.low(EXAMPLE if self.whole else _moment(EXAMPLE))
            start = "day" if self.whole else "moment"
            return (
                f"as the first {start} of the {self.how.date}, {shown(first)} stands for {self.span(first)}"
                if not self.single
                else "as it is, by days"
            )
        width = number(self.how.bins, "bins")
        return f"in steps of {shown(width)}, {shown(self.low(3.5 * width))} stands for {self.span(3.5 * width)}"


def steps(how: Coarsen, type: str) -> Steps | None:
    """The steps of a column, where it was published in steps that hold more than one value."""
    result = Steps(how, type)
    return None if (how.bins is None and how.date is None) or result.single else result


def labels(how: Coarsen) -> list[str] | None:
    """The names that a column is published under, where these are few and known."""
    if how.edges is not None:
        ends = [how.edges[0] - 1, *how.edges]
        return [str(label) for label in coarsen(pa.array(ends, pa.float64()), how, "").to_pylist()]
    return None if how.groups is None else list(how.groups)


def label_of(how: Coarsen, constant: Any) -> str | None:
    """The name that a value of the table is published under, or None for one that has none."""
    if how.groups is not None:
        return next((label for label, held in how.groups.items() if str(constant) in map(str, held)), None)
    if how.prefix is not None:
        return str(constant)[: how.prefix]
    try:
        return str(coarsen(pa.array([float(constant)]), how, "").to_pylist()[0])
    except ValueError:
        return None


def words(how: Coarsen, type: str) -> str:
    """How a coarsened column is published, and what a published value stands for.

    >>> words(Coarsen(bins=10), "int64")
    'in steps of 10, 30 stands for 30 to 39'
    >>> words(Coarsen(date="month"), "date32[day]")
    'as the first day of the month, 2020-05-01 stands for 2020-05-01 to 2020-05-31'
    >>> words(Coarsen(edges=[18, 65]), "string")
    "as '<18', '[18, 65)' or '>=65': '[18, 65)' stands for 18 to below 65"
    """
    if how.groups is not None:
        sentences = [f"{label!r} stands for {_listed(list(map(str, held)))}" for label, held in how.groups.items()]
        more = f"; and {len(sentences) - MOST_LISTED} more groups" if len(sentences) > MOST_LISTED else ""
        return f"in {len(sentences)} groups: {'; '.join(sentences[:MOST_LISTED])}{more}"
    if how.prefix is not None:
        ends = "character, which stands" if how.prefix == 1 else f"{how.prefix} characters, which stand"
        return f"as its first {ends} for every text that begins so"
    if how.edges is not None:
        *names, last = [repr(label) for label in labels(how) or ()]
        between = next(itertools.pairwise(how.edges), None)
        example = f": {names[1]} stands for {shown(between[0])} to below {shown(between[1])}" if between else ""
        return f"as {', '.join(names)} or {last}{example}"
    return Steps(how, type).words()


def shown(value: Any) -> str:
    """A number or a date, as a question would have it without quotes."""
    if isinstance(value, dt.datetime):
        return str(value.date()) if value == _moment(value.date()) else str(value)
    return str(value) if isinstance(value, dt.date) else f"{value:.12g}"


def _moment(day: dt.date) -> dt.datetime:
    return day if isinstance(day, dt.datetime) else dt.datetime(day.year, day.month, day.day)


def _listed(values: list[str]) -> str:
    more = f" and {len(values) - MOST_LISTED} more" if len(values) > MOST_LISTED else ""
    return ", ".join(values[:MOST_LISTED]) + more
