"""A question as it stands, for a table of which nothing was perturbed."""

from sqlglot import exp

from scumble.engines.engine import TABLE
from scumble.engines.expressions import count, select
from scumble.query.aggregates.aggregation import Kind
from scumble.query.parse import Aggregate, Query

FUNCTIONS: dict[Kind, type[exp.AggFunc]] = {"count": exp.Count, "sum": exp.Sum, "avg": exp.Avg}


def plain(query: Query) -> exp.Select:
    """Its columns in their order, as c0, c1 and so on, and behind them n, the rows of each line; without ORDER BY and LIMIT.

    A line for each group, also of those that are not shown.
    """
    outputs = {f"c{i}": _value(o) if isinstance(o, Aggregate) else o.expression for i, o in enumerate(query.outputs)}
    statement = select({**outputs, "n": count()}, TABLE, [query.where] if query.where is not None else [])
    return statement.group_by(*(group.expression.copy() for group in query.groups)) if query.groups else statement


def _value(aggregate: Aggregate) -> exp.Expression:
    value = aggregate.value.copy() if aggregate.value is not None else exp.Star()
    return FUNCTIONS[aggregate.kind](this=value)
