"""What an aggregate can be at all: group sizes, public numbers and domains are public, so a count lies in [0, n] and an average among the values that there are.

An interval is cut to that. The truth lies in both, so that coverage cannot fall. Of an interval that lies beyond a bound little or nothing would be left;
it runs from the bound one standard error far at least, and is never a single point. The estimate stays where it is, unless it is to be cut too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from scumble.query.estimates import WHOLE, Estimate, Estimates, outside

Numbers = npt.NDArray[np.float64]
Ends = tuple[Numbers, Numbers]
"""The least and the most, for every line."""
Limits = Mapping[str, Ends]
"""What aggregates can be."""

CUT = "cut=True (--cut) puts the estimate there"


def cut_to(answer: Estimates, limits: Limits, *, values: bool = False) -> Estimates:
    """An answer whose intervals are cut to what is possible, and with `values` its estimates too."""
    unsure = {e.name for e in answer.estimates if not e.exact and not e.certain}
    kept = [_cut(e, *limits[e.name], values) if e.name in limits and e.name in unsure else e for e in answer.estimates]
    return Estimates(answer.columns, answer.groups, kept, answer.level, answer.notes)


def _cut(e: Estimate, least: Numbers, most: Numbers, values: bool) -> Estimate:
    low, high = np.clip(e.low, least, most), np.clip(e.high, least, most)
    reach = np.nan_to_num(e.se, posinf=0.0)
    with np.errstate(invalid="ignore"):
        low = np.where(e.value > most, np.minimum(low, np.maximum(least, most - reach)), low)
        high = np.where(e.value < least, np.maximum(high, np.minimum(most, least + reach)), high)
    within = np.clip(e.value, least, most)
    near = np.abs(e.value - within) <= WHOLE * (
        1 + np.abs(within)
    )  # what the arithmetic leaves is nothing that coins did
    return replace(e, value=np.where(near | values, within, e.value), low=low, high=high)


def ends_of(answer: Estimates, limits: Limits, *, exactly: bool = True) -> Estimates:
    """The same aggregates with what they can be in the place of their intervals: what is done to an answer is done to its limits.

    exactly   whether what is exact can be nothing else
    """
    whole = np.full(len(answer), np.inf)
    pairs = [
        (e, (e.value, e.value) if exactly and e.exact else limits.get(e.name, (-whole, whole)))
        for e in answer.estimates
    ]
    bare = [replace(e, low=low, high=high) for e, (low, high) in pairs]
    return Estimates(answer.columns, answer.groups, bare, answer.level, ())


def beyond(lines: Estimates) -> list[str]:
    """What to know of lines whose estimates are impossible: the bound stands beside them."""
    count = int(np.any([outside(e) for e in lines.estimates], axis=0).sum()) if lines.estimates else 0
    if not count:
        return []
    where = f"in {count} of {len(lines)} rows" if len(lines) > 1 else "here"
    return [f"{where} coins took an estimate out of what is possible, and the nearest bound stands beside it; {CUT}"]


def among(values: Numbers, rows: Numbers, *, average: bool) -> Ends:
    """The least and the most that a sum or an average of some values over so many rows can be."""
    if not len(values):
        return np.zeros_like(rows), np.zeros_like(rows)
    low, high = float(values.min()), float(values.max())
    if average:
        return np.full_like(rows, low), np.full_like(rows, high)
    return rows * min(low, 0.0), rows * max(high, 0.0)


def positive_part(total: Numbers, rows: Numbers, low: Numbers, high: Numbers) -> Numbers:
    """The most that numbers above 0 can add up to, of so many rows with such a sum, all between two ends."""
    with np.errstate(invalid="ignore"):
        most = np.fmin(rows * np.maximum(high, 0), total - rows * np.minimum(low, 0))
    return np.asarray(np.fmax(most, np.maximum(total, 0)))


def hull_of(parts: Sequence[Ends]) -> Ends:
    """What holds all of them."""
    return np.fmin.reduce([low for low, _ in parts]), np.fmax.reduce([high for _, high in parts])
