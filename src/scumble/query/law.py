"""Intervals over several perturbed columns from few coins: the law of the estimate, inverted.

With x_j rows of true cell j, A[i, j] the probability that such a row is published in cell i, and W the weights, the estimate
S = sum of W over published rows is a sum of independent draws, whose law is known by its characteristic function:

    E[exp(i t S)] = prod_j G_j(t)^x_j,         G_j(t) = sum_i A[i, j] exp(i t W_i)

The count T = sum of f x is asked for; the other x are not known. For each T they are taken as likely as they can be (x(T), by EM), and with
S = s observed the interval is

    {T : P[S >= s | x(T)] > alpha / 2 and P[S <= s | x(T)] > alpha / 2},        for counts T in 0..n

A sum over rows that count t each, t public, is taken for one over rows that count c = sum t^3 / sum t^2 each, as many as have its variance and
its skewness: there are t^2 / c^2 of them for each row. Of T, T / (c a) of these are matching ones, a = c sum t / sum t^2.

The normal law of query/intervals.py does not serve where few rows of a large weight decide (docs/proofs/intervals.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from scumble.core.once import once
from scumble.query.few import MANY

Tensor = npt.NDArray[np.float64]
Chosen = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]

FEWER = 4.0
"""The variance of a sum, in these units, from which on the score interval serves; of counts MANY."""
BLUR = 0.1
"""The spread that is added to S, as a part of its own and of the range of W: it ends the sum over frequencies."""
INCLUDED = 0.2
"""How far beyond s, in units of the range of W, still counts as s, so that a value that S takes often is counted in both tails."""
STEPS = 40
"""Steps of EM at each T, at most, from where it stood at the last one."""
ENOUGH = 1e-3
"""The relative change of x at which EM ends before."""
STEEP = 2.4
"""How much the logarithm of a tail's odds falls within a standard deviation, near the tails that are asked for."""
GRID = 1 / 16
"""What sums are found to, in units of c."""
SMALL = 1e-9
"""A range of W below this is that of the arithmetic: nothing is drawn."""
AT_ONCE = 512
"""Lines that are inverted together, which bounds the memory."""
ALONE = 1 << 18
"""Multiplications that one thread does by itself: more are dealt to several, which wait for each other many times as long where processors are busy."""


def times(lines: Tensor, matrix: Tensor) -> Tensor:
    """The product with a matrix, by as many lines at a time as one thread takes."""
    some = max(1, ALONE // matrix.size)
    if len(lines) <= some:
        return np.asarray(lines @ matrix)
    return np.concatenate([lines[at : at + some] @ matrix for at in range(0, len(lines), some)])


@dataclass(frozen=True)
class Tables:
    """What counts, or sums, over several perturbed columns were drawn from, for every row of the answer."""

    published: Tensor
    """How many rows are published in each cell (of sums, rows that count c): a line for each row of the answer."""
    sums: Tensor
    """What they count together, in units of c."""
    unit: Tensor
    """c of each line; 1 for counts, 0 where there is none."""
    pull: Tensor
    """a of each line; 1 for counts."""
    whole: bool
    """Whether rows count 1 each."""
    kinds: Sequence[tuple[Flags, "Transition"]]
    """The lines that go through the same transition, with it."""
    most: float = MANY
    """The variance, in units of the largest change that a row makes, from which on the score interval serves."""

    def few(self, value: Tensor) -> Flags:
        """Where few rows decide; not where nothing is drawn, nor where numbers of both signs are summed."""
        few = np.zeros(len(value), dtype=np.bool_)
        for members, kind in self.kinds:
            few[members] = (kind.range > SMALL) & (kind.variance(self.published[members]) < self.most)
        return few & (self.pull > 1 - SMALL)

    @property
    def ranges(self) -> Tensor:
        """How much one row can change S, for each line."""
        ranges = np.zeros(len(self.published))
        for members, kind in self.kinds:
            ranges[members] = kind.range
        return ranges

    @property
    def counted(self) -> Flags:
        """The published cells that look as if they counted, for each line."""
        known = np.zeros(self.published.shape, dtype=np.bool_)
        for members, kind in self.kinds:
            known[members] = kind.looks
        return known

    def ends(self, few: Flags, tail: float) -> tuple[Tensor, Tensor]:
        """The ends of the intervals of some lines; lines that are alike are inverted once."""
        ends = np.zeros((2, len(few)))
        for members, kind in self.kinds:
            some = members & few
            lines = np.column_stack([self.published[some], self.sums[some] @ kind.weights, self.pull[some]])
            kinds, which = np.unique(lines, axis=0, return_inverse=True)
            ends[:, some] = kind.ends(kinds, tail, self.whole)[:, which.reshape(-1)]
        low, high = np.sort(ends * self.unit, axis=0)[:, few]
        return low, high


@dataclass(frozen=True)
class Strata:
    """Which cells belong to which stratum: rows stay in theirs, so that as many are of its true cells as are published in it."""

    seen: Tensor
    """A column of 0 and 1 over the published cells, for each stratum."""
    true: Tensor
    """The same over the true cells."""
    of: Chosen
    """The stratum of each true cell."""


@dataclass(frozen=True)
class Transition:
    """What rows of each true cell become, and which cells are counted."""

    through: Tensor
    """A, a column for each true cell."""
    weights: Tensor
    """W."""
    counted: Flags
    """f."""
    looks: Flags
    """The published cells that look as if f held."""
    seen: Chosen | None = None
    """The stratum of each published cell, where there are several."""
    true: Chosen | None = None
    """That of each true cell."""

    @once
    def strata(self) -> Strata | None:
        """The strata, where there are several."""
        if self.seen is None or self.true is None:
            return None
        each = np.arange(self.seen.max() + 1)
        seen, true = ((of[:, None] == each).astype(np.float64) for of in (self.seen, self.true))
        return Strata(seen, true, self.true)

    @once
    def range(self) -> float:
        """How much one row can change S."""
        return float(np.ptp(self.weights))

    @once
    def spread(self) -> Tensor:
        """Var(W | x) of each true cell."""
        return np.maximum(self.weights**2 @ self.through - self.counted, 0)

    def variance(self, published: Tensor) -> Tensor:
        """The unbiased variance of S, in units of the range of W: how many rows decide."""
        return np.asarray(published @ (self.weights**2 - self.weights)) / max(self.range, SMALL) ** 2

    def ends(self, lines: Tensor, tail: float, whole: bool) -> Tensor:
        """The least and the largest T for lines of published counts, s and a."""
        order = np.argsort(self.variance(lines[:, :-2]))
        ends = np.empty((2, len(lines)))
        for at in range(0, len(lines), AT_ONCE):
            some = order[at : at + AT_ONCE]
            ends[:, some] = _Lines(self, lines[some], tail, whole).ends()
        return ends


class _Lines:
    """Lines that go through one transition, while their ends are looked for."""

    def __init__(self, transition: Transition, lines: Tensor, tail: float, whole: bool) -> None:
        self.transition, self.tail, self.z = transition, tail, -NormalDist().inv_cdf(tail)
        self.published, self.value, self.pull = lines[:, :-2], lines[:, -2], lines[:, -1]
        self.rows, self.grid = self.published.sum(axis=1), 1.0 if whole else GRID
        likely = np.maximum(self.published @ np.linalg.pinv(transition.through).T, 0)
        self._first = likely + 0.01 * self.rows[:, None] / likely.shape[1]
        if whole:
            self._bounds = np.stack([np.zeros(len(lines)), np.rint(self.rows)])
        else:
            far = (self.z + 4) * np.sqrt(self.rows * transition.spread.max()) + 2 * transition.range
            self._bounds = self._on_grid(self.value + np.stack([-far, far]))

    def _on_grid(self, count: Tensor) -> Tensor:
        return np.asarray(np.floor(count / self.grid) * self.grid)

    def ends(self) -> Tensor:
        """The least and the largest T that neither tail rejects."""
        reach = self.z * np.sqrt(self._first @ self.transition.spread)
        low, high = self._last(self.value - reach, 1) + self.grid, self._last(self.value + reach, -1)
        return np.asarray(np.clip(np.stack([low, high]), *self._bounds))

    def _last(self, guess: Tensor, side: int) -> Tensor:
        """The last T on the near side of an end: by the distance that each T shows, and every third time by halves."""
        self._x = self._first.copy()
        below, above = self._bounds[0] - self.grid, self._bounds[1] + self.grid
        middle, turn = np.clip(self._on_grid(guess), *self._bounds), 0
        while len(some := np.flatnonzero(above - below > 1.5 * self.grid)):
            left, turn = self._left(middle[some], some, side), turn + 1
            on = left >= 0
            below[some], above[some] = np.where(on, [middle[some], above[some]], [below[some], middle[some]])
            least, most = below[some] + self.grid, above[some] - self.grid
            following = (least + most) / 2 if turn % 3 == 0 else np.clip(middle[some] + left, least, most)
            middle[some] = self._on_grid(following)
        return np.asarray(below)

    def _left(self, total: Tensor, some: Chosen, side: int) -> Tensor:
        """About how far it is from T to the end, which lies where the tail is alpha / 2: below 0 beyond it."""
        beyond, sd = self._tail(total, some, side)
        odds = np.log((beyond + SMALL) / (1 + SMALL - beyond)) - np.log(self.tail / (1 - self.tail))
        return np.asarray(-side * odds * (sd + self.transition.range / 8) / STEEP)

    def _tail(self, total: Tensor, some: Chosen, side: int) -> tuple[Tensor, Tensor]:
        """P[S >= s | x(T)] for side 1, P[S <= s | x(T)] for side -1, and the standard deviation of S."""
        count = np.clip(total / self.pull[some], 0, self.rows[some])
        x = self._x[some] = self._likeliest(self._x[some], self.published[some], count)
        away, sd = side * (self.value[some] - total), np.sqrt(x @ self.transition.spread)
        near = np.abs(away) <= (self.z + 4) * sd + 2 * self.transition.range
        tail = np.where(away > 0, 0.0, 1.0)
        if near.any():
            tail[near] = self._beyond(x[near], sd[near], (side * count + away)[near], side)
        return np.clip(tail, 0, 1), sd

    def _likeliest(self, x: Tensor, published: Tensor, count: Tensor) -> Tensor:
        """Steps of EM toward the likeliest true cells of which so many rows count."""
        through, counted = self.transition.through, self.transition.counted.astype(np.intp)
        totals = np.stack([published.sum(axis=1) - count, count], axis=1)[:, counted]
        sides = np.stack([1 - counted, counted], axis=1).astype(np.float64)
        strata = self.transition.strata
        rows = published @ strata.seen if strata is not None else None
        for _ in range(STEPS):
            seen = times(x, through.T)
            moved = x * times(np.divide(published, seen, out=np.zeros(seen.shape), where=seen > 0), through)
            np.maximum(moved, SMALL, out=moved)
            if strata is not None and rows is not None:
                moved *= (rows / np.maximum(moved @ strata.true, SMALL))[:, strata.of]
            moved *= totals / (moved @ sides)[:, counted]
            x, change = moved, np.abs(moved - x)
            if (change <= ENOUGH * (1 + x)).all():
                break
        return x

    def _beyond(self, x: Tensor, sd: Tensor, value: Tensor, side: int) -> Tensor:
        """P[side * S >= value], by the sum over frequencies (Gil-Pelaez) of the blurred law."""
        size = self.transition.range
        blur, period = BLUR * np.hypot(size, sd.min()), (2 * self.z + 8) * sd.max() + 4 * size
        last = (1 + np.sqrt(-2 * np.log(self.tail))) / blur  # beyond, the blur leaves less than is asked for
        half = np.arange(np.ceil(last * period / (2 * np.pi))) + 0.5
        t = half * (2 * np.pi / period)
        g = np.exp(1j * side * np.outer(t, self.transition.weights)) @ self.transition.through
        decay, angle = np.log(np.maximum(np.abs(g), 1e-300)), np.unwrap(np.angle(g), axis=0)
        turned = times(x, angle.T) - np.outer(value - INCLUDED * size, t)
        parts = np.exp(times(x, decay.T) - (blur * t) ** 2 / 2) * np.sin(turned)
        return np.asarray(0.5 + parts @ (1 / half) / np.pi)
