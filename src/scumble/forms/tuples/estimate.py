"""Estimates of COUNT, SUM and AVG over counted tuples, each with its interval and its bounds.

- Noisy counts: the interval is for the rows behind published tuples, each of which has k rows or more; so a sum of weights of one sign has a least
  or a most, and an average lies among the values of these tuples.
- Exact counts (k-DGS): the sum over published tuples is known, and the interval is what suppressed rows may add to it, with certainty.

Averages are quotients with Fieller's interval, as everywhere (query/intervals.py), at the quantile of what an average leaves.
"""

from dataclasses import dataclass, replace

import numpy as np

from scumble.forms.tuples.linear import Floats, Noise
from scumble.forms.tuples.sums import Sums
from scumble.forms.tuples.suppressed import AllTuples, Span, bounds_of_average, bounds_of_sum
from scumble.query.estimates import PUBLISHED, Estimate
from scumble.query.intervals import of_average
from scumble.query.model import Aggregate

Bounds = tuple[Floats, Floats]


@dataclass(frozen=True)
class Known:
    """What is known of the counts, and of rows that were suppressed."""

    noise: Noise | None
    """None: counts are exact."""
    all_tuples: AllTuples | None
    """Where rows may have been suppressed, and it is public how many there are."""
    every: bool
    """Whether no row was suppressed."""
    share: float
    """How often an interval holds the truth."""


def estimate(aggregate: Aggregate, sums: Sums, span: Span | None, known: Known) -> Estimate:
    """One aggregate; span is what its values can be in suppressed rows, where that is public."""
    average = aggregate.kind == "avg"
    result = _average(aggregate.name, sums, known) if average else _sum(aggregate.name, sums, known)
    bounds = _bounds(average, sums, span, known)
    e = result
    if known.noise is None:
        least, most = (e.value, e.value) if known.every else bounds or _open(average, e.value, span)
        se = e.se if known.every else np.full_like(e.se, np.nan)
        result = Estimate(e.name, e.value, se, least, most, PUBLISHED)
    if bounds is None:
        return result
    e = result
    if aggregate.kind == "count":  # suppressed rows cannot make it smaller
        return replace(e, bound=np.fmax(bounds[1], e.low))
    return replace(e, bound=np.fmax(bounds[1], e.high), least=np.fmin(bounds[0], e.low))  # it may be that none matches


def _bounds(average: bool, sums: Sums, span: Span | None, known: Known) -> Bounds | None:
    if known.all_tuples is None or span is None:
        return None
    return (bounds_of_average if average else bounds_of_sum)(sums, known.all_tuples, span, known.noise, known.share)


def _open(average: bool, value: Floats, span: Span | None) -> Bounds:
    """The ends where any number of rows may have been suppressed."""
    if span is None:
        return np.full_like(value, -np.inf), np.full_like(value, np.inf)
    if average:
        return np.full_like(value, span[0]), np.full_like(value, span[1])
    low = value if span[0] >= 0 else np.full_like(value, -np.inf)
    return low, value if span[1] <= 0 else np.full_like(value, np.inf)


def _sum(name: str, sums: Sums, known: Known) -> Estimate:
    form = sums.total
    reach = form.reach(known.noise, known.share)
    raised = form.reach_of_raised(known.noise, known.share)
    low = form.value - np.where(sums.least >= 0, reach, raised)
    high = form.value + np.where(sums.most <= 0, reach, raised)
    if known.noise is not None:
        certain = known.noise.floor * sums.weight
        low = np.where(sums.least >= 0, np.maximum(low, certain), low)
        high = np.where(sums.least >= 0, np.maximum(low, high), high)
        high = np.where(sums.most <= 0, np.minimum(high, certain), high)
        low = np.where(sums.most <= 0, np.minimum(low, high), low)
    return Estimate(name, form.value, np.sqrt(form.variance), low, high, "unbiased")


def _average(name: str, sums: Sums, known: Known) -> Estimate:
    top, bottom = sums.ratio.numerator.value, sums.ratio.denominator.value
    rate = sums.middle + np.divide(top, bottom, out=np.zeros_like(top), where=bottom != 0)
    z: Floats | float = 0.0 if known.noise is None else sums.less(rate).quantiles(known.noise, known.share)
    e = of_average(name, sums.ratio, False, z)
    value, low, high = (np.clip(sums.middle + x, sums.least, sums.most) for x in (e.value, e.low, e.high))
    return Estimate(name, value, np.where(np.isnan(value), np.nan, e.se), low, high, "unbiased")
