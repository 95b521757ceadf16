"""COUNT(*) and COUNT(value)."""

from sqlglot import exp

from scumble.query.aggregates.aggregation import Aggregation


def read(function: exp.Expression) -> exp.Expression | None:
    """The value that is to be there; a number always is."""
    value = function.this
    return None if value is None or isinstance(value, exp.Star) or value.is_number else value


COUNT = Aggregation("count", "count", read)
