"""What every channel is: Pr[published code | true value], from m values to K codes. Who uses a channel asks nothing else of it.

    P[y, x] = Pr[x is published as y],        K rows, m columns that sum to 1

A channel of one kind has codes that are the values themselves (retention replacement, core/channel.py); one of another kind has codes that stand for sets
of values (core/design.py). All of them give the debias weights phi of a function h, with E[phi(published) | true = x] = h(x) for every x, and
whatever is linear in the true rows is estimated with these.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.display import Shown
from scumble.core.draws import multinomial, uniform
from scumble.core.entropy import Stream
from scumble.core.errors import ParameterError

Vector = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Flags = npt.NDArray[np.bool_]

MOST_ENTRIES = 4096**2
"""Entries of a matrix that is built."""


@dataclass(frozen=True)
class Pair:
    """A set of values whose members are all published alike, and all others alike: as a code that matches, or not."""

    matches: Flags
    """The codes that match."""
    kept: float
    """The probability that a member is published as one of these."""
    drawn: float
    """The probability that any other value is."""


@dataclass(frozen=True)
class CodeSection:
    """Codes from `start` to before `stop`, of which a row has one with probability `share`."""

    start: int
    stop: int
    share: float
    words: str


def _ones(size: int, some: slice) -> Vector:
    """The columns of an identity."""
    unit = np.zeros((size, some.stop - some.start))
    unit[np.arange(some.start, some.stop), np.arange(some.stop - some.start)] = 1
    return unit


class BaseChannel(Shown, ABC):
    """A channel from `size` values to `codes` codes. First dimensions are values or codes, further ones separate tables or functions."""

    size: int

    @property
    @abstractmethod
    def codes(self) -> int:
        """How many codes can be published."""

    @property
    @abstractmethod
    def amplification(self) -> float:
        """gamma: how much likelier one true value can make a published code than another true value does."""

    @abstractmethod
    def apply(self, counts: Any) -> Vector:
        """P x: the published counts, by code, to be expected of true counts."""

    @abstractmethod
    def expect(self, g: Any) -> Vector:
        """P^T g: the mean of g(published code) for each true value."""

    @abstractmethod
    def expect_squares(self, g: Any) -> Vector:
        """The same with the squares of P."""

    @abstractmethod
    def weights(self, h: Any) -> Vector:
        """The debias weights of a function h on the domain, one for each code."""

    @abstractmethod
    def solve(self, counts: Any) -> Vector:
        """The unbiased estimate of true counts behind published ones: of each value the sum of its weights."""

    @abstractmethod
    def solve_squares(self, counts: Any) -> Vector:
        """The same with the squares of the weights: what variances of `solve` are made of."""

    @abstractmethod
    def matches(self, counts: Any) -> Vector:
        """How many published rows look like each value: their code is one that it alone makes likelier, or stands for it with others."""

    @abstractmethod
    def likelihood(self, codes: Places, values: Places) -> Vector:
        """P[code, value] of pairs."""

    @abstractmethod
    def singular_values(self) -> Vector:
        """Those of P that differ: the largest over the smallest is its condition number."""

    def column_blocks(self) -> Iterator[tuple[slice, Vector]]:
        """P by some columns at a time, for what needs all of it once."""
        for some, units in self.unit_blocks():
            yield some, self.apply(units)

    def unit_blocks(self) -> Iterator[tuple[slice, Vector]]:
        """The indicators of single values, some at a time."""
        step = max(1, MOST_ENTRIES // (16 * self.codes))
        for start in range(0, self.size, step):
            some = slice(start, min(self.size, start + step))
            yield some, _ones(self.size, some)

    def posterior_range(self, prior: Vector) -> tuple[Vector, Vector]:
        """The largest and the smallest belief in each value, over all codes, of whoever believed the prior, which sums to 1."""
        seen, largest, smallest = self.apply(prior)[:, np.newaxis], np.zeros(self.size), np.zeros(self.size)
        for some, columns in self.column_blocks():
            after = columns * prior[some] / seen
            largest[some], smallest[some] = after.max(axis=0), after.min(axis=0)
        return largest, smallest

    def likeliest(self, prior: Vector) -> tuple[Places, Vector]:
        """The value that is believed most after each code, and how probable it is together with the code."""
        value, top = np.zeros(self.codes, dtype=np.intp), np.full(self.codes, -1.0)
        for some, columns in self.column_blocks():
            joint = columns * prior[some]
            place, most = joint.argmax(axis=1), joint.max(axis=1)
            value, top = np.where(most > top, place + some.start, value), np.maximum(most, top)
        return value, top

    @abstractmethod
    def extremes(self) -> tuple[Vector, Vector]:
        """The least and the largest probability of each code, over all true values."""

    def block(self, code: int) -> Places:
        """The values that a code stands for: those that make it likeliest."""
        chances = self.likelihood(np.full(self.size, code), np.arange(self.size))
        return np.flatnonzero(chances >= chances.max() * (1 - 1e-9))

    @abstractmethod
    def pair(self, inside: Flags) -> Pair | None:
        """What a set of values looks like, where its members are alike in that and all others too; else nothing."""

    @property
    @abstractmethod
    def against_others(self) -> tuple[float, Vector] | None:
        """p, and r of each value, where each against all others is kept with p and else drawn with r; nothing where that depends on the others."""

    @abstractmethod
    def collapse(self, cells: Places, count: int) -> "BaseChannel":
        """The channel from cells of values to cells of codes, which `places` tells."""

    @abstractmethod
    def places(self, cells: Places, count: int) -> Places:
        """The cell of each code, where values are put into cells: codes are together that no weight of these cells tells apart."""

    @property
    def sections(self) -> "list[CodeSection]":
        """Codes of which each row has one with the same probability, whatever its value; and what they stand for."""
        return [CodeSection(0, self.codes, 1.0, "")]

    @property
    def recoded(self) -> bool:
        """Whether codes are published that are not the values."""
        return True

    @property
    def constant(self) -> bool:
        """Whether codes are values, and one retention holds for all of them."""
        return False

    @property
    def alike(self) -> bool:
        """Whether all values are treated alike."""
        return True

    @property
    def traits(self) -> Vector | None:
        """What tells values apart that a question does not, where anything does."""
        return None

    @property
    def never_retained(self) -> Places:
        """Values of which nothing is published."""
        return np.zeros(0, dtype=np.intp)

    @property
    def epsilon(self) -> float:
        """The epsilon of local differential privacy, ln(amplification)."""
        return math.log(self.amplification)

    def matrix(self) -> Vector:
        """P itself, column x the distribution of what value x is published as; for small ones."""
        if self.size * self.codes > MOST_ENTRIES:
            raise ParameterError(
                f"a matrix of {self.codes:,} x {self.size:,} is not built; use apply, expect and weights"
            )
        return self.apply(np.eye(self.size))

    def posteriors(self, prior: Any) -> Vector:
        """What is believed of each value, in columns, after each code was seen, by whoever believed the prior; NaN where a code is never seen."""
        before = np.asarray(prior, dtype=np.float64)
        if before.shape != (self.size,) or np.any(before < 0) or before.sum() <= 0:
            raise ParameterError(f"a prior needs {self.size} non-negative weights, not all zero")
        joint = self.matrix() * (before / before.sum())
        seen = joint.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(joint, seen, out=np.full(joint.shape, np.nan), where=seen > 0))

    def variance(self, h: Any) -> Vector:
        """What a row of each true value adds to the variance of the estimate of the sum of h: E[phi^2 | x] - h(x)^2."""
        values = np.asarray(h, dtype=np.float64)
        return np.asarray(self.expect(self.weights(values) ** 2) - values**2)

    def draw(self, counts: npt.NDArray[np.int64], stream: Stream) -> npt.NDArray[np.int64]:
        """Published counts of true ones, drawn: of each value first how many rows get codes of each probability, then which, each alike."""
        published = np.zeros((self.codes, *counts.shape[1:]), dtype=np.int64)
        for column, rows in zip(self.matrix().T, counts, strict=True):
            chances, level = np.unique(column.round(15), return_inverse=True)
            sizes = np.bincount(level)
            split = multinomial(stream, rows, chances * sizes / (chances @ sizes))
            for place, size in enumerate(sizes.tolist()):
                landed = uniform(stream, split[..., place], size)
                published[level.reshape(-1) == place] += np.moveaxis(landed, -1, 0)
        return published

    def demand(self, values: Any, count: int, what: str) -> Vector:
        """The argument as numbers, one for each value or code along its first dimension."""
        array = np.asarray(values, dtype=np.float64)
        if array.shape[:1] != (count,):
            raise ParameterError(f"expected {count} numbers, one for each {what}, not shape {array.shape}")
        return array
