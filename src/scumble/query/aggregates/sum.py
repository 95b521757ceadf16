"""SUM(value)."""

from sqlglot import exp

from scumble.query.aggregates.aggregation import Aggregation


def read(function: exp.Expression) -> exp.Expression | None:
    """The value that is added up."""
    value: exp.Expression = function.this
    return value


SUM = Aggregation("sum", "sum", read)
