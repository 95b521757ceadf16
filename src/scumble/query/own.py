"""The variance of answers where values are replaced by others of the same column, drawn anew (identity) or permuted (swapped).

The replacement distribution r is then taken from the N published rows themselves, so that an estimate moves with all of them. With W the weights, and
for each perturbed column its retention p and D(v), what the rows would add up to if all had the true value v there,

    S = sum of t W,        dS / dr_v = -(1 - p) D(v) / p,        r_v = (rows published with v) / N

and a row, of the question or not, changes S by t W(y) less the sum over columns of lambda D(y) / (p N), lambda = 1 - p. A permutation has no error in r, but its
draws are not independent: what it takes away is the mean over all rows, lambda = 1. Given the true values rows are independent in the first case, and to
first order in the second, so that with u = Var(W | x), and e(x) the mean of D(y) for a true value x,

    Var(S) = sum of t^2 u - 2 sum over columns of k C1 + sum over columns of k^2 C2,          k = lambda / (p N)
    C1 = sum over the question's rows of t Cov(W, D | x) = sum of t W D(y) less the estimate of sum t f e
    C2 = sum over all rows of Var(D | x)                 = N r (D^2 - the weights of e^2)

For one column and all rows that is p^2 times the first sum, because then S is the number of published rows itself; of a permutation it is 0.
docs/proofs/intervals.md has the proof.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel, Vector, replacement_of
from scumble.query.compile import Published
from scumble.query.moments import quotient
from scumble.query.stratum import Stratum

Tensor = npt.NDArray[np.float64]

ROUNDING = 1e-9
"""A part of a variance that is the arithmetic's."""


def corrected(part: Stratum, variance: Tensor, first: Vector, present: str | None = None) -> Tensor:
    """The variance of a sum with these first sums, where the first term of the above is known."""
    corrected_variance = variance + change(part, first, first, present)
    return np.where(corrected_variance > ROUNDING * variance, corrected_variance, 0.0)


def lean(p: float, share: Tensor, permuted: bool) -> Tensor:
    """How much more the variance of a count follows it than if r were known, where the value is rare and a share of all rows is asked about.

    With Y and Y' the published matches among these rows and the others, both sums are linear in them then: S = a Y + a' Y' and V = b Y + b' Y', and
    the slope is Cov(V, S) / Var(S) = (a b share + a' b' (1 - share)) / (a^2 share + a'^2 (1 - share)), which is (1 - p) / p where r is known.
    """
    taken = (1.0 if permuted else 1 - p) * share
    inside, outside = (1 - taken) / p, -taken / p
    own = inside**2 * (1 + p * share) + outside**2 * p * (1 - share)
    other = inside**2 * p * share + outside**2 * (1 + p * (1 - share))
    spread = inside**2 * share + outside**2 * (1 - share)
    return p * quotient(own * inside * share + other * outside * (1 - share), spread)


def change(part: Stratum, first: Vector, second: Vector, present: str | None = None) -> Tensor:
    """What is added to the covariance of two sums over the same condition."""
    total = part.blank()
    kinds: list[tuple[type[Asked] | type[Listed], int]] = [(Listed, place) for place in range(len(part.cells.shape))]
    truth = part.truth & part.present(present)
    kinds += [(Asked, i) for i in range(len(part.question.others)) if _matters(truth, len(part.cells.shape) + i)]
    for kind, place in kinds:
        one = kind.of(part, place, first, present)
        other = one if second is first else kind.of(part, place, second, present)
        total += _of_column(one, other, part.question.published)
    return total


def _matters(truth: npt.NDArray[np.bool_], axis: int) -> bool:
    """Whether a condition depends on a column; else D is the same for all its values, and nothing is added."""
    return bool(np.any(truth.any(axis=axis) != truth.all(axis=axis)))


def _of_column(one: "Asked | Listed", other: Any, published: Published) -> Tensor:
    """What one column adds."""
    k = (1.0 if published.permuted else 1 - one.retain) / (one.retain * published.whole)
    all_rows = k**2 * published.whole * one.over_all(other)
    return np.asarray(all_rows - k * (one.over_rows(other) + other.over_rows(one)))


@dataclass(frozen=True)
class Asked:
    """How a sum depends on a column of conditions: by its cells v along the first axis, then by row of the answer."""

    channel: Channel
    """Between the cells."""
    whole: Tensor
    """D(v)."""
    seen: Tensor
    """The part of the sum from rows published in v."""
    true: Tensor
    """The part of the sum from rows whose true value is in v, estimated."""

    @classmethod
    def of(cls, part: Stratum, place: int, first: Vector, present: str | None) -> "Asked":
        """Of the sum of these first sums."""
        axis = part.question.others[place]
        cells = np.eye(axis.count).reshape(axis.count, *(-1 if i == place else 1 for i in range(len(part.cells.rest))))

        def parts(weigh: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
            return np.stack([part.solved(partial(weigh, cell), first, present) for cell in cells])

        def as_if(cell: Tensor, f: Tensor) -> Tensor:
            there = (part.rest_weights(f, skip=place) * cell).sum(axis=place, keepdims=True)
            return np.broadcast_to(there, f.shape)

        return cls(
            replacement_of(axis.collapsed(part.channels[axis.name])),
            parts(as_if),
            parts(lambda cell, f: part.rest_weights(f) * cell),
            parts(lambda cell, f: part.rest_weights(f * cell)),
        )

    @property
    def retain(self) -> float:
        """p."""
        return float(self.channel.retain)

    def over_rows(self, other: "Asked") -> Tensor:
        """C1, with the weights of this sum and D of the other."""
        return np.asarray((self.seen * other.whole - self.true * self.channel.expect(other.whole)).sum(axis=0))

    def over_all(self, other: "Asked") -> Tensor:
        """C2 for each row of the table."""
        product = self.channel.expect(self.whole) * self.channel.expect(other.whole)
        spread = self.whole * other.whole - self.channel.weights(product)
        return np.asarray(np.tensordot(self.channel.replace, spread, axes=1))


@dataclass(frozen=True)
class Listed:
    """How a sum depends on a column that is grouped by: a row of the answer has one value d, and D(v) is 0 elsewhere."""

    retain: float
    replace: Tensor
    """r_d, along the axis of the column."""
    whole: Tensor
    """D(d)."""
    seen: Tensor
    """The rows published with d, before the weight of this column."""
    true: Tensor
    """The sum itself."""

    @classmethod
    def of(cls, part: Stratum, place: int, first: Vector, present: str | None) -> "Listed":
        """Of the sum of these first sums."""
        channel = replacement_of(part.channels[part.question.grouped[place].name])
        shape = [1] * (1 + len(part.cells.shape))
        shape[1 + place] = -1
        return cls(
            float(channel.retain),
            channel.replace.reshape(shape),
            part.solved(part.rest_weights, first, present, but=place, over=True),
            part.solved(part.rest_weights, first, present, but=place),
            part.solved(part.rest_weights, first, present),
        )

    @property
    def drawn(self) -> Tensor:
        """The probability with which another value becomes d; of d itself it is p more."""
        return (1 - self.retain) * self.replace

    def over_rows(self, other: "Listed") -> Tensor:
        """C1: of d the weight of the column is (1 - drawn) / p."""
        seen = self.seen * (1 - self.drawn) / self.retain
        return np.asarray(other.whole * (seen - self.true * (self.retain + self.drawn)))

    def over_all(self, other: "Listed") -> Tensor:
        """C2 for each row of the table."""
        kept, b, r = self.retain + self.drawn, self.drawn, self.replace
        return np.asarray(self.whole * other.whole * (r * kept * (1 - kept) + (1 - r) * b * (1 - b)))
