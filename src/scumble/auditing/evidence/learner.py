"""What public columns tell of a sensitive one: a model of Pr[value | public columns] that is fitted by a likelihood, smoothed, and stopped where rows that it was not fitted on are told no better.

    ln Pr[x | z] = ln prior_x + sum over tables t of  effect_t[cell of z in t, x]        up to a constant

A table has a cell for each value of a column, or for each pair of values of two. The likelihood of row i is sum_x Pr[x | z_i] L_i(x), where L_i(x) is how likely the row is if the true value is x:
the channel's P[y_i, x] for whoever has the release alone, 1 or 0 for whoever knows true values. One learner serves both. With w_i the belief in x after row i was seen, the slope of the likelihood
is s_i(x) = w_i(x) - Pr[x | z_i], and a step in a cell is

    step = sum_i s_i / (sum_i s_i^2 + ridge)

its own information in the denominator, so that a weak channel makes long steps of few rows and a cell with little information hardly any. Single columns come first, then the pairs that promise most.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.auditing.evidence.column_law import Numbers
from scumble.auditing.evidence.publication import Codes, together
from scumble.auditing.evidence.rows_alike import RowsAlike
from scumble.core.arrow_types import decoded, is_number

BINS = 32
"""Parts of a column in a pair, and of a number with many values."""
MOST_PAIRS = 8
"""Pairs of columns that are fitted, at most."""
SWEEPS = 8
"""Times that all tables are gone through, at most."""
RIDGE = 4.0
RATE = 0.5
WARMTH = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1)
BLEND = (0.0, 0.05, 0.1, 0.2, 0.35)
"""Powers that fitted beliefs are tried with at last, and parts of the prior that are mixed into them, so that they are neither too sure nor too shy."""


@dataclass(frozen=True)
class Axis:
    """One way to number the values of a public column, for all rows of an audit."""

    names: tuple[str, ...]
    codes: Codes
    size: int


def axes_of(table: pa.Table, names: Sequence[str], *, rows: int) -> tuple[list[Axis], list[Axis]]:
    """Each column as it is, and coarser: numbers with many values in parts alike full, words beyond the commonest together."""
    fine, coarse = [], []
    for name in names:
        (codes,), size = together([name], table)
        exact = Axis((name,), codes, size)
        rough = _binned(table.column(name), name, exact)
        if size <= rows / 4:
            fine.append(exact)
        if rough is not exact:
            fine.append(rough)
        coarse.append(rough)
    return fine, coarse


def _binned(column: pa.ChunkedArray, name: str, exact: Axis) -> Axis:
    if exact.size <= BINS:
        return exact
    plain = decoded(column)
    if is_number(plain.type):
        numbers = plain.cast(pa.float64(), safe=False).to_numpy()
        finite = numbers[np.isfinite(numbers)]
        edges = np.unique(np.quantile(finite, np.linspace(0, 1, BINS)[1:-1])) if len(finite) else np.zeros(0)
        return Axis((name,), np.searchsorted(edges, numbers, side="right").astype(np.int64), BINS)
    often = np.argsort(-np.bincount(exact.codes, minlength=exact.size), kind="stable")[: BINS - 1]
    place = np.full(exact.size, BINS - 1)
    place[often] = np.arange(len(often))
    return Axis((name,), place[exact.codes], BINS)


def crossed(one: Axis, other: Axis) -> Axis:
    """Both together."""
    return Axis((*one.names, *other.names), one.codes * other.size + other.codes, one.size * other.size)


@dataclass
class LearntModel:
    """Fitted effects."""

    prior: Numbers
    axes: list[Axis] = field(default_factory=list)
    effects: list[Numbers] = field(default_factory=list)
    warmth: float = 1.0
    blend: float = 0.0

    def beliefs(self, rows: npt.NDArray[np.intp]) -> Numbers:
        """Pr[value | public columns] of some rows, by value."""
        return np.asarray((1 - self.blend) * _softmax(self.warmth * self.logits(rows)) + self.blend * self.prior)

    def calibrate(self, rows: RowsAlike) -> None:
        """Chooses power and part of the prior by rows that it was not fitted on."""
        logits = self.logits(rows.at)
        plain = rows.chances(np.broadcast_to(self.prior, logits.shape))
        told = {}
        for warmth in WARMTH:
            fitted = rows.chances(_softmax(warmth * logits))
            for blend in BLEND:
                told[warmth, blend] = rows.mean_log((1 - blend) * fitted + blend * plain)
        self.warmth, self.blend = max(told, key=told.__getitem__)

    def logits(self, rows: npt.NDArray[np.intp]) -> Numbers:
        """Their logarithms, up to a constant."""
        total = np.tile(np.log(self.prior), (len(rows), 1))
        for axis, effect in zip(self.axes, self.effects, strict=True):
            total += effect[axis.codes[rows]]
        return total


def fit(axes: tuple[list[Axis], list[Axis]], inner: RowsAlike, outer: RowsAlike, prior: Numbers) -> LearntModel:
    """A model of the inner rows; the outer ones tell when to stop."""
    model = LearntModel(np.maximum(prior, 1e-9))
    fitting = _Fitting(model, inner, outer)
    fine, coarse = axes
    fitting.sweeps(fine)
    pairs = [crossed(one, other) for one, other in combinations(coarse, 2)]
    promises = fitting.promises(pairs)
    promising = sorted(range(len(pairs)), key=promises.__getitem__, reverse=True)[:MOST_PAIRS]
    fitting.sweeps([pairs[place] for place in promising if promises[place] > 0])
    return model


class _Fitting:
    """The state of a fit: logits of the groups that it is fitted on, and of those that it is not."""

    def __init__(self, model: LearntModel, inner: RowsAlike, outer: RowsAlike) -> None:
        self._model, self._inner, self._outer = model, inner, outer
        self._logits, self._left = model.logits(inner.at), model.logits(outer.at)

    def sweeps(self, axes: list[Axis]) -> None:
        """Steps in all tables in turn, until rows that were left out are told no better."""
        if not axes:
            return
        best, told = [np.zeros((axis.size, len(self._model.prior))) for axis in axes], self.told()
        effects = [effect.copy() for effect in best]
        logits, left = self._logits.copy(), self._left.copy()
        for _ in range(SWEEPS):
            for axis, effect in zip(axes, effects, strict=True):
                step = RATE * self._step(axis)
                effect += step
                self._logits += step[axis.codes[self._inner.at]]
                self._left += step[axis.codes[self._outer.at]]
            now = self.told()
            if now <= told + 1e-5:
                break
            told, best = now, [effect.copy() for effect in effects]
            logits, left = self._logits.copy(), self._left.copy()
        self._logits, self._left = logits, left
        self._model.axes += axes
        self._model.effects += best

    def told(self) -> float:
        """How well rows are told that were left out."""
        return self._outer.mean_log(self._outer.chances(_softmax(self._left)))

    def promises(self, axes: list[Axis]) -> list[float]:
        """How much a first step in each table gains, beyond what it gains by chance."""
        slopes, gained = self._inner.slopes(_softmax(self._logits)), []
        for axis in axes:
            sums, squares = (self._by_cell(axis, part) for part in slopes)
            gain = sums**2 / (squares + RIDGE)
            gained.append(float((gain - squares / (squares + RIDGE)).sum()))
        return gained

    def _step(self, axis: Axis) -> Numbers:
        sums, squares = (self._by_cell(axis, part) for part in self._inner.slopes(_softmax(self._logits)))
        return np.clip(sums / (squares + RIDGE), -4, 4)

    def _by_cell(self, axis: Axis, values: Numbers) -> Numbers:
        """The sums of values over the groups of each cell, column by column."""
        columns = values.shape[1]
        places = (axis.codes[self._inner.at][:, None] * columns + np.arange(columns)).ravel()
        summed = np.bincount(places, values.ravel(), axis.size * columns)
        return np.asarray(summed, np.float64).reshape(axis.size, columns)


def _softmax(logits: Numbers) -> Numbers:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))
