"""Questions that name values of the table, where a release has put values together: they are answered at the merged value.

A literal that is compared with a merged column is replaced by what its value was published as. For intervals of numbers, published
as their lower end, the same works for <, <=, > and >=: the interval of the literal is taken whole or left out whole.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from scumble.query.middle import monotone
from scumble.query.parse import Query, written
from scumble.spec.steps import shown

COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between)

Renaming = Mapping[str, Callable[[Any], Any]]

Ends = Sequence[tuple[float, float]]
"""Of numbers that were put together, the smallest, which is published, and the largest."""


def notes_of_sums(query: Query, merged: Mapping[str, Ends]) -> list[str]:
    """What a sum or an average of numbers that were put together is of."""
    found = []
    for aggregate in query.aggregates:
        column = monotone(aggregate.value) if aggregate.kind != "count" else None
        if aggregate.value is not None and column is not None and column.name in merged:
            low, high = max(merged[column.name], key=lambda ends: ends[1] - ends[0])
            found.append(
                f"{column.name} was published with values put together, {shown(low)} stands for {shown(low)} to {shown(high)}: "
                f"{aggregate.kind.upper()}({written(aggregate.value)}) takes each in the middle; the interval covers every place, which ± se does not count"
            )
    return found


def at_merged(query: Query, merged: Renaming) -> tuple[Query, list[str]]:
    """The question in published values, and notes that say what became what."""
    if query.where is None or not merged:
        return query, []
    where, notes = query.where.copy(), dict[str, None]()
    for comparison in list(where.find_all(*COMPARISONS)):
        names = {column.name for column in comparison.find_all(exp.Column)}
        if len(names) == 1 and (name := names.pop()) in merged:
            _rename(comparison, name, merged[name], notes)
    return replace(query, where=where), list(notes)


def _rename(comparison: exp.Expression, name: str, published: Callable[[Any], Any], notes: dict[str, None]) -> None:
    for literal in list(comparison.find_all(exp.Literal, exp.Neg)):
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
