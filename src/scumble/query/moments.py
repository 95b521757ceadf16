"""An estimate with what its interval needs: its variance, and how that variance follows the estimate.

Rows that happen to match make both the estimate S and its variance V large, so where S is too low by chance V is too low with it,
and S +- z sqrt(V) misses the truth above. What S tells of V is a regression; as it is to be expected at a truth T, V is

    V(T) = V + g (T - S),         g = Cov(V, S) / Var(S) = sum of t^3 k / sum of t^2 u           (k and u: query/slope.py)

for a sum over rows that count t each, t public. `cube` and `square` are the covariance and the variance, so that those of strata add up.
"""

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

Tensor = npt.NDArray[np.float64]


def _nothing() -> Tensor:
    return np.zeros(())


@dataclass(frozen=True)
class Moments:
    """An unbiased sum and its variance, for every row of the answer."""

    value: Tensor
    variance: Tensor
    cube: Tensor = field(default_factory=_nothing)
    square: Tensor = field(default_factory=_nothing)

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(
            self.value + other.value, self.variance + other.variance, self.cube + other.cube, self.square + other.square
        )

    def leaning(self, slope: Tensor) -> "Moments":
        """The same with the slope g of one stratum; in a sum of strata it counts by their variances."""
        square = np.maximum(self.variance, 0)
        return replace(self, cube=slope * square, square=square)

    def widened(self, variance: Tensor) -> "Moments":
        """The same with more variance, which follows nothing."""
        return replace(self, variance=self.variance + variance)

    def of_variance(self, variance: Tensor, factor: Tensor) -> "Moments":
        """The same with another variance, which follows the sum so many times as much."""
        square = np.maximum(variance, 0)
        return Moments(self.value, variance, self.slope * factor * square, square)

    def times(self, x: Tensor) -> "Moments":
        """The sum over rows that count x times as much."""
        return Moments(self.value * x, self.variance * x**2, self.cube * x**3, self.square * x**2)

    @property
    def slope(self) -> Tensor:
        """g of the docstring above."""
        return quotient(self.cube, self.square)


@dataclass(frozen=True)
class Ratio:
    """A numerator, a denominator and their covariance."""

    numerator: Moments
    denominator: Moments
    covariance: Tensor

    def __add__(self, other: "Ratio") -> "Ratio":
        return Ratio(
            self.numerator + other.numerator, self.denominator + other.denominator, self.covariance + other.covariance
        )


@dataclass(frozen=True)
class Even:
    """An average with the variances that it has if whether rows match does not depend on their numbers."""

    ratio: Ratio
    few: npt.NDArray[np.bool_]
    """Where these count too: few rows decide."""


def quotient(top: Tensor, bottom: Tensor) -> Tensor:
    """A quotient that is 0 where the divisor is not above 0."""
    shape = np.broadcast_shapes(np.shape(top), np.shape(bottom))
    return np.divide(top, bottom, out=np.zeros(shape), where=np.broadcast_to(bottom > 0, shape))
