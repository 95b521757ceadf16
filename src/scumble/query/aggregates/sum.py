"""SUM(value)."""

from dataclasses import replace
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
    """SUM over no rows is null in SQL, where that is known for certain: no row is counted, and no coin has a say in that."""
    known = estimate.exact | (count.variance.reshape(-1) == 0)
    unless = np.where(known & (count.value.reshape(-1) == 0), np.nan, 0.0)
    value, se, low, high = (x + unless for x in (estimate.value, estimate.se, estimate.low, estimate.high))
    return replace(estimate, value=value, se=se, low=low, high=high)


SUM = Aggregation("sum", "sum", read, of_rows)
