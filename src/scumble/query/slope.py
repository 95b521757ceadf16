"""How the variance of an estimate follows the estimate, for one row.

A row of true value x that is published as y adds w(y) to the estimate S, where w is the weight of h, and w(y)^2 - w'(y) to its
variance V, where w' is the weight of h^2. Both come from the same coin, so beside the variance u of w there is a covariance k:

    u(x) = Var(w | x) = E[w^2 | x] - h(x)^2
    k(x) = Cov(w^2 - w', w | x) = E[w^3 - w w' | x] - h(x) u(x)

For a set of values of a column with one retention p, k / u = (1 - p - 2b) / p whatever x is, b = (1 - p) r(set); V + (T - S) k / u is
then the variance at T itself, and {T : (S - T)^2 <= z^2 V(T)} the score interval. Elsewhere k / u depends on x; its mean over the
rows is estimated from them, as V is, and cut to the range that it has over x.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scumble.query.moments import Tensor, quotient

SMALL = 1e-12


@dataclass(frozen=True)
class Slope:
    """What a published cell adds to the sum of k, and the range of k / u."""

    covariance: Tensor
    least: float
    most: float

    def steepness(self, covariance: Tensor, variance: Tensor) -> Tensor:
        """k / u of rows with these sums of k and u."""
        return np.asarray(np.clip(quotient(covariance, variance), self.least, self.most))


def slope_of(h: Tensor, weights: Callable[[Tensor], Tensor], expect: Callable[[Tensor], Tensor]) -> Slope:
    """The slope for a function h of the true cells.

    weights   from a function of true cells to the weights of published ones
    expect    from a function of published cells to its mean for each true one
    """
    w = weights(h)
    u = expect(w**2) - h**2
    k = expect(w**3 - w * weights(h**2)) - h * u
    spread = u > SMALL * (1 + np.max(w**2, initial=0.0))
    ratios = k[spread] / u[spread] if spread.any() else np.zeros(1)
    return Slope(weights(k), float(ratios.min()), float(ratios.max()))
