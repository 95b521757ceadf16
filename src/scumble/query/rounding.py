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
from sqlglot import exp

from scumble.engines.expressions import amount
from scumble.query.aggregates.count import COUNT
from scumble.query.deviations import spreads_of
from scumble.query.estimates import STEPS, Estimate, Estimates
from scumble.query.middle import ORDERED, monotone
from scumble.query.model import Aggregate, Query, written
from scumble.query.settled import Around, moves
from scumble.spec.steps import shown

Reaches = Mapping[str, float]
"""Columns that were rounded, and how far at most."""

COMPARED = (*ORDERED, exp.EQ, exp.NEQ, exp.In, exp.Between)


def around(reach: float) -> Around:
    """What a published point stands for: all within its reach."""

    def moved(column: exp.Expression, sign: int) -> exp.Expression:
        return exp.Add(this=column, expression=amount(sign * reach))

    return Around(lambda column: moved(column, -1), lambda column: moved(column, 1))


def notes_of(query: Query, reaches: Reaches) -> list[str]:
    """What to know of an answer about rounded columns, one note for each."""
    return [note for name, reach in reaches.items() if (note := _note(query, name, reach))]


def _note(query: Query, name: str, reach: float) -> str:
    compared = [written(one) for one in _comparisons(query) if _about(one, {name: reach}) is not None]
    summed = [one for one in query.aggregates if one.kind != "count" and _names(one.value, name)]
    lines = [one for one in summed if _moves(one, {name: reach}) > 0]
    spread = {part.name for column in spreads_of(query) for part in column.expression.find_all(exp.Var)}
    others = [one for one in summed if one not in lines and not _compared_in(one.value) and one.name not in spread]
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
    if aggregate.value is None or aggregate.kind not in ("sum", "avg", "quantile"):
        return 0.0
    return moves(aggregate.value, reaches)


def _stretched(own: Estimate, by: Any) -> Estimate:
    method = STEPS if own.exact else own.method
    return replace(own, low=own.low - by, high=own.high + by, method=method, spread=True)


def _about(comparison: exp.Expression, reaches: Reaches) -> exp.Expression | None:
    """The side that is a line of a rounded column, where the other side has none."""
    sides = [comparison.this, comparison.args.get("expression")]
    for side, other in (sides, sides[::-1]):
        column = monotone(side) if isinstance(side, exp.Expression) else None
        rest = other if isinstance(other, exp.Expression) else None
        if column is not None and column.name in reaches and not any(_names(rest, name) for name in reaches):
            return side
    return None
