"""How the variance of an estimate follows the estimate, for one row.

A row of true value x that is published as y adds w(y) to the estimate S, where w is the weight of h, and w(y)^2 - w'(y) to its
variance V, where w' is the weight of h^2. Both come from the same coin, so beside the variance u of w there is a covariance k:

    u(x) = Var(w | x) = E[w^2 | x] - h(x)^2
    k(x) = Cov(w^2 - w', w | x) = E[w^3 - w w' | x] - h(x) u(x)

For a set of values of a column with one retention p, k / u = (1 - p - 2b) / p whatever x is, b = (1 - p) r(set); V + (T - S) k / u is
then the variance at T itself, and {T : (S - T)^2 <= z^2 V(T)} the score interval. Elsewhere k / u depends on x; its mean over the
rows is estimated from them, as V is, or taken over the values that coins draw, and cut to the range that it has over x.
"""

from collections.abc import Callable

import numpy as np

from scumble.query.moments import Tensor, quotient

SMALL = 1e-12


def covariances(
    h: Tensor, weights: Callable[[Tensor], Tensor], expect: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """k and u of the true cells, for a function h of them.

    weights   from a function of true cells to the weights of published ones
    expect    from a function of published cells to its mean for each true one
    """
    w = weights(h)
    u = expect(w**2) - h**2
    k = expect(w**3 - w * weights(h**2)) - h * u
    random = u > SMALL * (1 + np.max(w**2, initial=0.0))
    return np.where(random, k, 0.0), np.where(random, u, 0.0)


def steepness(covariance: Tensor, variance: Tensor, k: Tensor, u: Tensor) -> Tensor:
    """k / u of rows whose k and u sum up to these, within the range of what single rows have."""
    ratios = k[u > 0] / u[u > 0] if np.any(u > 0) else np.zeros(1)
    return np.asarray(np.clip(quotient(covariance, variance), ratios.min(), ratios.max()))
