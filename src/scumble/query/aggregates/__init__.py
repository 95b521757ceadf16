"""Aggregates: one file each, one line here."""

from sqlglot import exp

from scumble.query.aggregates.aggregation import Aggregation
from scumble.query.aggregates.avg import AVG
from scumble.query.aggregates.count import COUNT
from scumble.query.aggregates.sum import SUM

AGGREGATES: dict[type[exp.Expression], Aggregation] = {
    exp.Count: COUNT,
    exp.Sum: SUM,
    exp.Avg: AVG,
}
"""By what sqlglot reads it as."""
