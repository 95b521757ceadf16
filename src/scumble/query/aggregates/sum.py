"""SUM(value)."""

from typing import TYPE_CHECKING

import numpy as np
from sqlglot import exp

from scumble.query.aggregates.aggregation import Aggregation
from scumble.query.estimates import Estimate
from scumble.query.intervals import of_sum
from scumble.query.moments import Moments

if TYPE_CHECKING:
    from scumble.query.compile import Question
    from scumble.query.model import Aggregate
    from scumble.query.reconstruct import Whole


def read(function: exp.Expression) -> exp.Expression | None:
    """The value that is added up."""
    value: exp.Expression = function.this
    return value


def of_rows(aggregate: "Aggregate", question: "Question", whole: "Whole", z: float) -> Estimate:
    """The sum over rows that have a value."""
    ratio, draws = whole.sum(aggregate), whole.draws_of_sum(aggregate)
    return _empty(of_sum(aggregate.name, ratio.numerator, question.exact, z, draws=draws), ratio.denominator)


def _empty(estimate: Estimate, count: Moments) -> Estimate:
    """SUM over no rows is null in SQL, where that is known for certain."""
    if not estimate.exact:
        return estimate
    unless = np.where(count.value.reshape(-1) == 0, np.nan, 0.0)
    e = estimate
    return Estimate(e.name, e.value + unless, e.se + unless, e.low + unless, e.high + unless, "exact")


SUM = Aggregation("sum", "sum", read, of_rows)
