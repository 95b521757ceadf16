"""Questions to numbers that were put on the nearest point of a grid: a value lies up to a reach from its published point, either way.

A condition E(v) < b, with E a rising or falling line of the value v, may be met by some values of a point g and not by others. All of them meet it
where both ends g - reach and g + reach do, and some may where one of them does. So the question is asked twice more, with the conditions that surely
hold and with those that may, and the answer is the hull of the three: its interval holds the table's own answer wherever values lie around their points.

A sum of values lies up to reach times its rows from the sum of their points, and an average up to the reach; so far the interval is stretched.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from scumble.engines.expressions import double
from scumble.query.aggregates.count import COUNT
from scumble.query.estimates import STEPS, Estimate, Estimates
from scumble.query.middle import monotone
from scumble.query.model import Aggregate, Group, Query, written
from scumble.spec.steps import shown

Reaches = Mapping[str, float]
"""Columns that were rounded, and how far at most."""

ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE)
COMPARED = (*ORDERED, exp.EQ, exp.NEQ, exp.In, exp.Between)


def notes_of(query: Query, reaches: Reaches) -> list[str]:
    """What to know of an answer about rounded columns, one note for each."""
    return [note for name, reach in reaches.items() if (note := _note(query, name, reach))]


def _note(query: Query, name: str, reach: float) -> str:
    compared = [written(one) for one in _comparisons(query) if _about(one, {name: reach}) is not None]
    summed = [one for one in query.aggregates if one.kind != "count" and _names(one.value, name)]
    lines = [one for one in summed if _moves(one, {name: reach}) > 0]
    others = [one for one in summed if one not in lines and not _compared_in(one.value)]
    grouped = [group for group in query.groups if _names(group.expression, name)]
    parts = (
        [f"{', '.join(dict.fromkeys(compared))} may fall between two, so the interval takes both"] if compared else []
    )
    parts += [f"the interval of {_asked(lines)} covers every place around a point"] if lines else []
    parts += [f"THE INTERVAL OF {_asked(others)} DOES NOT COUNT IT"] if others else []
    parts += ["a group has the values around its point"] if grouped else []
    if not parts:
        return ""
    return f"{name} was rounded, by up to {shown(reach)} either way: {'; '.join(parts)} (± se does not count that)"


def _asked(aggregates: Sequence[Aggregate]) -> str:
    return ", ".join(f"{one.kind.upper()}({written(one.value)})" for one in aggregates if one.value is not None)


def _compared_in(expression: exp.Expression | None) -> bool:
    return expression is not None and expression.find(*COMPARED) is not None


def _names(expression: exp.Expression | None, name: str) -> bool:
    return expression is not None and any(column.name == name for column in expression.find_all(exp.Column))


def _comparisons(query: Query) -> list[exp.Expression]:
    parts = [query.where, *(o.value if isinstance(o, Aggregate) else o.expression for o in query.outputs)]
    return [one for part in parts if part is not None for one in part.find_all(*COMPARED)]


ROWS = "scumble rows of a sum"
"""The name of the count that sums are stretched by, while it is asked."""


def with_rows(query: Query, reaches: Reaches) -> tuple[Query, Callable[[Estimates], Estimates]]:
    """The question with a count of its rows where a rounded column is summed, and what stretches the answer."""
    moved = {one.name: (one.kind, by) for one in query.aggregates if (by := _moves(one, reaches)) > 0}
    summed = any(kind == "sum" for kind, _ in moved.values())
    counts = [Aggregate(ROWS, COUNT, None)] if summed else []

    def undo(answer: Estimates) -> Estimates:
        rows = np.maximum(answer[ROWS].high, 0) if summed else np.ones(len(answer))
        kept = [
            _stretched(e, moved[e.name][1] * (rows if moved[e.name][0] == "sum" else 1)) if e.name in moved else e
            for e in answer.estimates
            if e.name != ROWS
        ]
        columns = [name for name in answer.columns if name != ROWS]
        return Estimates(columns, answer.groups, kept, answer.level, answer.notes)

    return replace(query, outputs=[*query.outputs, *counts]), undo


def _moves(aggregate: Aggregate, reaches: Reaches) -> float:
    """How far one row's value may lie from what is summed."""
    column = monotone(aggregate.value) if aggregate.kind in ("sum", "avg", "quantile") else None
    if aggregate.value is None or column is None or column.name not in reaches:
        return 0.0
    return abs(_slope(aggregate.value)) * reaches[column.name]


def _slope(value: exp.Expression) -> float:
    """By how much a line rises with its column."""
    inner = value.unnest()
    if isinstance(inner, exp.Column):
        return 1.0
    if isinstance(inner, exp.Neg):
        return -_slope(inner.this)
    left, right = inner.this, inner.expression
    line, constant = (left, right) if left.find(exp.Column) else (right, left)
    if isinstance(inner, exp.Mul):
        return _slope(line) * _number(constant)
    if isinstance(inner, exp.Div):
        return _slope(line) / _number(constant)
    return _slope(line)  # added or subtracted; which sign it has makes no difference to how far


def _number(constant: exp.Expression) -> float:
    inner = constant.unnest()
    return -_number(inner.this) if isinstance(inner, exp.Neg) else float(inner.this)


def _stretched(own: Estimate, by: Any) -> Estimate:
    method = STEPS if own.exact else own.method
    return replace(own, low=own.low - by, high=own.high + by, method=method, spread=True)


def variants(query: Query, reaches: Reaches) -> list[Query]:
    """The question with conditions that surely hold, and with those that may; none where no rounded column is compared."""
    if not any(_about(one, reaches) is not None for one in _comparisons(query)):
        return []
    return [_variant(query, reaches, may) for may in (False, True)]


def _variant(query: Query, reaches: Reaches, may: bool) -> Query:
    def group(one: Group) -> Group:
        return replace(one, expression=_loosened(one.expression, reaches, may))

    def output(one: Aggregate | Group) -> Aggregate | Group:
        if isinstance(one, Group):
            return group(one)
        return one if one.value is None else replace(one, value=_loosened(one.value, reaches, may))

    where = None if query.where is None else _loosened(query.where, reaches, may)
    outputs, groups = [output(one) for one in query.outputs], [group(one) for one in query.groups]
    return replace(query, where=where, outputs=outputs, groups=groups)


def _loosened(expression: exp.Expression, reaches: Reaches, may: bool) -> exp.Expression:
    """The expression with each comparison as it may hold, or as it surely does; below NOT the other way round."""
    root = exp.Paren(this=expression.copy())
    for one in [one for one in root.find_all(*COMPARED) if _about(one, reaches) is not None]:
        turned = sum(isinstance(above, exp.Not) for above in _above(one)) % 2 == 1
        one.replace(exp.paren(_settled(one, reaches, may != turned)))
    changed: exp.Expression = root.this
    return changed.pop()


def _above(expression: exp.Expression) -> list[exp.Expression]:
    parents, parent = [], expression.parent
    while parent is not None:
        parents.append(parent)
        parent = parent.parent
    return parents


def _about(comparison: exp.Expression, reaches: Reaches) -> exp.Expression | None:
    """The side that is a line of a rounded column, where the other side has none."""
    sides = [comparison.this, comparison.args.get("expression")]
    for side, other in (sides, sides[::-1]):
        column = monotone(side) if isinstance(side, exp.Expression) else None
        rest = other if isinstance(other, exp.Expression) else None
        if column is not None and column.name in reaches and not (rest is not None and _any(rest, reaches)):
            return side
    return None


def _any(expression: exp.Expression, reaches: Reaches) -> bool:
    return any(_names(expression, name) for name in reaches)


def _settled(comparison: exp.Expression, reaches: Reaches, may: bool) -> exp.Expression:
    if isinstance(comparison, exp.Between):
        low = exp.GTE(this=comparison.this, expression=comparison.args["low"])
        high = exp.LTE(this=comparison.this, expression=comparison.args["high"])
        return exp.and_(_settled(low, reaches, may), _settled(high, reaches, may))
    if isinstance(comparison, exp.In):
        equal = [exp.EQ(this=comparison.this.copy(), expression=value.copy()) for value in comparison.expressions]
        return exp.or_(*(_settled(one, reaches, may) for one in equal)) if equal else comparison.copy()
    if isinstance(comparison, exp.NEQ):
        return exp.not_(exp.paren(_settled(exp.EQ(**comparison.args), reaches, not may)))
    if isinstance(comparison, exp.EQ):
        ends = [kind(this=comparison.this, expression=comparison.expression) for kind in (exp.GTE, exp.LTE)]
        return exp.and_(*(_settled(end, reaches, True) for end in ends)) if may else exp.false()
    below, above = (_moved(comparison, reaches, sign) for sign in (-1, 1))
    return exp.or_(below, above) if may else exp.and_(below, above)


def _moved(comparison: exp.Expression, reaches: Reaches, sign: int) -> exp.Expression:
    """The comparison at one end of what a point stands for."""
    copy = comparison.copy()
    for column in [column for column in copy.find_all(exp.Column) if column.name in reaches]:
        shift = double(exp.convert(sign * reaches[column.name]))
        column.replace(exp.paren(exp.Add(this=column.copy(), expression=shift)))
    return copy


def hull(answer: Estimates, others: list[Estimates]) -> Estimates:
    """The answer with intervals that hold those of the others too, line by line; a line that another has not is 0 there."""
    if not others:
        return answer
    places = [_places(answer, other) for other in others]
    kept = [_hull(e, [(o[e.name], at) for o, at in zip(others, places, strict=True)]) for e in answer.estimates]
    return Estimates(answer.columns, answer.groups, kept, answer.level, answer.notes)


def _places(answer: Estimates, other: Estimates) -> npt.NDArray[np.intp]:
    """Where each line of an answer is in another; -1 where it is not."""
    keys = [tuple(line.values()) for line in other.groups.to_pylist()] if other.groups.num_columns else [()]
    at = {key: place for place, key in enumerate(keys)}
    mine = [tuple(line.values()) for line in answer.groups.to_pylist()] if answer.groups.num_columns else [()]
    return np.array([at.get(key, -1) for key in mine], dtype=np.intp)


def _hull(own: Estimate, others: list[tuple[Estimate, npt.NDArray[np.intp]]]) -> Estimate:
    def at(part: str, far: Callable[..., npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
        numbers = [np.append(getattr(e, part), 0.0)[place] for e, place in others]  # place -1 is the 0 at the end
        return np.asarray(far.reduce([getattr(own, part), *numbers]))  # type: ignore[attr-defined]

    method = STEPS if own.exact else own.method
    return replace(own, low=at("low", np.fmin), high=at("high", np.fmax), method=method, spread=True)
