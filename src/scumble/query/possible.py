"""What an aggregate can be at all: group sizes and domains are public, so a count lies in [0, n] and an average among the values that there are.

An interval is cut to that, and the estimate with it; the truth lies in both, so that coverage cannot fall. Where nothing of the interval is left, it
runs from the nearest possible value as far as it reached on that side of the estimate: never a single point.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from scumble.query.compile import Question, perturbed_column
from scumble.query.estimates import Estimate, Estimates
from scumble.query.reconstruct import Whole
from scumble.query.sampled import over_values

Numbers = npt.NDArray[np.float64]
Limits = Mapping[str, tuple[Numbers, Numbers]]
"""The least and the most that aggregates can be, for every line."""


def cut_to(answer: Estimates, limits: Limits) -> Estimates:
    """An answer in which what has limits is cut to them."""
    kept = [_cut(e, *limits[e.name]) if e.name in limits and not e.exact else e for e in answer.estimates]
    return Estimates(answer.columns, answer.groups, kept, answer.level, answer.notes)


def _cut(e: Estimate, least: Numbers, most: Numbers) -> Estimate:
    low, high = np.maximum(e.low, least), np.minimum(e.high, most)
    with np.errstate(invalid="ignore"):
        below, above = e.high < least, e.low > most
        low = np.where(below, least, np.where(above, np.maximum(least, most - (e.value - e.low)), low))
        high = np.where(above, most, np.where(below, np.minimum(most, least + (e.high - e.value)), high))
    return replace(e, value=np.clip(e.value, least, most), low=low, high=high)


def limits_of(question: Question, whole: Whole) -> Limits:
    """Those of counts, and of sums and averages of perturbed columns."""
    rows = over_values(whole.cells, whole.cells.numbers("n")).reshape(-1)
    limits: dict[str, tuple[Numbers, Numbers]] = {}
    for aggregate in question.query.aggregates:
        if aggregate.kind == "count":
            limits[aggregate.name] = (np.zeros_like(rows), rows)
        elif aggregate.value is not None and (name := perturbed_column(aggregate.value, question.published.domains)):
            values = question.published.domains[name].numbers
            limits[aggregate.name] = among(values[~np.isnan(values)], rows, average=aggregate.kind == "avg")
    return limits


def among(values: Numbers, rows: Numbers, *, average: bool) -> tuple[Numbers, Numbers]:
    """The least and the most that a sum or an average of some values over so many rows can be."""
    if not len(values):
        return np.zeros_like(rows), np.zeros_like(rows)
    low, high = float(values.min()), float(values.max())
    if average:
        return np.full_like(rows, low), np.full_like(rows, high)
    return rows * min(low, 0.0), rows * max(high, 0.0)
