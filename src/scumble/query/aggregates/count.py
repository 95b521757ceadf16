"""COUNT(*) and COUNT(value)."""

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
    """The value that is to be there; a number always is."""
    value = function.this
    return None if value is None or isinstance(value, exp.Star) or value.is_number else value


def of_rows(aggregate: "Aggregate", question: "Question", whole: "Whole", z: float) -> Estimate:
    """The rows in which nothing is missing."""
    which = question.counted(aggregate.value)
    count, weighted = whole.count(*which), question.published.weighted
    if aggregate.value is None and question.exact and weighted:  # people are whole, sums of weights n/s nearly so
        count = Moments(np.rint(count.value), count.variance)
    return of_sum(aggregate.name, count, question.exact, z, alike=not weighted, draws=whole.draws(*which))


COUNT = Aggregation("count", "count", read, of_rows)
