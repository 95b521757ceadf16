"""Aggregates: one file each, one line here."""

from sqlglot import exp

from scumble.query.aggregates.aggregation import Aggregation
from scumble.query.aggregates.avg import AVG
from scumble.query.aggregates.count import COUNT
from scumble.query.aggregates.order import DISTINCT, MAX, MEDIAN, MIN, QUANTILE
from scumble.query.aggregates.sum import SUM

AGGREGATES: dict[type[exp.Expression], Aggregation] = {
    exp.Count: COUNT,
    exp.Sum: SUM,
    exp.Avg: AVG,
    exp.Min: MIN,
    exp.Max: MAX,
    exp.Median: MEDIAN,
    exp.Quantile: QUANTILE,
    exp.PercentileCont: QUANTILE,
    exp.PercentileDisc: QUANTILE,
    exp.WithinGroup: QUANTILE,
    exp.Distinct: DISTINCT,
}
"""By what sqlglot reads it as."""
