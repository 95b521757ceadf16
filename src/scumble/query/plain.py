"""A question as it stands, for a table of which nothing was perturbed."""

from collections.abc import Mapping

from sqlglot import exp

from scumble.engines.engine import TABLE
from scumble.engines.expressions import count, select
from scumble.query.aggregates.aggregation import Kind
from scumble.query.model import HIDDEN, Aggregate, Group, Query

FUNCTIONS: dict[Kind, type[exp.AggFunc]] = {"count": exp.Count, "sum": exp.Sum, "avg": exp.Avg}


def plain(query: Query) -> exp.Select:
    """Its columns in their order, as c0, c1 and so on, and behind them n, the rows of each line; without HAVING, ORDER BY and LIMIT.

    A line for each group, also of those that are not shown.
    """
    outputs = {f"c{i}": expression for i, (_, expression, _) in enumerate(columns_of(query))}
    statement = select({**outputs, "n": count()}, TABLE, [query.where] if query.where is not None else [])
    return statement.group_by(*(group.expression.copy() for group in query.groups)) if query.groups else statement


def columns_of(query: Query) -> list[tuple[str, exp.Expression, bool]]:
    """Each column that is shown: its name, what it is in the language of questions, and whether it is a group."""
    if query.derived is None:
        outputs = query.outputs
        return [
            (o.name, value_of(o) if isinstance(o, Aggregate) else o.expression, isinstance(o, Group)) for o in outputs
        ]
    groups = {group.name: group.expression for group in query.groups}
    known = {**groups, **{a.name: value_of(a) for a in query.aggregates}}
    for window in query.derived.windows:
        by = [groups[name].copy() for name in sorted(window.by)]
        known[window.name] = exp.Window(this=exp.Sum(this=known[window.of].copy()), partition_by=by, over="OVER")
    shown = [column for column in query.derived.columns if not column.name.startswith(HIDDEN)]
    return [(c.name, spelt(c.expression, known), c.expression.name in groups) for c in shown]


def spelt(expression: exp.Expression, known: Mapping[str, exp.Expression]) -> exp.Expression:
    """An expression with what its names stand for."""
    root = exp.paren(expression)
    for name in list(root.find_all(exp.Var)):
        name.replace(exp.paren(known[name.name]))
    whole: exp.Expression = root.this
    return whole.pop()


def value_of(aggregate: Aggregate) -> exp.Expression:
    """An aggregate as it is asked of a table of which nothing was perturbed."""
    if aggregate.function is not None and aggregate.value is not None:
        return _of_order(aggregate.function, aggregate.value)
    value = aggregate.value.copy() if aggregate.value is not None else exp.Star()
    return FUNCTIONS[aggregate.kind](this=value)


def _of_order(function: exp.Expression, value: exp.Expression) -> exp.Expression:
    """The same function of another value."""
    other = function.copy()
    if isinstance(other, exp.WithinGroup):
        other.expression.expressions[0].set("this", value.copy())
    elif isinstance(other.this, exp.Distinct):
        other.this.set("expressions", [value.copy()])
    else:
        other.set("this", value.copy())
    return other
