"""MEDIAN and QUANTILE, MIN and MAX, COUNT(DISTINCT value): what depends on the order of values, or on which there are.

Quantiles of perturbed numbers are estimated (query/quantiles.py). All of them are exact where nothing perturbed is asked about.
"""

from sqlglot import exp

from scumble.core.errors import QueryError
from scumble.query.aggregates.aggregation import Aggregation

RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank)
"""Windows that number the lines of an answer, which QUALIFY may ask for."""


def read(function: exp.Expression) -> exp.Expression | None:
    """The value whose order counts."""
    if isinstance(function, exp.WithinGroup):
        (key,) = function.expression.expressions
        value: exp.Expression = key.this
        return value
    if isinstance(function, exp.Distinct):
        if len(function.expressions) != 1:
            raise QueryError("COUNT(DISTINCT a, b) cannot be answered; count one expression, a || b say")
        value = function.expressions[0]
        return value
    value = function.this
    return value


def share_of(function: exp.Expression) -> float:
    """The share of values that are to lie below."""
    if isinstance(function, exp.Median):
        return 0.5
    inner = function.this if isinstance(function, exp.WithinGroup) else function
    given = inner.this if inner is not function else inner.args.get("quantile") or inner.expression
    if not isinstance(given, exp.Literal) or not given.is_number or not 0 <= float(given.name) <= 1:
        raise QueryError("a quantile needs a share from 0 to 1, written as a number: QUANTILE_CONT(age, 0.9)")
    descending = inner is not function and bool(function.expression.expressions[0].args.get("desc"))
    return 1 - float(given.name) if descending else float(given.name)


def interpolated(function: exp.Expression) -> bool:
    """Whether a quantile may lie between two values."""
    inner = function.this if isinstance(function, exp.WithinGroup) else function
    return not isinstance(inner, exp.PercentileDisc | exp.Quantile)


MEDIAN = Aggregation("median", "quantile", read)
QUANTILE = Aggregation("quantile", "quantile", read)
MIN = Aggregation("min", "extreme", read)
MAX = Aggregation("max", "extreme", read)
DISTINCT = Aggregation("count_distinct", "distinct", read)
