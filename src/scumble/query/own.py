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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel, replacement_of
from scumble.query.compile import Published
from scumble.query.moments import quotient

if TYPE_CHECKING:
    from scumble.query.joint import Weighed

Tensor = npt.NDArray[np.float64]

ROUNDING = 1e-9
"""A part of a variance that is the arithmetic's."""


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


def change(weighed: "Weighed", j: int, k: int) -> Tensor:
    """What is added to the covariance of two sums, for every line."""
    part, total = weighed.part, np.zeros(())
    for place in range(part.ahead):
        if not {place} & (weighed.sums[j].over | weighed.sums[k].over):  # else the sum does not depend on the column
            one, other = (Listed.of(weighed, i, place) for i in (j, k))
            total = total + of_column(one, other, part.question.published)
    for place in range(len(part.question.others)):
        if all(any(_varies(table, place) for table in weighed.tables[i].values()) for i in (j, k)):
            first, second = (Asked.of(weighed, i, place) for i in (j, k))
            total = total + of_column(first, second, part.question.published)
    return np.asarray(total)


def _varies(table: Tensor, axis: int) -> bool:
    """Whether a table depends on a column; else D is the same for all its values, and nothing is added."""
    return bool(np.any(np.ptp(table, axis=axis) != 0))


def of_column(one: "Asked | Listed", other: "Asked | Listed", published: Published) -> Tensor:
    """What one column adds."""
    k = (1.0 if published.permuted else 1 - one.retain) / (one.retain * published.whole)
    all_rows = k**2 * published.whole * one.over_all(other)
    return np.asarray(all_rows - k * (one.over_rows(other) + other.over_rows(one)))


@dataclass(frozen=True)
class Asked:
    """How a sum depends on a column of conditions or values: by its cells v along the first dimension, then by line."""

    channel: Channel
    """Between the cells."""
    whole: Tensor
    """D(v)."""
    seen: Tensor
    """The part of the sum from rows published in v."""
    true: Tensor
    """The part of the sum from rows whose true value is in v, estimated."""

    @classmethod
    def of(cls, weighed: "Weighed", j: int, place: int) -> "Asked":
        """Of one of the sums."""
        part = weighed.part
        axis, rank = part.question.others[place], len(part.cells.rest) + 1
        cells = np.eye(axis.count).reshape(axis.count, *(-1 if i == place else 1 for i in range(rank)))
        added = partial(_added, weighed, j)

        def as_if(cell: Tensor, table: Tensor) -> Tensor:
            there = (part.weights(table, skip=place) * cell).sum(axis=place, keepdims=True)
            return np.broadcast_to(there, (*part.cells.rest, table.shape[-1]))

        return cls(
            replacement_of(axis.collapsed(part.channels[axis.name])),
            np.stack([added([as_if(cell, t) for t in weighed.tables[j].values()]) for cell in cells]),
            np.stack([added([part.weights(t) * cell for t in weighed.tables[j].values()]) for cell in cells]),
            np.stack([added([part.weights(t * cell) for t in weighed.tables[j].values()]) for cell in cells]),
        )

    @property
    def retain(self) -> float:
        """p."""
        return float(self.channel.retain)

    def over_rows(self, other: "Asked | Listed") -> Tensor:
        """C1, with the weights of this sum and D of the other."""
        return np.asarray((self.seen * other.whole - self.true * self.channel.expect(other.whole)).sum(axis=0))

    def over_all(self, other: "Asked | Listed") -> Tensor:
        """C2 for each row of the table."""
        product = self.channel.expect(self.whole) * self.channel.expect(other.whole)
        spread = self.whole * other.whole - self.channel.weights(product)
        return np.asarray(np.tensordot(self.channel.replace, spread, axes=1))


def _added(weighed: "Weighed", j: int, weights: Sequence[Tensor], over: frozenset[int] | None = None) -> Tensor:
    """A sum with other weights of published cells."""
    names = [weighed.totals.factors.names[factor] for factor in weighed.tables[j]]
    total = sum(weighed.part.gather(w, name) for w, name in zip(weights, names, strict=True))
    return weighed.part.solve(np.asarray(total), weighed.sums[j].over if over is None else over)


@dataclass(frozen=True)
class Listed:
    """How a sum depends on a column that is grouped by: a line has one value d, and D(v) is 0 elsewhere."""

    retain: float
    replace: Tensor
    """r_d, along the dimension of the column."""
    whole: Tensor
    """D(d)."""
    seen: Tensor
    """The rows published with d, before the weight of this column."""
    true: Tensor
    """The sum itself."""

    @classmethod
    def of(cls, weighed: "Weighed", j: int, place: int) -> "Listed":
        """Of one of the sums."""
        part = weighed.part
        channel = replacement_of(part.channels[part.question.grouped[place].name])
        shape = [1] * (2 + part.ahead)
        shape[1 + place] = -1
        names = [weighed.totals.factors.names[factor] for factor in weighed.tables[j]]
        tables = weighed.tables[j].values()
        total = np.asarray(
            sum(part.gather(part.weights(table), name) for table, name in zip(tables, names, strict=True))
        )
        (own,) = [block for block in part.listed if block.places == (place,)]
        over, split = weighed.sums[j].over, total
        for block in part.listed:
            if block is not own:
                split = (
                    part.summed(split, block)
                    if set(block.places) <= over
                    else block.along(split, block.channel.solve, 1)
                )
        whole = np.broadcast_to(split.sum(axis=1 + place, keepdims=True), split.shape)
        return cls(
            float(channel.retain), channel.replace.reshape(shape), whole, split, own.along(split, channel.solve, 1)
        )

    @property
    def drawn(self) -> Tensor:
        """The probability with which another value becomes d; of d itself it is p more."""
        return (1 - self.retain) * self.replace

    def over_rows(self, other: "Asked | Listed") -> Tensor:
        """C1: of d the weight of the column is (1 - drawn) / p."""
        seen = self.seen * (1 - self.drawn) / self.retain
        return np.asarray(other.whole * (seen - self.true * (self.retain + self.drawn)))

    def over_all(self, other: "Asked | Listed") -> Tensor:
        """C2 for each row of the table."""
        kept, b, r = self.retain + self.drawn, self.drawn, self.replace
        return np.asarray(self.whole * other.whole * (r * kept * (1 - kept) + (1 - r) * b * (1 - b)))
