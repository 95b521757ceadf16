"""A column of an answer by its public groups, which borrow strength from each other: by an estimate that is right on average, or by intervals that hold for each.

A count is modelled as a share of the rows of its group, a sum as an average over them (query/rates.py). Estimates of small_area are put right so that they
add up over groups to what the direct ones add up to (query/benchmarked.py). What that changes is a function of residuals alone, and so adds c^2 Var to the
mean squared error, c the part of it that a group gets.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from scumble.query.benchmarked import benchmarked, shares
from scumble.query.estimates import Estimate
from scumble.query.fab import beliefs, shortest
from scumble.query.rates import GroupRates

Numbers = npt.NDArray[np.float64]

SMALL_AREA, FAB = "small_area", "fab"


@dataclass(frozen=True)
class Grouped:
    """A column, with what is public of its groups."""

    direct: Estimate
    level: float
    rows: Numbers
    """Of each public group."""
    scale: Numbers
    """What the estimate of a line is divided by to be one for each row."""
    weights: Numbers | None
    """How often the rate of a line counts in the whole; None where that is an estimate itself."""
    share: bool
    """Whether it is a share of rows."""
    stepped: bool
    """Whether its intervals reach farther than coins do."""

    @property
    def rates(self) -> GroupRates:
        """As families by groups; where the interval has no end, coins left nothing of the estimate. A shaky divisor makes it as wide as it is."""
        e = self.direct
        told = np.isfinite(e.low) & np.isfinite(e.high) & np.isfinite(e.se)
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.fmax(e.se, (e.high - e.low) / (2 * quantile(self.level))) if self.weights is None else e.se
            direct, variance = np.where(told, e.value / self.scale, np.nan), (error / self.scale) ** 2
        return GroupRates(self._grid(direct), self._grid(variance), self.rows, self.share)

    def _grid(self, lines: Numbers) -> Numbers:
        return lines.reshape(len(self.rows), -1).T

    def small_area(self, design: Numbers) -> Estimate:
        """The estimate that is best on average."""
        rates = self.rates
        areas, borrowed = rates.areas(design)
        value, mse, scale = borrowed.estimate, borrowed.mse, self._grid(self.scale)
        if self.weights is not None:
            weights = self._grid(np.where(np.isnan(rates.direct.T.reshape(-1)), 0.0, self.weights))
            errors = mse * weights**2
            whole = np.sum(weights * np.nan_to_num(rates.direct), axis=1)
            counts = benchmarked(value * weights, errors, whole, self._of_group(rates, weights))
            value = np.divide(counts, weights, out=value.copy(), where=weights > 0)
            part = np.divide(shares(errors), weights, out=np.zeros_like(weights), where=weights > 0)
            mse = mse + part**2 * areas.shortfall(weights, borrowed)[:, None]
        return self._settled((value * scale).T.reshape(-1), (np.sqrt(mse) * scale).T.reshape(-1))

    def _of_group(self, rates: GroupRates, weights: Numbers) -> Numbers | None:
        """The rows of groups, where their lines add up to them."""
        sums = np.sum(weights * rates.direct, axis=0)
        whole = self.share and len(weights) > 1 and np.allclose(sums, self.rows, rtol=1e-9, atol=1e-6)
        return self.rows if whole else None

    def _settled(self, value: Numbers, error: Numbers) -> Estimate:
        """What is known surely stays as it is, and what nobody has."""
        e, z = self.direct, quantile(self.level)
        beyond = [
            np.where(self.stepped, np.maximum(np.nan_to_num(far - z * e.se), 0), 0)
            for far in (e.value - e.low, e.high - e.value)
        ]
        kept = (e.se == 0) | (np.isnan(e.value) & np.isnan(e.low))
        numbers = (value, error, value - z * error - beyond[0], value + z * error + beyond[1])
        own = (e.value, e.se, e.low, e.high)
        value, error, low, high = (np.where(kept, old, new) for old, new in zip(own, numbers, strict=True))
        return replace(e, value=value, se=error, low=low, high=high, method=SMALL_AREA)

    def fab(self, design: Numbers, at: Callable[[float], Estimate]) -> Estimate:
        """The unbiased estimate, with the interval that is shortest on average among those that hold for each line.

        at   the same column at another level
        """
        kept: dict[float, tuple[Numbers, Numbers]] = {}

        def ends(miss: float) -> tuple[Numbers, Numbers]:
            if miss not in kept:
                wider = at(1 - 2 * miss)
                kept[miss] = wider.low, wider.high
            return kept[miss]

        mu, square, sigma = (numbers.T.reshape(-1) for numbers in beliefs(self.rates, design))
        scale, e = self.scale, self.direct
        low, high = shortest(mu * scale, square * scale**2, sigma * scale, ends, 1 - self.level)
        found = (low <= high) & (e.se > 0)
        return replace(e, low=np.where(found, low, e.low), high=np.where(found, high, e.high), method=FAB)


def quantile(level: float) -> float:
    """How many standard errors an interval reaches."""
    return NormalDist().inv_cdf(0.5 + level / 2)
