"""AVG(value)."""

from typing import TYPE_CHECKING

from scumble.query.aggregates.aggregation import Aggregation
from scumble.query.aggregates.sum import read
from scumble.query.estimates import Estimate
from scumble.query.intervals import of_average

if TYPE_CHECKING:
    from scumble.query.compile import Question
    from scumble.query.model import Aggregate
    from scumble.query.reconstruct import Whole


def of_rows(aggregate: "Aggregate", question: "Question", whole: "Whole", z: float) -> Estimate:
    """The sum of a value over the rows that have one."""
    ratio = whole.sum(aggregate)
    return of_average(aggregate.name, ratio, question.exact, z, whole.even(aggregate, ratio))


AVG = Aggregation("avg", "avg", read, of_rows)
