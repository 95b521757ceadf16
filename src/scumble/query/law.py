"""Intervals of counts over several perturbed columns from few coins: the law of the estimate, inverted.

With x_j rows of true cell j, A[i, j] the probability that such a row is published in cell i, and W the weights, the estimate
S = sum of W over published rows is a sum of independent draws, whose law is known by its characteristic function:

    E[exp(i t S)] = prod_j G_j(t)^x_j,         G_j(t) = sum_i A[i, j] exp(i t W_i)

The count T = sum of f x is asked for; the other x are not known. For each T they are taken as likely as they can be (x(T), by EM), and with
S = s observed the interval is

    {T in 0..n : P[S >= s | x(T)] > alpha / 2 and P[S <= s | x(T)] > alpha / 2}.

The normal law of query/intervals.py does not serve where few rows of a large weight decide (docs/proofs/intervals.md).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from scumble.query.few import MANY

Tensor = npt.NDArray[np.float64]
Chosen = npt.NDArray[np.intp]

BLUR = 0.1
"""The spread that is added to S, in units of the range of W: it ends the sum over frequencies."""
INCLUDED = 1.0
"""How many of these spreads beyond s still count as s, so that a value that S takes often is counted in both tails."""
LAST = 4.0
"""The last frequency, times the added spread."""
STEPS = 20
"""Steps of EM at each T, from where it stood at the last one."""
SMALL = 1e-9
"""A range of W below this is that of the arithmetic: nothing is drawn."""
AT_ONCE = 256
"""Lines that are inverted together, which bounds the memory."""


@dataclass(frozen=True)
class Tables:
    """What counts over several perturbed columns were drawn from, for every row of the answer."""

    published: Tensor
    """How many rows are published in each cell: a line for each row of the answer."""
    kinds: Sequence[tuple[npt.NDArray[np.bool_], "Transition"]]
    """The lines that go through the same transition, with it."""

    def few(self, value: Tensor) -> npt.NDArray[np.bool_]:
        """Where few rows decide; not where nothing is drawn."""
        found = np.zeros(len(value), dtype=np.bool_)
        for members, kind in self.kinds:
            found[members] = (kind.range > SMALL) & (kind.variance(self.published[members]) < MANY)
        return found

    def ends(self, few: npt.NDArray[np.bool_], tail: float) -> tuple[Tensor, Tensor]:
        """The ends of the intervals of some lines."""
        found = np.zeros((2, len(few)))
        for members, kind in self.kinds:
            some = members & few
            if some.any():
                found[:, some] = kind.ends(self.published[some], tail)
        low, high = found[:, few]
        return low, high


@dataclass(frozen=True)
class Transition:
    """What rows of each true cell become, and which cells are counted."""

    through: Tensor
    """A, a column for each true cell."""
    weights: Tensor
    """W."""
    counted: npt.NDArray[np.bool_]
    """f."""

    @cached_property
    def range(self) -> float:
        """How much one row can change S."""
        return float(np.ptp(self.weights))

    @cached_property
    def spread(self) -> Tensor:
        """Var(W | x) of each true cell."""
        return np.maximum(self.weights**2 @ self.through - self.counted, 0)

    def variance(self, published: Tensor) -> Tensor:
        """The unbiased variance of S, in units of the range of W: how many rows decide."""
        return np.asarray(published @ (self.weights**2 - self.weights)) / max(self.range, SMALL) ** 2

    def ends(self, published: Tensor, tail: float) -> Tensor:
        """The least and the largest T for each line of published counts; lines that are alike are inverted once."""
        z = -NormalDist().inv_cdf(tail)
        kinds, which = np.unique(published, axis=0, return_inverse=True)
        order = np.argsort(self.variance(kinds))
        found = np.empty((2, len(kinds)))
        for at in range(0, len(kinds), AT_ONCE):
            some = order[at : at + AT_ONCE]
            found[:, some] = Lines(self, kinds[some], z, tail).ends()
        return found[:, which.reshape(-1)]


class Lines:
    """Lines of one kind of cells, while their ends are looked for."""

    def __init__(self, cells: Transition, published: Tensor, z: float, tail: float) -> None:
        self.cells, self.published, self.z, self.tail = cells, published, z, tail
        self.rows, self.value = np.rint(published.sum(axis=1)), published @ cells.weights
        start = published @ np.linalg.pinv(cells.through).T
        self._first = np.maximum(start, 0) + 0.01 * self.rows[:, None] / published.shape[1]
        self._reach = z * np.sqrt(self._first @ cells.spread)

    def ends(self) -> Tensor:
        """The least and the largest T that neither tail rejects."""
        low = self._last(lambda t, some: self._tail(t, some, 1) <= self.tail, self.value - self._reach) + 1
        high = self._last(lambda t, some: self._tail(t, some, -1) > self.tail, self.value + self._reach)
        return np.stack([np.minimum(low, self.rows), np.maximum(high, 0)])

    def _last(self, holds: Callable[[Tensor, Chosen], npt.NDArray[np.bool_]], guess: Tensor) -> Tensor:
        """The largest T where something holds that holds up to some T, or -1: by growing steps from a guess, then by halves."""
        self._x = self._first.copy()
        below, above, step = np.full(len(guess), -1.0), self.rows + 1, 0.5
        middle = np.clip(np.floor(guess), 0, self.rows)
        while len(some := np.flatnonzero(above - below > 1)):
            held = holds(middle[some], some)
            below[some], above[some] = np.where(held, [middle[some], above[some]], [below[some], middle[some]])
            step *= 2
            next_ = np.where(held, below[some] + step, above[some] - step)
            inside = (below[some] < next_) & (next_ < above[some])
            middle[some] = np.where(inside, next_, np.floor((below[some] + above[some]) / 2))
        return below

    def _tail(self, count: Tensor, some: Chosen, side: int) -> Tensor:
        """P[S >= s | x(T)] for side 1, P[S <= s | x(T)] for side -1."""
        x = self._x[some] = self._likeliest(self._x[some], self.published[some], count)
        away = side * (self.value[some] - count)
        sd = np.sqrt(x @ self.cells.spread)
        far = np.abs(away) > (self.z + 4) * sd + 2 * self.cells.range
        found = np.where(away > 0, 0.0, 1.0)
        if not far.all():
            period = float(np.max(((2 * self.z + 8) * sd + 4 * self.cells.range)[~far]))
            found[~far] = self._beyond(x[~far], side * self.value[some][~far], side, period)
        return found

    def _likeliest(self, x: Tensor, published: Tensor, count: Tensor) -> Tensor:
        """Steps of EM toward the likeliest true cells of which so many rows count."""
        through, counted = self.cells.through, self.cells.counted
        totals = np.stack([published.sum(axis=1) - count, count], axis=1)[:, counted.astype(np.intp)]
        for _ in range(STEPS):
            seen = x @ through.T
            x = x * (np.divide(published, seen, out=np.zeros_like(seen), where=seen > 0) @ through)
            x = np.maximum(x, 1e-9)
            sums = np.stack([x[:, ~counted].sum(axis=1), x[:, counted].sum(axis=1)], axis=1)
            x = x * totals / sums[:, counted.astype(np.intp)]
        return x

    def _beyond(self, x: Tensor, value: Tensor, side: int, period: float) -> Tensor:
        """P[side * S >= value], by the sum over frequencies (Gil-Pelaez) of the blurred law."""
        blur = BLUR * self.cells.range
        half = np.arange(np.ceil(LAST / blur * period / (2 * np.pi))) + 0.5
        t = half * (2 * np.pi / period)
        g = np.exp(1j * side * np.outer(t, self.cells.weights)) @ self.cells.through
        size, angle = np.log(np.maximum(np.abs(g), 1e-300)), np.unwrap(np.angle(g), axis=0)
        turned = x @ angle.T - np.outer(value - INCLUDED * blur, t)
        parts = np.exp(x @ size.T - (blur * t) ** 2 / 2) * np.sin(turned)
        return np.asarray(0.5 + parts @ (1 / half) / np.pi)
