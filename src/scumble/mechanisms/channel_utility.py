"""What a channel is worth: how many records stay as they are, and how well counts come back.

Both are exact expectations over the coins, for the given true counts n; no table is perturbed to find them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel, Vector
from scumble.core.channel_base import BaseChannel
from scumble.core.errors import NotEstimable, ParameterError


def record_utility(channel: BaseChannel, counts: Any) -> float:
    """The expected share of records whose published value is the true one: sum_i f_i P[i, i]; NaN where codes are published, and no values.

    >>> record_utility(Channel(0.5, size=4), [1, 1, 1, 1])
    0.625
    """
    n = checked_counts(counts, channel.size)
    if channel.recoded:
        return math.nan
    kept = channel.likelihood(np.arange(channel.size), np.arange(channel.size))
    return float(n @ kept / n.sum())


def expected_error(channel: Channel, counts: Any, workload: Any = None, weights: Any = None) -> float:
    """The total variance of the unbiased estimates of a workload, each times its weight.

    For a query h on the domain, with c as in `Channel.weights`, a record of true value x adds

        Var(phi | x) = (1 - p_x) [(h_x - c)^2 / p_x + v],        v = sum_i r_i (h_i - c)^2 / p_i^2

    so that the variance of the estimate of sum_x n_x h_x is a quadratic form in h, at O(m) a query:

        sum_x k_x (h_x - c)^2,        k_x = n_x (1 - p_x) / p_x + D r_x / p_x^2,        D = sum_x n_x (1 - p_x)

    workload  one row of h for each query; the counts of the single values when absent
    weights   the importance of each query; alike when absent

    A query that the published values cannot answer has infinite error.

    >>> expected_error(Channel(0.5, size=2), [100, 0]), expected_error(Channel(0.5, size=2), [100, 0], [[1, 1]])
    (150.0, 0.0)
    """
    n = checked_counts(counts, channel.size)
    queries = WeightedQueries.of(channel.size, workload, weights)
    if np.any(channel.replace[channel.never_retained] == 0):
        return _error_by_weights(channel, n, queries)
    return ErrorOf(n, channel.replace, queries).value(channel.retention)


@dataclass(frozen=True)
class WeightedQueries:
    """Queries h and their weights, seen only through Q = sum_q weight_q h_q h_q^T."""

    rows: Callable[[], Vector]
    """The queries, one a row: built only when asked for, as the default is a whole identity."""
    weights: Vector
    diagonal: Vector
    """Q[x, x]."""
    product: Callable[[Vector], Vector]
    """Q v."""

    @classmethod
    def of(cls, size: int, workload: Any = None, weights: Any = None) -> "WeightedQueries":
        """The workload of given rows; the counts of the single values when absent."""
        if workload is None:
            w = checked_weights(weights, size, "value")
            return cls(lambda: np.eye(size), w, w, lambda v: w * v)
        rows = np.asarray(workload, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != size or len(rows) == 0 or not np.all(np.isfinite(rows)):
            raise ParameterError(
                f"a workload has a row of {size} finite numbers for each query, not shape {rows.shape}"
            )
        w = checked_weights(weights, len(rows), "query")
        # only h - c enters: about its mean a query of large numbers keeps its digits
        about = rows - rows.mean(axis=1, keepdims=True)
        return cls(lambda: rows, w, w @ about**2, lambda v: np.asarray((w * (about @ v)) @ about))


@dataclass(frozen=True)
class ErrorOf:
    """The expected error as a function of the retention, and its gradient where all are above 0."""

    counts: Vector
    replace: Vector
    workload: WeightedQueries

    def value(self, p: Vector) -> float:
        """sum_x k_x R_x, R_x = sum_q weight_q (h_qx - c_q)^2 = Q_xx - 2 (Q s)_x + s^T Q s, where s = (r/p) / sum(r/p)."""
        zero = np.flatnonzero(p == 0)
        if len(zero):
            return self._limit(p, int(zero[0])) if len(zero) == 1 else self._merged(p, zero)
        k, residual, _ = self._parts(p)
        return float(k @ residual)

    def gradient(self, p: Vector) -> Vector:
        """d value / d p, by the product rule in g = 1/p."""
        k, residual, pull = self._parts(p)
        g, n, r = 1 / p, self.counts, self.replace
        s, redrawn = r * g / (r @ g), n @ (1 - p)
        outer = (n + 2 * redrawn * r * g) * residual + n * p**2 * ((r * g**2) @ residual)
        inner = 2 * (k.sum() * pull - self.workload.product(k))
        return np.asarray(-(g**2) * (outer + (r / (r @ g)) * (inner - s @ inner)))

    def gradient_of_replacement(self, p: Vector) -> Vector:
        """d value / d r, where all retentions are above 0."""
        k, residual, pull = self._parts(p)
        g, r = 1 / p, self.replace
        inner = 2 * (k.sum() * pull - self.workload.product(k))
        return np.asarray((self.counts @ (1 - p)) * g**2 * residual + g * (inner - (r * g / (r @ g)) @ inner) / (r @ g))

    def _limit(self, p: Vector, z: int) -> float:
        """The value as p_z goes to 0: c is h_z there, and z itself adds D sum_q weight_q (sum_i r_i (h_z - h_i) / p_i)^2 / r_z."""
        n, r = self.counts, self.replace
        inverse = np.divide(1, p, out=np.zeros(len(p)), where=p > 0)
        redrawn = n @ (1 - p)
        k = n * (1 - p) * inverse + redrawn * r * inverse**2
        q, row = self.workload.diagonal, self.workload.product(np.eye(1, len(p), z)[0])
        return float(k @ np.maximum(q - 2 * row + q[z], 0) + redrawn * self._about(r * inverse, z) / r[z])

    def _merged(self, p: Vector, zero: npt.NDArray[np.intp]) -> float:
        """The value where several are never retained: infinite, unless no query tells them apart."""
        q, row = self.workload.diagonal, self.workload.product(np.eye(1, len(p), zero[0])[0])
        if np.any((q - 2 * row + q[zero[0]])[zero] > 1e-9 * q.max()):
            return math.inf
        return _error_by_weights(Channel(p, self.replace), self.counts, self.workload)

    def _parts(self, p: Vector) -> tuple[Vector, Vector, Vector]:
        n, r = self.counts, self.replace
        k = n * (1 - p) / p + (n @ (1 - p)) * r / p**2
        s = (r / p) / (r / p).sum()
        pull = self.workload.product(s)
        residual = self.workload.diagonal - 2 * pull + s @ pull
        z = int(np.argmin(p))
        residual[z] = self._about(np.where(np.arange(len(p)) == z, 0, s), z)
        # a sum of squares, which rounding may leave just below 0 for a query that is constant
        return k, np.maximum(residual, 0), pull

    def _about(self, b: Vector, z: int) -> float:
        """sum_q weight_q (sum_i b_i (h_qz - h_qi))^2, where c is near h_z and the plain difference would lose its digits."""
        pull = self.workload.product(b)
        return max(0.0, float(b.sum() ** 2 * self.workload.diagonal[z] - 2 * b.sum() * pull[z] + b @ pull))


def checked_counts(counts: Any, size: int | None = None) -> Vector:
    """Counts (or frequencies) of at least two values: finite, not negative, not all zero."""
    n = np.asarray(counts, dtype=np.float64)
    if n.ndim != 1 or len(n) < 2 or (size is not None and len(n) != size):
        raise ParameterError(
            f"counts must hold {size or 'two or more'} numbers, one for each value, not shape {n.shape}"
        )
    if wrong := np.flatnonzero(~(np.isfinite(n) & (n >= 0))).tolist():
        raise ParameterError(f"counts must be finite and not negative; value {wrong[0]} has {n[wrong[0]]}")
    if n.sum() == 0:
        raise ParameterError("counts are all zero: there is no record to plan for")
    return n


def checked_weights(weights: Any, size: int, unit: str) -> Vector:
    """One weight for each value or query: not negative, not all zero; all 1 when absent."""
    w = np.ones(size) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != (size,):
        raise ParameterError(f"weights must hold {size} numbers, one for each {unit}, not shape {w.shape}")
    if not np.all(np.isfinite(w) & (w >= 0)) or w.sum() == 0:
        raise ParameterError(f"weights must be finite, not negative and not all zero, not {w.tolist()[:8]}")
    return w


def _error_by_weights(channel: Channel, n: Vector, queries: WeightedQueries) -> float:
    """The same from the debias weights themselves, which also know what zero retention leaves estimable."""
    asked = queries.rows()[queries.weights > 0].T
    try:
        phi = channel.weights(asked)
    except NotEstimable:
        return math.inf
    return float((n @ (channel.expect(phi**2) - asked**2)) @ queries.weights[queries.weights > 0])
