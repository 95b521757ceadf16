"""Questions that name values of the table, where a release has put values together: they are answered at the merged value.

A literal that is compared with a merged column, in WHERE, in a group or inside of an aggregate, is replaced by what its value was published as. For intervals of numbers, published
as their lower end, the same works for <, <=, > and >=: the interval of the literal is taken whole or left out whole.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from sqlglot import exp

from scumble.query.middle import Spread, monotone
from scumble.query.model import Aggregate, Group, Query, written
from scumble.query.settled import Around, Named
from scumble.spec.steps import shown

COMPARISONS = (
    exp.EQ,
    exp.NEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.In,
    exp.Between,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Nullif,
)

Renaming = Mapping[str, Callable[[Any], Any]]

Ends = Sequence[tuple[float, float]]
"""Of numbers that were put together, the smallest, which is published, and the largest."""


Members = Sequence[tuple[Any, Sequence[Any]]]
"""Published values, and those of the table that each stands for."""


def in_lists(members: Members) -> Named:
    """What names stand for that were put together."""
    held = {published: {*values, published} for published, values in members}
    names = {value: published for published, values in held.items() for value in values}
    return Named(lambda value: names.get(value, value), lambda values, name: held.get(name, {name}) <= set(values))


def in_spread(spread: Spread | None) -> Around:
    """What numbers stand for that were put together: all up to the largest, each published as the smallest."""
    own = spread or Spread()
    return Around(lambda c: c, lambda c: exp.Add(this=c, expression=own.above(c, 1.0)))


def notes_of_sums(query: Query, merged: Mapping[str, Ends]) -> list[str]:
    """What a sum or an average of numbers that were put together is of."""
    notes = []
    for aggregate in query.aggregates:
        column = monotone(aggregate.value) if aggregate.kind not in ("count", "distinct") else None
        if aggregate.value is not None and column is not None and column.name in merged:
            low, high = max(merged[column.name], key=lambda ends: ends[1] - ends[0])
            notes.append(
                f"{column.name} was published with values put together, {shown(low)} stands for {shown(low)} to {shown(high)}: "
                f"{aggregate.how.name.upper()}({written(aggregate.value)}) takes each in the middle; the interval covers every place, which ± se does not count"
            )
    return notes


def at_merged(query: Query, merged: Renaming) -> tuple[Query, list[str]]:
    """The question in published values, and notes that say what became what."""
    if not merged:
        return query, []
    notes = dict[str, None]()
    where = None if query.where is None else _published(query.where, merged, notes)
    groups = [_output(group, merged, notes) for group in query.groups]
    outputs = [_output(output, merged, notes) for output in query.outputs]
    return replace(query, where=where, groups=groups, outputs=outputs), list(notes)


Output = TypeVar("Output", bound=Aggregate | Group)


def _output(output: Output, merged: Renaming, notes: dict[str, None]) -> Output:
    """A column of the answer whose conditions are in published values."""
    if isinstance(output, Group):
        return replace(output, expression=_published(output.expression, merged, notes))
    return output if output.value is None else replace(output, value=_published(output.value, merged, notes))


def _published(expression: exp.Expression, merged: Renaming, notes: dict[str, None]) -> exp.Expression:
    """The same with the literals of its comparisons, and of CASE column WHEN literal, as they were published."""
    root = exp.Paren(this=expression.copy())  # so that what is replaced has a parent
    for comparison in list(root.find_all(*COMPARISONS)):
        if (
            comparison.find(exp.Case) is None
        ):  # what a CASE gives is no value of a column; its own conditions come by themselves
            _rename(comparison, [comparison], merged, notes)
    for case in list(root.find_all(exp.Case)):
        if case.this is not None:
            _rename(case.this, [branch.this for branch in case.args["ifs"]], merged, notes)
    inner: exp.Expression = root.this
    return inner.pop()


def _rename(of: exp.Expression, parts: Sequence[exp.Expression], merged: Renaming, notes: dict[str, None]) -> None:
    """Literals in some parts, where one merged column is what they are compared with."""
    names = {column.name for column in of.find_all(exp.Column)}
    if len(names) != 1 or (name := names.pop()) not in merged:
        return
    published = merged[name]
    for literal in [literal for part in parts for literal in part.find_all(exp.Literal, exp.Neg)]:
        if isinstance(literal.parent, exp.Neg):
            continue
        value = _value(literal)
        became = published(value)
        if became != value:
            notes[
                f"{name}: {value!r} was published together with others, as {became!r}; they are counted all or not at all"
            ] = None
            literal.replace(exp.convert(became))


def _value(literal: exp.Expression) -> Any:
    if isinstance(literal, exp.Neg):
        return -_value(literal.this)
    if literal.is_string:
        return literal.this
    return int(literal.this) if literal.is_int else float(literal.this)
