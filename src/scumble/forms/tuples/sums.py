"""What the engine summed over tuples for one aggregate, and the sums of weight times count that follow.

A tuple has m rows that count and their sum y, which is m itself where rows are counted. COUNT is the sum of m e, SUM that of y e, and for any number R

    less(R) = sum of (y - R m) e

is what an average R leaves: its variance and the powers of its weights are polynomials in R of the sums that the engine has
taken (statement.py), of d = y - a m with a constant a in the middle of the values, so that little is lost by subtracting.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from scumble.forms.tuples.linear import Floats, LinearSum
from scumble.forms.tuples.statement import Summed
from scumble.query.moments import Moments, Ratio


@dataclass(frozen=True)
class Sums:
    """The sums of one value, for every row of an answer."""

    of: Summed
    sums: Mapping[str, Floats]

    @property
    def count(self) -> LinearSum:
        """The rows that have a value."""
        return LinearSum(self.sums["count"], self.sums["s02"], self.sums["p02"], self.sums["p04"], self.sums["tuples"])

    @property
    def total(self) -> LinearSum:
        """What is asked for: the rows, or the sum of their values."""
        if self.of.middle is None:
            return self.count
        return replace(self.less(np.zeros_like(self.weight)), value=self.sums["sum"])

    @property
    def weight(self) -> Floats:
        """The sum of the weights of what is asked for, each tuple once."""
        return self.sums["rows" if self.of.middle is None else "weight"]

    @property
    def least(self) -> Floats:
        """The least value of a row that matches, in the mean of its tuple."""
        return np.ones_like(self.weight) if self.of.middle is None else self.sums["least"]

    @property
    def most(self) -> Floats:
        """The most."""
        return np.ones_like(self.weight) if self.of.middle is None else self.sums["most"]

    @property
    def middle(self) -> float:
        """The constant a: averages are worked out from it, and not from 0, which may be far."""
        return 1.0 if self.of.middle is None else self.of.middle

    @property
    def ratio(self) -> Ratio:
        """The average less the middle, as a quotient."""
        sums = self.sums
        return Ratio(Moments(sums["spread"], sums["s20"]), Moments(sums["count"], sums["s02"]), sums["s11"])

    def less(self, rate: Floats) -> LinearSum:
        """What is asked for, less a rate for each row."""
        if self.of.middle is None:
            return self.count.times(1 - rate)
        at = rate - self.middle
        value = self.sums["spread"] - at * self.sums["count"]
        variance, square, fourth = (self._power("s", 2, at), self._power("p", 2, at), self._power("p", 4, at))
        return LinearSum(value, variance, square, fourth, self.sums["tuples"])

    def _power(self, kind: str, power: int, at: Floats) -> Floats:
        """The sum of (d - at m)^power; below 0 by rounding alone."""
        terms = [comb(power, a) * (-at) ** (power - a) * self.sums[f"{kind}{a}{power - a}"] for a in range(power + 1)]
        return np.asarray(np.maximum(np.sum(terms, axis=0), 0))
