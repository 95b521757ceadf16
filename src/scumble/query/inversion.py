"""The law of a published count, inverted.

Of n rows c count; each is published as one that does with probability q, and each other row with probability b < q. So

    Y = Bin(c, q) + Bin(n - c, b),        P[Y <= y | c] falls with c,

and each end of {c in 0..n : P[Y >= y | c] > tail and P[Y <= y | c] > tail} is found by bisection.
"""

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaln, xlog1py, xlogy

Tensor = npt.NDArray[np.float64]


def inverted(y: Tensor, n: Tensor, q: Tensor, b: Tensor, tail: float) -> Tensor:
    """The least and the largest c that are not rejected with a probability of `tail` on either side."""
    turned = b * (1 - b) > q * (1 - q)  # then the rows that do not count are counted, whose false matches are fewer
    y, q, b = np.where(turned, n - y, y), np.where(turned, 1 - b, q), np.where(turned, 1 - q, b)
    low = np.minimum(_last(y - 1, n, q, b, 1 - tail) + 1, n)
    high = np.maximum(_last(y, n, q, b, tail), 0)
    low, high = np.minimum(low, high), np.maximum(low, high)
    return np.where(turned, np.stack([n - high, n - low]), np.stack([low, high]))


def _last(y: Tensor, n: Tensor, q: Tensor, b: Tensor, level: float) -> Tensor:
    """The largest c with P[Y <= y | c] > level, or -1."""
    below, above = np.full(len(y), -1.0), n + 1
    while np.any(above - below > 1):
        middle = np.clip(np.floor((below + above) / 2), 0, n)
        holds = at_most(y, n, middle, q, b) > level
        below, above = np.where(holds, middle, below), np.where(holds, above, middle)
    return below


def at_most(y: Tensor, n: Tensor, c: Tensor, q: Tensor, b: Tensor) -> Tensor:
    """P[Y <= y | c] = sum over f of P[Bin(n - c, b) = f] P[Bin(c, q) <= y - f], for vectors; f ends where hardly one is larger."""
    mean = n * b
    most = max(0.0, float(np.max(np.minimum(y, mean + 8 * np.sqrt(mean * (1 - b)) + 12), initial=0)))
    f = np.arange(np.floor(most) + 1)
    y, c, q = y[:, None], c[:, None], q[:, None]
    false = _mass(f, n[:, None] - c, b[:, None])
    true = _mass(y - f, c, q)
    beyond = np.cumsum(true[:, ::-1], axis=1)[:, ::-1] + _below(y - f[-1], c, q)
    return np.asarray((false * np.where(y < f, 0, beyond)).sum(axis=1))


def _mass(k: Tensor, n: Tensor, p: Tensor) -> Tensor:
    """P[Bin(n, p) = k]."""
    possible = (k >= 0) & (k <= n)
    k = np.where(possible, k, 0)
    logarithm = xlogy(k, p) + xlog1py(n - k, -p) - betaln(k + 1, n - k + 1) - np.log1p(n)
    return np.where(possible, np.exp(logarithm), 0)


def _below(k: Tensor, n: Tensor, p: Tensor) -> Tensor:
    """P[Bin(n, p) < k]."""
    inside = (k >= 1) & (k <= n)
    left, right = np.where(inside, n - k + 1, 1), np.where(inside, k, 1)
    return np.where(inside, betainc(left, right, 1 - p), np.where(k > n, 1.0, 0.0))
