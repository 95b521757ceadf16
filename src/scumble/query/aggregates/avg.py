"""AVG(value)."""

from scumble.query.aggregates.aggregation import Aggregation
from scumble.query.aggregates.sum import read

AVG = Aggregation("avg", "avg", read)
