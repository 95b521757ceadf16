"""What rows that were suppressed may add to an answer: bounds, where it is public how many rows there are and what values they can have.

Of n rows B are behind published tuples; the n - B others may match or not, and have values x in low..high. With the counts i of all published tuples,
c what each adds to the answer (0 where it does not match), and u = max(high, 0),

    SUM  <=  sum of c i + (n - B) u              =  n u + sum of (c - u) i
    AVG  <=  (sum of c i + (n - B) high) / (matching i + n - B)

and likewise below with min(low, 0) and low. COUNT is a SUM of ones with u = 1. Each is a sum of weight times count, or a quotient of two, so that
its interval follows as that of any other (forms/tuples/linear.py, query/intervals.py); a bound is the outer end of it.
"""

from dataclasses import dataclass

import numpy as np

from scumble.forms.tuples.linear import Floats, LinearSum, Noise
from scumble.forms.tuples.sums import Sums
from scumble.query.intervals import of_average
from scumble.query.moments import Moments, Ratio

Span = tuple[float, float]
"""The least and the most that a value can be."""


@dataclass(frozen=True)
class AllTuples:
    """The number of rows of the table, and all published tuples."""

    rows: int
    value: float
    variance: float
    tuples: float

    def beside(self, sums: Sums) -> LinearSum:
        """The published tuples that do not count in an answer; each of those that do counts one row."""
        count = sums.count
        tuples = self.tuples - count.tuples
        variance = np.maximum(self.variance - count.variance, 0)
        return LinearSum(self.value - count.value, variance, tuples, tuples, tuples)


def bounds_of_sum(
    sums: Sums, all_tuples: AllTuples, span: Span, noise: Noise | None, share: float
) -> tuple[Floats, Floats]:
    """The least and the most that a sum, or a count, can be with all rows."""
    ends = []
    for end, sign in ((min(span[0], 0.0), 1), (max(span[1], 0.0), -1)):
        form = sums.less(np.full_like(sums.weight, end)) + all_tuples.beside(sums).times(-end)
        known = (noise.floor if noise is not None else 0) * (sums.weight - end * all_tuples.tuples)
        outer = form.value - sign * form.reach(noise, share)
        inside = outer if noise is None else sign * np.maximum(sign * outer, sign * known)
        ends.append(all_tuples.rows * end + inside)
    return ends[0], ends[1]


def bounds_of_average(
    sums: Sums, all_tuples: AllTuples, span: Span, noise: Noise | None, share: float
) -> tuple[Floats, Floats]:
    """The least and the most that an average can be with all rows: within what values can be, whatever the noise."""
    low, high = (_average_at(sums, all_tuples, end, noise, share) for end in span)
    if noise is None:  # nothing may match at all
        return np.maximum(low[0], span[0]), np.minimum(high[1], span[1])
    return np.fmax(low[0], span[0]), np.fmin(high[1], span[1])


def _average_at(
    sums: Sums, all_tuples: AllTuples, end: float, noise: Noise | None, share: float
) -> tuple[Floats, Floats]:
    """The interval of the average where all suppressed rows match and have one value."""
    matching, beside = sums.less(np.full_like(sums.weight, end)), all_tuples.beside(sums)
    beyond = end - sums.middle
    bottom = Moments(all_tuples.rows - beside.value, beside.variance)
    top = Moments(beyond * bottom.value + matching.value, matching.variance + beyond**2 * beside.variance)
    rate = np.divide(top.value, bottom.value, out=np.full_like(top.value, beyond), where=bottom.value > 0)
    z: Floats | float = 0.0 if noise is None else (matching + beside.times(rate - beyond)).quantiles(noise, share)
    average = of_average("", Ratio(top, bottom, beyond * beside.variance), False, z)
    return sums.middle + average.low, sums.middle + average.high
