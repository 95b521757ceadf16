"""A retention for each value, with replacements that its factor asks for: where some counts matter more than others.

With t the largest retention, the odds of value j rise by at most g_j where

    r_j >= p_j / (g_j (1 - t) - 1 + p_j)

The replacements sum to 1. So of retentions p = t u, with u between 0 and 1, t is the one at which these bounds sum to 1: each of them grows with t.
That leaves the u of each value to choose, in a box; u = 1 is the closed form of shaped_channel.py, where the search begins. Its result is compared
with that, and is never worse. That no other is better is not proven: the error is not convex in u.
"""

from typing import Any

import numpy as np

from scumble.core.channel import Channel, Vector
from scumble.core.errors import ParameterError
from scumble.mechanisms.channel_utility import ErrorOf, WeightedQueries

LEAST = 1e-3
"""The least u: a value that is hardly ever kept has an error too large to be computed."""

HALVINGS = 60


def least_error(bounds: Vector, shares: Vector, workload: Any = None, weights: Any = None) -> Channel:
    """The channel of small expected variance of a workload, under which the odds of each value rise by at most its factor."""
    if not np.isfinite(bounds).all():
        raise ParameterError("a retention for each value needs a bound for each; give gamma beside rho2")
    program = _Program(bounds, shares, WeightedQueries.of(len(shares), workload, weights))
    from scipy.optimize import minimize

    start = np.ones(len(shares))
    scale = program.error(start)[0]
    if not 0 < scale < np.inf:
        return program.channel(start)

    def scaled(u: Vector) -> tuple[float, Vector]:
        value, gradient = program.error(u)
        return value / scale, gradient / scale

    solution = minimize(scaled, start, jac=True, method="L-BFGS-B", bounds=[(LEAST, 1)] * len(start))
    return program.channel(min(start, solution.x, key=lambda u: program.error(u)[0]))


class _Program:
    """The error of retentions that are given up to a factor, and how it changes with each."""

    def __init__(self, bounds: Vector, shares: Vector, queries: WeightedQueries) -> None:
        self.bounds, self.shares, self.queries = bounds, shares, queries

    def channel(self, u: Vector) -> Channel:
        """Retentions t u, and the replacements that they ask for."""
        p = self._top(u) * u
        r, _, _ = self._least(p, float(p.max()))
        return Channel(p, r / r.sum())

    def error(self, u: Vector) -> tuple[float, Vector]:
        """The error, and its gradient: by p, by the replacements that follow from p and t, and by t, which follows from u."""
        t = self._top(u)
        p = t * u
        r, by_p, by_t = self._least(p, t)
        error = ErrorOf(self.shares, r, self.queries)
        of_r = error.gradient_of_replacement(p)
        of_p = error.gradient(p) + of_r * by_p
        moved = -by_p * t / (by_p @ u + by_t.sum())  # t as a function of u: the replacements still sum to 1
        return error.value(p), np.asarray(t * of_p + (of_p @ u + of_r @ by_t) * moved)

    def _least(self, p: Vector, t: float) -> tuple[Vector, Vector, Vector]:
        """The replacements that retentions need where the largest is t, and their derivatives by p and by t."""
        room = self.bounds * (1 - t) - 1 + p
        return p / room, (room - p) / room**2, self.bounds * p / room**2

    def _top(self, u: Vector) -> float:
        """t, by bisection below where some value has no room."""
        low, high = 0.0, float(1 - 1 / self.bounds.min())
        for _ in range(HALVINGS):
            t = (low + high) / 2
            room = self.bounds * (1 - t) - 1 + t * u
            fits = room.min() > 0 and (t * u / room).sum() <= 1
            low, high = (t, high) if fits else (low, t)
        return low
