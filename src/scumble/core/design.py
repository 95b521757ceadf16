"""Cyclic designs: channels with more codes than values, as exact as any channel of the same gamma is, within a few percent.

Values are the places 0 to m - 1 of a circle of K. With D a difference set of Z_K (core/difference_set.py), k its size and lambda how often each difference
occurs, a value x is published as the code

    y = (x + d) mod K,        each d in D gamma times as likely as each d outside of it

so that gamma is the amplification, exactly. A code stands for the block {y - d : d in D}, which holds the true value with probability A, and any
other value with probability Q:

    Z = gamma k + K - k,      A = gamma k / Z,      Q = (gamma lambda + k - lambda) / Z

    phi_h(y) = (sum over d in D of h(y - d) - Q sum of h) / (A - Q)

where h on the K - m places that are no values is its mean over the m values: weights of 1 are 1 then, and those of groups add up. All sums are
correlations with D, by the fast Fourier transform in O(K log K). Proof: docs/proofs/design.md.

where K = `codes`, D = `blocks.offsets`, A = `held`, Q = `others`.
"""

import math
from typing import Any

import numpy as np

from scumble.core.channel_base import BaseChannel, Flags, Pair, Places, Vector
from scumble.core.channel_cells import CellChannel
from scumble.core.circle import Circle
from scumble.core.difference_set import DifferenceSet, one_place, prime_factors, prime_powers, singer, sizes
from scumble.core.display import Card, Note, Part
from scumble.core.errors import ParameterError
from scumble.core.once import once
from scumble.core.parameters import number, plain

MOST_LISTED = 1 << 20
"""Codes of a design whose set is listed in a manifest, at most."""


class Design(BaseChannel):
    """The cyclic design of the smallest variance for so many values and gamma; the set {0}, which is uniform replacement, where that is best.

    >>> design = Design(46, 2.06)
    >>> design.blocks.order, design.blocks.dimension, design.codes
    (3, 5, 121)
    >>> float((design.matrix().T @ design.weights(np.arange(46))).round(9)[7])
    7.0
    >>> Design(14, 9).codes
    14
    """

    def __init__(self, size: int, gamma: Any, blocks: DifferenceSet | None = None) -> None:
        self.size = _whole(size)
        self.gamma = number(gamma, "gamma")
        if self.gamma <= 1:
            raise ParameterError(f"gamma must be above 1, not {gamma}: at 1 nothing of the value is published")
        self.blocks = blocks or best_blocks(self.size, self.gamma)
        if self.blocks.codes < self.size:
            raise ParameterError(f"a design of {self.blocks.codes:,} codes has no room for {self.size:,} values")
        self._circle = Circle(self.blocks.codes, self.blocks.offsets)
        k, repeats = len(self.blocks.offsets), self.blocks.repeats
        self._unit = self.gamma * k + self.codes - k
        self.held = self.gamma * k / self._unit
        self.others = (self.gamma * repeats + k - repeats) / self._unit
        self._last: tuple[bytes, CellChannel] | None = None

    @property
    def codes(self) -> int:
        """K."""
        return self.blocks.codes

    @property
    def uniform(self) -> bool:
        """Whether a code is a value and stands for itself alone: uniform replacement."""
        return len(self.blocks.offsets) == 1 and self.codes == self.size

    @property
    def amplification(self) -> float:
        """gamma; 1 where there is one value."""
        return self.gamma if self.size > 1 else 1.0

    def block(self, code: int) -> Places:
        """The values that a code stands for.

        >>> Design(6, 2, singer(2, 3)).block(0).tolist()
        [0, 4]
        """
        values = self._circle.block(code)
        return np.asarray(values[values < self.size])

    def _filled(self, values: Vector, rest: Any) -> Vector:
        """Numbers of values on the whole circle."""
        whole = np.empty((self.codes, *values.shape[1:]))
        whole[: self.size], whole[self.size :] = values, rest
        return whole

    def apply(self, counts: Any) -> Vector:
        """P x, in O(K log K)."""
        x = self.demand(counts, self.size, "value")
        inside = self._circle.forward(self._filled(x, 0.0))
        return np.asarray((x.sum(axis=0) + (self.gamma - 1) * inside) / self._unit)

    def expect(self, g: Any) -> Vector:
        """P^T g, in O(K log K)."""
        values = self.demand(g, self.codes, "code")
        inside = self._circle.back(values)[: self.size]
        return np.asarray((values.sum(axis=0) + (self.gamma - 1) * inside) / self._unit)

    def expect_squares(self, g: Any) -> Vector:
        """The same with the squares of P."""
        values = self.demand(g, self.codes, "code")
        inside = self._circle.back(values)[: self.size]
        return np.asarray((values.sum(axis=0) + (self.gamma**2 - 1) * inside) / self._unit**2)

    def weights(self, h: Any) -> Vector:
        """phi_h of each code, in O(K log K)."""
        values = self.demand(h, self.size, "value")
        mean = values.mean(axis=0)  # its weights are itself, and h less its mean has the sum 0
        inside = self._circle.forward(self._filled(values - mean, 0.0))
        return np.asarray(mean + inside / (self.held - self.others))

    @once
    def _unused(self) -> Vector:
        """What the places that are no values add to the weights of any one value, by code."""
        unused = self._circle.forward(self._filled(np.zeros(self.size), 1.0))
        return np.asarray((unused - self.others * self.codes) / (self.size * (self.held - self.others)))

    def solve(self, counts: Any) -> Vector:
        """Of each value d the sum of its weights, 1[d is in the block] / (A - Q) and those of the unused places."""
        y = self.demand(counts, self.codes, "code")
        return np.asarray(self.matches(y) / (self.held - self.others) + np.tensordot(self._unused, y, axes=1))

    def solve_squares(self, counts: Any) -> Vector:
        """The same with squares."""
        t, step = self.demand(counts, self.codes, "code"), 1 / (self.held - self.others)
        unused = self._unused.reshape(-1, *(1,) * (t.ndim - 1))
        crossed = self.matches(t * (step + 2 * unused))
        return np.asarray(step * crossed + np.tensordot(self._unused**2, t, axes=1))

    def matches(self, counts: Any) -> Vector:
        """How many published rows have a code whose block holds each value."""
        return np.asarray(self._circle.back(self.demand(counts, self.codes, "code"))[: self.size])

    def likelihood(self, codes: Places, values: Places) -> Vector:
        """gamma / Z where the block of the code holds the value, else 1 / Z."""
        held = self._circle.holds(codes, values)
        return np.asarray(np.where(held, self.gamma, 1.0) / self._unit)

    def singular_values(self) -> Vector:
        """With M the blocks as columns, M^T M = (k - lambda) I + lambda J: so P^T P = (a J + b I) / Z^2 has the values a m + b and b."""
        k, repeats, step = len(self.blocks.offsets), self.blocks.repeats, self.gamma - 1
        a, b = self.codes + 2 * step * k + step**2 * repeats, step**2 * (k - repeats)
        return np.asarray(np.sqrt(np.array([a * self.size + b, b][: self.size])) / self._unit)

    def extremes(self) -> tuple[Vector, Vector]:
        """1 / Z and gamma / Z."""
        return np.full(self.codes, 1 / self._unit), np.full(self.codes, self.gamma / self._unit)

    def posterior_range(self, prior: Vector) -> tuple[Vector, Vector]:
        """The likeliest and the unlikeliest code whose block holds a value, or does not, decide."""
        largest, smallest = self._circle.extremes(1 / (self._unit * self.apply(prior)), self.gamma)
        return prior * largest[: self.size], prior * smallest[: self.size]

    def likeliest(self, prior: Vector) -> tuple[Places, Vector]:
        """The most frequent value of a block, or one that is still more frequent."""
        value, joint = self._circle.likeliest(self._filled(prior, -1.0), self.gamma)
        return value, joint / self._unit

    def pair(self, inside: Flags) -> Pair | None:
        """Of one value, and of all values but one, which are its complement."""
        members = int(inside.sum())
        if self.size < 2 or members not in (1, self.size - 1):
            return None
        one = inside if members == 1 else ~inside
        holding = self._circle.forward(self._filled(one.astype(np.float64), 0.0)) > 0.5
        if members == 1:
            return Pair(holding, self.held, self.others)
        return Pair(~holding, 1 - self.others, 1 - self.held)

    @property
    def against_others(self) -> tuple[float, Vector]:
        """A - Q and Q / (1 - A + Q): a value is held as one of a uniform channel is."""
        p = self.held - self.others
        return p, np.broadcast_to(np.float64(self.others / (1 - p)), self.size)

    def collapse(self, cells: Places, count: int) -> BaseChannel:
        """Cells of codes are those whose blocks hold as many values of each cell."""
        if np.array_equal(cells, np.arange(self.size)):
            return self
        key = cells.tobytes()
        last = self._last
        if last is None or last[0] != key:  # a question asks for the same cells line after line
            self._last = last = key, self._between(cells, count)
        return last[1]

    def _between(self, cells: Places, count: int) -> CellChannel:
        chosen = _indicators(cells, count)
        _, first, place = self._cut(chosen)
        means = self.apply(chosen / chosen.sum(axis=0))
        summed = np.zeros((len(first), count))
        np.add.at(summed, place, means)

        def pair(inside: Flags) -> Pair | None:
            whole = self.pair(inside[cells])
            return None if whole is None else Pair(whole.matches[first], whole.kept, whole.drawn)

        return CellChannel(self.weights(chosen)[first], summed, self.gamma, pair)

    def places(self, cells: Places, count: int) -> Places:
        """The cell of each code."""
        if np.array_equal(cells, np.arange(self.size)):
            return np.arange(self.codes)
        return self._cut(_indicators(cells, count))[2]

    def _cut(self, chosen: Vector) -> tuple[Vector, Places, Places]:
        if chosen.shape[1] == 1:  # all values together: their weights are 1
            return np.ones((1, 1)), np.zeros(1, dtype=np.intp), np.zeros(self.codes, dtype=np.intp)
        held = np.rint(self._circle.forward(self._filled(chosen, 0.0)))
        kinds, first, place = np.unique(held, axis=0, return_index=True, return_inverse=True)
        return kinds, first, place.reshape(-1)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Design):
            return NotImplemented
        same = (self.size, self.gamma, self.codes) == (other.size, other.gamma, other.codes)
        return same and np.array_equal(self.blocks.offsets, other.blocks.offsets)

    __hash__ = None  # type: ignore[assignment]  # compared by value, holds arrays

    def card(self) -> Card:
        """What a code stands for, and how much odds change."""
        k = len(self.blocks.offsets)
        parts: list[Part] = [
            Note(
                f"a value is published as one of {self.codes:,} codes, each of which stands for {k:,} places of a circle; it holds the value "
                f"with probability {self.held:.4g}, and any other value with {self.others:.4g}; odds change by a factor of at most "
                f"{plain(self.amplification, 4)}, epsilon = {self.epsilon:.4g}"
            )
        ]
        return Card(f"a design on {self.size:,} values", parts)

    def __repr__(self) -> str:
        return f"Design(size={self.size}, gamma={self.gamma:.6g}, codes={self.codes}, block={len(self.blocks.offsets)})"


def best_blocks(
    size: int, gamma: float, most: int = MOST_LISTED, *, prime: bool = False, slack: float = 0.0
) -> DifferenceSet:
    """The difference set of the smallest variance; {0} on as many codes as values where none is smaller than uniform replacement's.

    most    codes, at most
    prime   whether its field must have a prime number of elements, in which anybody can compute
    slack   how much larger the variance may be for fewer codes
    """
    fits = [
        (variance(*sizes(*candidate), gamma), sizes(*candidate)[0], candidate)
        for candidate in _candidates(size, gamma, most, prime)
    ]
    least = min((spread for spread, _, _ in fits), default=math.inf)
    if least >= variance(size, 1, 0, gamma):
        return one_place(size)
    near = [(codes if slack else spread, codes, c) for spread, codes, c in fits if spread <= least * (1 + slack)]
    return singer(*min(near)[2])


def variance(codes: int, inside: int, repeats: int, gamma: float) -> float:
    """Q (1 - Q) / (A - Q)^2: what a row adds to the variance of the count of a value that it does not have.

    >>> round(variance(121, 40, 13, 2.06), 4)
    7.1973
    """
    unit = gamma * inside + codes - inside
    held, others = gamma * inside / unit, (gamma * repeats + inside - repeats) / unit
    return others * (1 - others) / (held - others) ** 2


def _candidates(size: int, gamma: float, most: int, prime: bool) -> list[tuple[int, int]]:
    """Prime powers near gamma + 1, each with the two smallest dimensions that have room."""
    pairs = []
    for order in prime_powers(min(math.ceil(4 * gamma) + 16, 256)):
        if prime and prime_factors(order) != [order]:
            continue
        room = [t for t in range(3, 24) if size <= sizes(order, t)[0] <= most][:2]
        pairs += [(order, t) for t in room]
    return pairs


def _indicators(cells: Places, count: int) -> Vector:
    chosen = np.zeros((len(cells), count))
    chosen[np.arange(len(cells)), cells] = 1
    return chosen


def _whole(size: Any) -> int:
    if isinstance(size, bool) or int(size) != size or size < 1:
        raise ParameterError(f"a design needs a whole number of values, at least one, not {size}")
    return int(size)
