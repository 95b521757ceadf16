"""Sums and averages of columns that were published in steps: each value is taken as the middle of its step, the interval reaches to both ends.

A value v that was published as the lower end l of a step of width w lies between l and u = l + w (l + w - 1 for whole numbers). Whatever place
values have in their steps, for an expression E that rises or falls with v all the way

    SUM(E(v)) lies between SUM(E(l)) and SUM(E(u)),      AVG(E(v)) between AVG(E(l)) and AVG(E(u))

and the same where numbers were put together and published as the smallest of them, u the largest. So the question is asked three times in one: in
the middles, which is the answer, at the lower and at the upper ends, whose intervals hold its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from sqlglot import exp

from scumble.engines.expressions import double
from scumble.query.estimates import STEPS, Estimate, Estimates
from scumble.query.model import Aggregate, Group, Query


@dataclass(frozen=True)
class Spread:
    """How far above a published number the values lie that it stands for, at most."""

    reach: float = 0.0
    """Of every number."""
    further: tuple[tuple[float, float], ...] = ()
    """Numbers that stand for others too: how much further these lie."""

    def above(self, column: exp.Expression, part: float) -> exp.Expression:
        """A part of the way from the lower ends to the upper ones, by row."""
        plain = _double(self.reach * part)
        if not self.further:
            return plain
        ifs = [exp.If(this=exp.convert(low), true=_double((self.reach + more) * part)) for low, more in self.further]
        return exp.Case(this=column.copy(), ifs=ifs, default=plain)


def _double(value: float) -> exp.Expression:
    return double(exp.convert(value))


ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div)
ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE)
ENDS = ("scumble lower {}", "scumble upper {}")
"""The names of an aggregate at the ends, while it is asked."""


def in_middles(query: Query, columns: Mapping[str, Spread]) -> tuple[Query, int]:
    """The question with its sums and averages of stepped columns in the middles, those at the ends behind, and how many these are.

    columns   those whose published numbers stand for others above them too
    """
    ends = [
        replace(output, name=name.format(place), value=_shifted(output.value, own, part))
        for place, output in enumerate(query.outputs)
        if isinstance(output, Aggregate) and output.value is not None and (own := _spread(output, columns)) is not None
        for name, part in zip(ENDS, (0.0, 1.0), strict=True)
    ]
    return replace(query, outputs=[*at_middles(query, columns).outputs, *ends]), len(ends)


def at_middles(query: Query, columns: Mapping[str, Spread]) -> Query:
    """The question with its sums and averages of stepped columns at the middles of steps."""
    together = query.derived is not None
    return replace(query, outputs=[_at_middle(output, columns, together) for output in query.outputs])


def _at_middle(output: Aggregate | Group, columns: Mapping[str, Spread], together: bool) -> Aggregate | Group:
    """An aggregate at the middles; one of several that an answer is made of whatever its expression is, so that all are of the same numbers."""
    if isinstance(output, Group) or output.value is None or output.kind in ("count", "distinct"):
        return output
    if (own := _spread(output, columns)) is not None:
        return replace(output, value=_shifted(output.value, own, 0.5))
    if not together:
        return output
    moved = exp.paren(output.value)
    for column in [c for c in moved.find_all(exp.Column) if c.name in columns and not c.find_ancestor(exp.Predicate)]:
        column.replace(exp.paren(exp.Add(this=column.copy(), expression=columns[column.name].above(column, 0.5))))
    return replace(output, value=moved.this)


def monotone(value: exp.Expression | None) -> exp.Column | None:
    """The column that an expression is a rising or falling line of: one column, and constants that are added, subtracted, multiplied or divided by."""
    inner = value.unnest() if isinstance(value, exp.Expression) else None
    if isinstance(inner, exp.Column):
        return inner
    if isinstance(inner, exp.Neg):
        return monotone(inner.this)
    if not isinstance(inner, ARITHMETIC):
        return None
    left, right = inner.this, inner.expression
    if _constant(right):
        return None if isinstance(inner, exp.Div) and _zero(right) else monotone(left)
    return monotone(right) if _constant(left) and not isinstance(inner, exp.Div) else None


def _zero(constant: exp.Expression) -> bool:
    return not any(float(literal.this) for literal in constant.find_all(exp.Literal))


def slope(value: exp.Expression) -> float:
    """By how much a line rises with its column."""
    inner = value.unnest()
    if isinstance(inner, exp.Column):
        return 1.0
    if isinstance(inner, exp.Neg):
        return -slope(inner.this)
    left, right = inner.this, inner.expression
    line, constant = (left, right) if left.find(exp.Column) else (right, left)
    if isinstance(inner, exp.Mul):
        return slope(line) * _number(constant)
    if isinstance(inner, exp.Div):
        return slope(line) / _number(constant)
    return -slope(line) if isinstance(inner, exp.Sub) and line is right else slope(line)


def _number(constant: exp.Expression) -> float:
    inner = constant.unnest()
    return -_number(inner.this) if isinstance(inner, exp.Neg) else float(inner.this)


def _constant(side: exp.Expression) -> bool:
    inner = side.unnest()
    return _constant(inner.this) if isinstance(inner, exp.Neg) else isinstance(inner, exp.Literal) and inner.is_number


def _spread(aggregate: Aggregate, columns: Mapping[str, Spread]) -> Spread | None:
    """What the numbers of the column stand for that is summed or averaged."""
    column = monotone(aggregate.value) if aggregate.kind not in ("count", "distinct") else None
    return columns.get(column.name) if column is not None else None


def _shifted(value: exp.Expression, own: Spread, part: float) -> exp.Expression:
    """The same of numbers that lie a part of the way up."""
    moved = exp.paren(value)
    for column in list(moved.find_all(exp.Column)):
        column.replace(exp.paren(exp.Add(this=column.copy(), expression=own.above(column, part))))
    return moved.this


def put_together(answer: Estimates, ends: int) -> Estimates:
    """The answer without the ends, which stand last, and whose intervals are in those of the others."""
    shown, reached = answer.columns[:-ends], {e.name: e for e in answer.estimates[-ends:]}
    kept = [_widened(e, *_ends(shown.index(e.name), reached)) for e in answer.estimates[:-ends]]
    return Estimates(shown, answer.groups, kept, answer.level, answer.notes)


def _ends(place: int, reached: Mapping[str, Estimate]) -> list[Estimate]:
    return [reached[name] for end in ENDS if (name := end.format(place)) in reached]


def _widened(middle: Estimate, *ends: Estimate) -> Estimate:
    if not ends:
        return middle
    low, high = np.min([e.low for e in ends], axis=0), np.max([e.high for e in ends], axis=0)
    most, least = ([end for e in ends if (end := getattr(e, part)) is not None] for part in ("bound", "least"))
    return replace(
        middle,
        low=low,
        high=high,
        method=STEPS if middle.exact else middle.method,
        bound=np.max(most, axis=0) if most else None,
        least=np.min(least, axis=0) if least else None,
        spread=True,
    )
