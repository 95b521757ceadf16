"""From moments to intervals, at level 1 - alpha with z the normal quantile.

- Sums and counts: {T : (S - T)^2 <= z^2 V(T)}, V(T) = V + g (T - S) the variance that is to be expected at T (query/moments.py):

      T = S + z^2 g / 2 +- sqrt((z^2 g / 2)^2 + z^2 V)

  For counts over one perturbed column with one retention that is the score interval. With many matching rows g is small beside
  sqrt(V), and it becomes S +- z sqrt(V). Where rows count differently, and V(T) is below V, half of g is taken: a rare row that
  counts much makes S too high with a V that is rightly large (docs/proofs/intervals.md).
- Counts where few coins decide: over one perturbed column with one retention the law of the published count inverted (query/few.py), over
  several columns that of the estimate (query/law.py). The interval is stretched to the estimate, which is unbiased and may be below 0.
- Sums of public numbers where fewer still decide: the law of query/law.py for rows of their largest size, and the above, whichever reaches farther.
- Averages R = N / D: Fieller's, the R with (N - R D)^2 <= z^2 (V_N - 2 R C + R^2 V_D); unbounded where D may be 0. The standard error
  is sqrt(V_N - 2 R C + R^2 V_D) / D. Rows count t - R, of both signs, so that V hardly follows N - R D. Where few rows decide, those that are published
  as matching tell little of the others' numbers; the interval then holds too for the variance that rows have if they match whatever their number is.
"""

import math
from statistics import NormalDist

import numpy as np

from scumble.query.estimates import Estimate
from scumble.query.few import Draws
from scumble.query.law import Tables
from scumble.query.moments import Even, Moments, Ratio, Tensor

ROUNDING = 1e-12
"""A variance below this, for each row counted, is that of the arithmetic."""


def of_sum(
    name: str, moments: Moments, exact: bool, z: float, *, alike: bool = False, draws: Draws | Tables | None = None
) -> Estimate:
    """A count or a sum with its interval; where its variance is 0 it is known. Rows are alike where each counts 1.

    draws   what a count was drawn from, where that is known
    """
    value, variance = moments.value.reshape(-1), moments.variance.reshape(-1)
    variance = np.where(variance > ROUNDING * (1 + np.abs(value)), variance, 0)
    slope = np.where(variance > 0, np.broadcast_to(moments.slope, moments.value.shape).reshape(-1), 0)
    gentle = slope if alike else slope / 2
    low = value - _reach(np.where(slope > 0, -gentle, -slope), variance, z)
    high = value + _reach(np.where(slope > 0, slope, gentle), variance, z)
    if draws is not None:
        few = draws.few(value)
        least, most = draws.ends(few, 1 - NormalDist().cdf(z))
        if alike:  # else the law is that of rows of one size, and does not stand alone
            low[few], high[few] = value[few], value[few]
        low[few], high[few] = np.minimum(least, low[few]), np.maximum(most, high[few])
    return Estimate(name, value, np.sqrt(variance), low, high, "exact" if exact else "unbiased")


def _reach(slope: Tensor, variance: Tensor, z: float) -> Tensor:
    """The d > 0 with d^2 = z^2 (V + g d)."""
    lean = z * z / 2 * slope
    return np.asarray(lean + np.sqrt(lean**2 + z * z * variance))


def of_average(name: str, ratio: Ratio, exact: bool, z: float | Tensor, even: Even | None = None) -> Estimate:
    """An average with its interval; z is one for all rows, or one for each.

    even   the variances to be expected if rows that match are like all others, and where an interval is to hold for these too
    """
    top, bottom = ratio.numerator.value.reshape(-1), ratio.denominator.value.reshape(-1)
    v_top, v_bottom, c = _variances(ratio)
    with np.errstate(divide="ignore", invalid="ignore"):
        nobody = np.abs(bottom) <= 1e-9 * np.sqrt(v_bottom) + ROUNDING
        value = np.where(nobody, np.nan, top / bottom)
        own = v_top - 2 * value * c + value**2 * v_bottom
        known = own <= ROUNDING * (v_top + value**2 * v_bottom)
        se = np.where(known & ~nobody, 0, np.sqrt(np.maximum(own, 0)) / np.abs(bottom))
    low, high = _fieller(ratio, z)
    low, high = np.where(se == 0, value, low), np.where(se == 0, value, high)
    if even is not None:
        ends = _fieller(even.ratio, z)
        low, high = np.where(even.few, np.fmin(low, ends[0]), low), np.where(even.few, np.fmax(high, ends[1]), high)
    return Estimate(name, value, se, low, high, "exact" if exact else "unbiased")


def _variances(ratio: Ratio) -> tuple[Tensor, Tensor, Tensor]:
    v_top, v_bottom = (np.maximum(m.variance.reshape(-1), 0) for m in (ratio.numerator, ratio.denominator))
    return v_top, v_bottom, ratio.covariance.reshape(-1)


def _fieller(ratio: Ratio, z: float | Tensor) -> tuple[Tensor, Tensor]:
    top, bottom = ratio.numerator.value.reshape(-1), ratio.denominator.value.reshape(-1)
    v_top, v_bottom, c = _variances(ratio)
    square, middle = bottom**2 - z * z * v_bottom, top * bottom - z * z * c
    root = np.sqrt(np.maximum(middle**2 - square * (top**2 - z * z * v_top), 0))
    bounded = square > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(bounded, (middle - root) / square, -math.inf)
        high = np.where(bounded, (middle + root) / square, math.inf)
    return low, high
