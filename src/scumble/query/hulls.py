"""The hull of several answers to one question: as it is, with the conditions that surely hold, and with those that may (query/settled.py).

The true rows of a line are those of which it is sure, and some of those that may be. So a count, or a sum of numbers of one sign, lies between the two
answers. An average lies between what it is if all rows that may be had the least value, and the most:

    (n a + u least) / (n + u)  <=  average  <=  (n a + u most) / (n + u)         n sure rows with the average a, u others

What is made of aggregates surely lies within what their ends make of it. Of anything else the hull is shown, and not called sure.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from scumble.core.once import once
from scumble.query.aggregates.count import COUNT
from scumble.query.estimates import BOUNDS, STEPS, Estimate, Estimates
from scumble.query.middle import monotone
from scumble.query.model import Aggregate, Query
from scumble.query.possible import Ends, Limits
from scumble.query.within import Within

Numbers = npt.NDArray[np.float64]
Lines = npt.NDArray[np.intp]

COUNTED = "scumble counted {}"
"""The names of the counts that averages are stretched by, while they are asked."""


def with_counts(query: Query) -> Query:
    """The question with a count of the rows of each average."""
    averages = [(i, o) for i, o in enumerate(query.outputs) if isinstance(o, Aggregate) and o.kind == "avg"]
    counts = [Aggregate(COUNTED.format(i), COUNT, o.value) for i, o in averages]
    return replace(query, outputs=[*query.outputs, *counts])


def without_counts(answer: Estimates) -> Estimates:
    """The answer without these."""
    names = [name for name in answer.columns if not name.startswith(COUNTED.format(""))]
    kept = [e for e in answer.estimates if e.name in names]
    return Estimates(names, answer.groups, kept, answer.level, answer.notes)


@dataclass(frozen=True)
class Hull:
    """Aggregates as they are, as they are where conditions surely hold and where they may, and what they can be."""

    query: Query
    own: Estimates
    others: Sequence[Estimates]
    limits: Limits
    unknown: Collection[str] = ()
    """The columns whose values are not known."""

    @once
    def places(self) -> list[Lines]:
        """Where each line is in the others; -1 where it is not."""
        return [_places(self.own, other) for other in self.others]

    @once
    def aggregates(self) -> Estimates:
        """Those with intervals that hold all, line by line; a line that another has not is 0 there."""
        kept = [self._aggregate(i, e) for i, e in zip(self._outputs, self.own.estimates, strict=False)]
        whole = [*kept, *self.own.estimates[len(kept) :]]
        return without_counts(Estimates(self.own.columns, self.own.groups, whole, self.own.level, self.own.notes))

    @property
    def _outputs(self) -> list[int]:
        return [i for i, output in enumerate(self.query.outputs) if isinstance(output, Aggregate)]

    def _aggregate(self, place: int, e: Estimate) -> Estimate:
        ends, kind = self._ends(e, [other[e.name] for other in self.others]), self._kinds[e.name]
        average = self._average(COUNTED.format(place), e) if kind == "avg" else None
        if average is not None:
            ends = np.fmin(ends[0], average[0]), np.fmax(ends[1], average[1])
        sure = kind == "count" or average is not None or (kind == "sum" and self._one_sign(e.name))
        value = self.query.outputs[place]
        moved = isinstance(value, Aggregate) and kind != "count" and self._is_function(value.value)
        return _wider(
            e, ends, sure and not moved and not any(self._is_function(g.expression) for g in self.query.groups)
        )

    def _is_function(self, e: exp.Expression | None) -> bool:
        """Whether something else than a condition, a column or a line of one depends on values that are not known."""
        if e is None or monotone(e) is not None:
            return False
        return any(c.name in self.unknown and not c.find_ancestor(exp.Predicate) for c in e.find_all(exp.Column))

    @property
    def _kinds(self) -> dict[str, str]:
        return {aggregate.name: aggregate.kind for aggregate in self.query.aggregates}

    def _one_sign(self, name: str) -> bool:
        least, most = self.limits.get(name, (np.full(1, -np.inf), np.full(1, np.inf)))
        return bool(np.all((least >= 0) | (most <= 0) | np.isnan(least)))

    def _ends(self, e: Estimate, others: Sequence[Estimate]) -> Ends:
        low = np.fmin.reduce([e.low, *(_at(o.low, at) for o, at in zip(others, self.places, strict=True))])
        high = np.fmax.reduce([e.high, *(_at(o.high, at) for o, at in zip(others, self.places, strict=True))])
        return low, high

    def _average(self, counted: str, e: Estimate) -> Ends | None:
        """The least and the most that an average can be, whichever of the rows count that may."""
        if e.name not in self.limits or counted not in self.own.columns:
            return None
        n, most = (
            np.maximum(_at(other[counted].value, at), 0) for other, at in zip(self.others, self.places, strict=True)
        )
        sure, u = self.others[0][e.name], np.maximum(most - n, 0)
        ends = []
        for limit, end in zip(self.limits[e.name], (sure.low, sure.high), strict=True):
            with np.errstate(invalid="ignore", divide="ignore"):
                known, more = np.where(n > 0, n * _at(end, self.places[0]), 0), np.where(u > 0, u * limit, 0)
                ends.append((known + more) / (n + u))
        return ends[0], ends[1]

    def column(self, e: Estimate, others: Sequence[Estimate], expression: exp.Expression) -> Estimate:
        """What is made of aggregates, with an interval that holds all."""
        ends = self._ends(e, others)
        known = {one.name: (one.low, one.high) for one in self.aggregates.estimates}
        names = {part.name for part in expression.find_all(exp.Var)}
        sure = names <= set(known) and not any(self.aggregates[name].method == BOUNDS for name in names)
        if sure and e.exact:
            low, high = Within(known, len(e.value)).ends(expression)
            sure = bool(np.allclose(low, ends[0], equal_nan=True) and np.allclose(high, ends[1], equal_nan=True))
        return _wider(e, ends, sure)


def _wider(e: Estimate, ends: Ends, sure: bool) -> Estimate:
    low, high = ends
    if np.array_equal(low, e.low, equal_nan=True) and np.array_equal(high, e.high, equal_nan=True):
        return e
    if not e.exact:
        return replace(e, low=low, high=high, spread=True)
    se = np.where((low < high) & (e.se == 0), np.nan, e.se)  # no coin was flipped, and it is not known
    return replace(e, low=low, high=high, method=STEPS if sure else BOUNDS, spread=True, se=se)


def at_least(e: Estimate) -> Estimate:
    """What may be more than it is of published values."""
    return replace(e, high=np.full_like(e.high, np.inf), se=np.full_like(e.se, np.nan), method=STEPS, spread=True)


def hull_of_limits(own: Limits, others: Sequence[tuple[Limits, Lines]]) -> dict[str, Ends]:
    """What holds the limits of all, by the lines of the first; a line that another has not may be 0."""
    limits = {}
    for name, (low, high) in own.items():
        parts = [(limit[name], at) for limit, at in others if name in limit]
        low = np.fmin.reduce([low, *(_at(ends[0], at) for ends, at in parts)])
        high = np.fmax.reduce([high, *(_at(ends[1], at) for ends, at in parts)])
        limits[name] = (low, high)
    return limits


def _at(numbers: Numbers, places: Lines) -> Numbers:
    if not len(numbers):
        return np.zeros(len(places))
    return np.where(places < 0, 0.0, numbers[places])


def _places(answer: Estimates, other: Estimates) -> Lines:
    keys = [tuple(line.values()) for line in other.groups.to_pylist()] if other.groups.num_columns else [()]
    at: Mapping[tuple[object, ...], int] = {key: place for place, key in enumerate(keys)}
    mine = [tuple(line.values()) for line in answer.groups.to_pylist()] if answer.groups.num_columns else [()]
    return np.array([at.get(key, -1) for key in mine], dtype=np.intp)
