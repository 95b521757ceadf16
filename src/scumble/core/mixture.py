"""Mixtures: a channel for numbers. With public probabilities a row is published by one of several parts, and which part is published too.

    P[(c, y), x] = w_c sum over places of R_c[place, x] q_c(y - place),        q_c(d) = gamma / Z_c for d in D_c, else 1 / Z_c

where w_c = `shares`, R_c = `parts` (core/mixture_part.py), Z_c = gamma k_c + K_c - k_c. Every entry of a row is a mean of two numbers that differ by gamma, so that gamma is
the amplification.

A number is known at several levels at once, and weights are not unique. Those of least squares are taken, for the public working variance v that codes
have where all numbers are as likely as each other (`expected`). With Q_c = P_c - v_c 1^T, what a part tells beyond that, and J a matrix of ones,

    N = sum of w_c Q_c^T diag(1/v_c) Q_c,      (N + t J) z = h - mean,      phi_h = mean + t 1^T z + (Q_c z / v_c, for each part c)

with the mean of h over the values, so that weights of 1 are 1. They are unbiased whatever the table is and whatever t > 0, because columns of Q_c sum to 0, so that
P^T phi = mean + t 1^T z + N z = h. The working variance decides how exact they are.
N is a matrix of ones on intervals within intervals and one of small rank (core/information.py), and is never built. Proof: docs/proofs/mixture.md.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from scumble.core.channel_base import BaseChannel, CodeSection, Flags, Pair, Places, Vector
from scumble.core.channel_cells import CellChannel
from scumble.core.display import Card, Grid, Note
from scumble.core.display import Part as Shown
from scumble.core.errors import NotEstimable
from scumble.core.information import Information
from scumble.core.mixture_level import LevelPart
from scumble.core.mixture_part import Numbers, Part
from scumble.core.mixture_window import WindowPart
from scumble.core.once import once
from scumble.core.parameters import plain

MOST_SQUARES = 1 << 32
"""Weights of all values, one by one, that are squared for a question: values times codes."""


class Mixture(BaseChannel):
    """The channel of some parts, each with its probability."""

    def __init__(self, parts: Sequence[Part], shares: Sequence[float], gamma: float) -> None:
        self.parts = list(parts)
        self.shares = [float(share) for share in shares]
        self.gamma = float(gamma)
        self.numbers: Numbers = parts[0].numbers
        self.size = self.numbers.size
        ends = np.cumsum([0, *(part.codes for part in parts)])
        self.slices = [slice(int(a), int(b)) for a, b in pairwise(ends)]

    @property
    def codes(self) -> int:
        """Those of all parts, one after another."""
        return self.slices[-1].stop

    @property
    def amplification(self) -> float:
        """gamma."""
        return self.gamma

    @property
    def sections(self) -> list[CodeSection]:
        """The parts."""
        return [CodeSection(codes.start, codes.stop, share, part.words) for part, share, codes, _ in self._each()]

    @property
    def alike(self) -> bool:
        """Numbers in the middle are known better than those at the ends."""
        return False

    def _each(self) -> Iterator[tuple[Part, float, slice, float]]:
        """Parts with their probabilities, codes and Z."""
        for part, share, codes in zip(self.parts, self.shares, self.slices, strict=True):
            yield part, share, codes, part.unit(self.gamma, 1.0)

    def apply(self, counts: Any) -> Vector:
        """P x, in O(K log K)."""
        x = self.demand(counts, self.size, "value")
        total, published = x.sum(axis=0), np.empty((self.codes, *x.shape[1:]))
        for part, share, codes, unit in self._each():
            published[codes] = share / unit * (total + (self.gamma - 1) * part.circle.forward(part.gather(x)))
        return published

    def expect(self, g: Any) -> Vector:
        """P^T g, in O(K log K)."""
        values = self.demand(g, self.codes, "code")
        means = np.zeros((self.size, *values.shape[1:]))
        for part, share, codes, unit in self._each():
            own = values[codes]
            held = part.spread(part.circle.back(own))
            means += share / unit * (own.sum(axis=0) + (self.gamma - 1) * held)
        return means

    def expect_squares(self, g: Any) -> Vector:
        """The same with the squares of P."""
        values = self.demand(g, self.codes, "code")
        squares = np.zeros((self.size, *values.shape[1:]))
        for part, share, codes, unit in self._each():
            squares += (share / unit) ** 2 * part.squares(values[codes], self.gamma)
        return squares

    @once
    def _information(self) -> Information:
        """N + t J. Of a level N is s^2 (k - lambda) / Z^2 (K R^T R - J)."""
        levels: dict[int, float] = {}
        common, windows = self._constant, []
        for part, share, _, _ in self._each():
            if isinstance(part, LevelPart):
                own = share * part.products(self.gamma)[1]
                levels[part.width] = own * part.codes
                common -= own
            elif isinstance(part, WindowPart):
                windows.append((part, share * part.contrasts(self.gamma)))
        return Information(self.numbers, common, levels, windows)

    @property
    def _constant(self) -> float:
        """t: as large as what the two ends tell, so that no rounding is lost by it; any other would do."""
        return ((self.gamma - 1) / (self.gamma + 1)) ** 2

    def weights(self, h: Any) -> Vector:
        """phi_h of each code, in O(K log K)."""
        values = self.demand(h, self.size, "value")
        mean = values.mean(axis=0)
        z = self._information.solve(values - mean)
        total, phi = z.sum(axis=0), np.empty((self.codes, *values.shape[1:]))
        for part, _, codes, unit in self._each():
            told = part.circle.forward(part.gather(z)) - _along(part.held_by_chance, z) * total
            phi[codes] = (self.gamma - 1) / unit * told / _along(part.expected(self.gamma), z)
        return np.asarray(mean + self._constant * total + phi)

    def solve(self, counts: Any) -> Vector:
        """Of each value the sum of its weights: those of `weights`, transposed."""
        y = self.demand(counts, self.codes, "code")
        total = y.sum(axis=0)
        told = np.repeat((self._constant * total)[np.newaxis], self.size, axis=0)
        for part, _, codes, unit in self._each():
            own = y[codes] / _along(part.expected(self.gamma), y)
            by_chance = (own * _along(part.held_by_chance, y)).sum(axis=0)
            told += (self.gamma - 1) / unit * (part.spread(part.circle.back(own)) - by_chance)
        estimates = self._information.solve(told)
        return np.asarray(estimates + (total - estimates.sum(axis=0)) / self.size)

    def solve_squares(self, counts: Any) -> Vector:
        """The same with squares: of some values at a time, as no two of them have alike weights."""
        t = self.demand(counts, self.codes, "code")
        if self.size * self.codes > MOST_SQUARES:
            raise NotEstimable(
                f"a line for each of {self.size:,} numbers takes too long here; ask for ranges of numbers instead"
            )
        squares = np.empty((self.size, *t.shape[1:]))
        for some, units in self.unit_blocks():
            squares[some] = np.tensordot((self.weights(units) ** 2).T, t, axes=1)
        return squares

    def matches(self, counts: Any) -> Vector:
        """How many published rows have a code that stands for the place of each value."""
        y = self.demand(counts, self.codes, "code")
        matches = np.zeros((self.size, *y.shape[1:]))
        for part, _, codes, _ in self._each():
            matches += part.spread(part.circle.back(y[codes]))
        return matches

    def likelihood(self, codes: Places, values: Places) -> Vector:
        """P of pairs."""
        y, x = np.broadcast_arrays(np.asarray(codes, dtype=np.int64), np.asarray(values, dtype=np.int64))
        chances = np.zeros(y.shape)
        for part, share, own, unit in self._each():
            here = (y >= own.start) & (y < own.stop)
            held = part.chance(y[here] - own.start, x[here])
            chances[here] = share / unit * (1 + (self.gamma - 1) * held)
        return chances

    def singular_values(self) -> Vector:
        """The largest and the smallest, by iteration: P^T P is of the kind that `Information` solves."""
        from scipy.sparse.linalg import LinearOperator, eigsh

        if self.size < 8:
            return np.asarray(np.linalg.svd(self.matrix(), compute_uv=False))
        inverse = self._squared()
        shape = (self.size, self.size)
        start = np.cos(np.arange(self.size))  # any that is alike in every run
        whole = LinearOperator(shape, matvec=lambda z: self.expect(self.apply(z.ravel())), dtype=np.float64)
        undone = LinearOperator(shape, matvec=lambda z: inverse.solve(z.ravel()), dtype=np.float64)
        largest, smallest = (
            float(eigsh(operator, k=1, v0=start, return_eigenvectors=False, tol=1e-6)[0])
            for operator in (whole, undone)
        )
        return np.sqrt([largest, 1 / smallest])

    def _squared(self) -> Information:
        """P^T P."""
        levels: dict[int, float] = {}
        common, windows = 0.0, []
        for part, share, _, unit in self._each():
            if isinstance(part, LevelPart):
                alike, own = part.products(self.gamma)
                common, levels[part.width] = common + share**2 * alike, share**2 * own
            elif isinstance(part, WindowPart):
                windows.append((part, (share / unit) ** 2 * part.products(self.gamma)))
        return Information(self.numbers, common, levels, windows)

    def extremes(self) -> tuple[Vector, Vector]:
        """w / Z and gamma w / Z: bounds, which codes of intervals reach."""
        low = np.concatenate([np.full(part.codes, share / unit) for part, share, _, unit in self._each()])
        return low, self.gamma * low

    def posterior_range(self, prior: Vector) -> tuple[Vector, Vector]:
        """Part by part: of a level the likeliest and the unlikeliest code that holds an interval, or does not, decide."""
        seen = self.apply(prior)
        parts = [part.extremes(share / unit / seen[own], self.gamma) for part, share, own, unit in self._each()]
        return prior * np.max([large for large, _ in parts], axis=0), prior * np.min(
            [small for _, small in parts], axis=0
        )

    def likeliest(self, prior: Vector) -> tuple[Places, Vector]:
        """Part by part."""
        parts = [part.likeliest(prior, self.gamma) for part in self.parts]
        joint = [most * share / unit for (_, most), (_, share, _, unit) in zip(parts, self._each(), strict=True)]
        return np.concatenate([value for value, _ in parts]), np.concatenate(joint)

    def pair(self, inside: Flags) -> Pair | None:
        """None: codes of several parts tell of a set in several ways."""
        return None

    @property
    def against_others(self) -> tuple[float, Vector] | None:
        """Of no value is there one such number."""
        return None

    def collapse(self, cells: Places, count: int) -> BaseChannel:
        """Between cells of values and codes: no two codes have alike weights."""
        if np.array_equal(cells, np.arange(self.size)):
            return self
        if count == 1:
            return CellChannel(np.ones((1, 1)), np.ones((1, 1)), self.gamma, lambda _: None)
        chosen = np.zeros((self.size, count))
        chosen[np.arange(self.size), cells] = 1
        return CellChannel(self.weights(chosen), self.apply(chosen / chosen.sum(axis=0)), self.gamma, lambda _: None)

    def places(self, cells: Places, count: int) -> Places:
        """Each code by itself; all together where all values are."""
        return np.zeros(self.codes, dtype=np.intp) if count == 1 else np.arange(self.codes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mixture):
            return NotImplemented
        same = (self.size, self.gamma, self.shares) == (other.size, other.gamma, other.shares)
        return same and [part.spelling for part in self.parts] == [part.spelling for part in other.parts]

    __hash__ = None  # type: ignore[assignment]  # compared by value, holds arrays

    def card(self) -> Card:
        """The parts, how often each is published, and how much odds change."""
        bound = f"odds change by a factor of at most {plain(self.amplification, 4)}, epsilon = {self.epsilon:.4g}"
        rows = [(f"{share:.1%}", part.words, f"{part.codes:,}") for part, share, _, _ in self._each()]
        parts: list[Shown] = [
            Note(f"each row is published by one of these, which is published too; {bound}"),
            Grid(("rows", "what a code stands for", "codes"), rows, (1,)),
        ]
        return Card(f"a mixture on {self.size:,} values", parts)

    def __repr__(self) -> str:
        return f"Mixture(size={self.size}, gamma={self.gamma:.6g}, codes={self.codes}, parts={len(self.parts)})"


def _along(factor: Vector | float, like: Vector) -> Vector | float:
    """One number for each code, with as many dimensions."""
    return factor.reshape(-1, *(1,) * (like.ndim - 1)) if isinstance(factor, np.ndarray) else factor
