"""Noisy counts: Pr[published count = j | true count = i], as formulas and as draws.

Both matrices add Z, a two-sided geometric variable, and raise what falls below a floor to it:

    Y_i = max(floor, i + Z)          Pr[Z = z] = (1-r)/(1+r) r^|z|

    Pr[Y_i = j] = r^(i-floor) / (1+r)             j = floor            (i >= floor)
                = (1-r)/(1+r) r^|i-j|             j > floor

- The FULL matrix, floor 0 and r = e^-epsilon, is epsilon-differentially private. A tuple that does not occur may be published,
  so it is for a declared domain that is small enough to be listed.
- The PRACTICAL matrix, floor k and r = e^(-epsilon/2), publishes a count with probability w_i only (`suppression`), and never
  one below k: semantically k-anonymous and (epsilon, delta)-differentially private.

Z = G - G' for independent geometric G, G' (Pr[G = n] = (1-r) r^n), and the binary digits of G are independent:

    sum_n r^n = prod_b (1 + r^(2^b))   hence   Pr[digit b is 1] = r^(2^b) / (1 + r^(2^b)) = 1 / (1 + r^(-2^b))

so a draw is a few exact coins: no logarithm of a floating-point uniform, whose gaps would show in the tails. Digits of a
probability below 2^-BITS are left out.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.entropy import Stream
from scumble.core.errors import ParameterError
from scumble.mechanisms.suppression_odds import (
    BITS,
    Counts,
    Vector,
    coins,
    decimal_exp,
    demand_epsilon,
    equal_coins,
    suppression,
    suppression_parameters,
    thresholds,
)
from scumble.privacy.anonymity import Verdict, check_suppression

LARGEST_DOMAIN = 10_000_000
"""Tuples of a declared domain, each of which gets a noisy count under the full matrix."""

_EXACT = Context(prec=2000)


@dataclass(frozen=True)
class ClampedCounts:
    """Y_i = max(floor, i + Z), where r = e^-rate.

    >>> full = ClampedCounts.full(epsilon=1)
    >>> full.probabilities(2, [0, 1, 2]).round(4).tolist()
    [0.0989, 0.17, 0.4621]
    """

    floor: int
    rate: float

    @classmethod
    def full(cls, epsilon: Any) -> "ClampedCounts":
        """The epsilon-differentially private matrix, for a domain all of whose tuples are counted, zeros included."""
        return cls(0, demand_epsilon(epsilon))

    @property
    def r(self) -> float:
        """The ratio of the probabilities of neighbouring noise."""
        return math.exp(-self.rate)

    @property
    def _rest(self) -> float:
        return -math.expm1(-self.rate)

    def probabilities(self, counts: Any, published: Any) -> Vector:
        """Pr[Y_i = j] for counts i >= floor and published counts j, broadcast against each other."""
        i, j = np.asarray(counts, np.float64), np.asarray(published, np.float64)
        inside = self._rest / (1 + self.r) * np.exp(-self.rate * np.abs(i - j))
        at_floor = np.exp(-self.rate * (i - self.floor)) / (1 + self.r)
        return np.where(j > self.floor, inside, np.where(j == self.floor, at_floor, 0.0))

    def mean(self, counts: Any) -> Vector:
        """E[Y_i] = i + r^(i-floor+1) / (1 - r^2)."""
        i = np.asarray(counts, np.float64)
        return np.asarray(i + self._raised(i))

    def variance(self, counts: Any) -> Vector:
        """Var[Y_i] = 2r/(1-r)^2 - e (2 (i-floor) + (1+r)/(1-r)) - e^2, where e = E[Y_i] - i.

        >>> ClampedCounts(10, 0.5).variance(10).round(4).tolist()
        2.997
        """
        i = np.asarray(counts, np.float64)
        excess = self._raised(i)
        return np.asarray(
            2 * self.r / self._rest**2 - excess * (2 * (i - self.floor) + (1 + self.r) / self._rest) - excess**2
        )

    def estimate(self, published: Any) -> tuple[Vector, Vector]:
        """Unbiased estimates of the true counts behind published ones, and of their variances.

        y above the floor stands for itself, with variance 2r/(1-r)^2; the floor stands for floor - r/(1-r), the mean of
        what was raised to it, with r/(1-r)^2.
        """
        y = np.asarray(published, np.float64)
        one = self.r / self._rest**2
        above = y > self.floor
        return np.where(above, y, self.floor - self.r / self._rest), np.where(above, 2 * one, one)

    def expected_variance(self, counts: Any) -> Vector:
        """That of the estimates of true counts: Pr[Y_i = floor] = r^(i - floor) / (1+r), where the variance is half of what it is elsewhere.

        >>> full = ClampedCounts.full(1)
        >>> full.expected_variance([0, 3]).round(4).tolist()
        [1.1683, 1.8078]
        """
        at_floor = np.exp(-self.rate * (np.asarray(counts, np.float64) - self.floor)) / (1 + self.r)
        return np.asarray(self.r / self._rest**2 * (2 - at_floor))

    def draw(self, stream: Stream, counts: Any) -> Counts:
        """A published count for each true count of at least the floor."""
        true = np.asarray(counts, np.int64)
        noise = _geometric(stream, self.rate, len(true)) - _geometric(stream, self.rate, len(true))
        return np.maximum(self.floor, true + noise)

    def _raised(self, i: Vector) -> Vector:
        return np.asarray(np.exp(-self.rate * (i - self.floor + 1)) / (self._rest * (1 + self.r)))


@dataclass(frozen=True)
class NoisyCountMatrix:
    """The practical matrix: 0 with probability u_i, otherwise max(k, i + Z).

    >>> matrix = NoisyCountMatrix(k=10, epsilon=1, delta=1e-5)
    >>> matrix.probabilities(35, [0, 9, 10, 35]).round(6).tolist()
    [0.019977, 0.0, 2e-06, 0.240026]
    >>> round(float(matrix.mean(35)), 3)
    34.301
    """

    k: int
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        for name, value in zip(("k", "epsilon", "delta"), self._checked(), strict=True):
            object.__setattr__(self, name, value)  # a frozen dataclass that accepts "1/100000"

    def _checked(self) -> tuple[int, float, float]:
        return suppression_parameters(self.k, self.epsilon, self.delta)

    @property
    def counts(self) -> ClampedCounts:
        """The distribution of a count that is published."""
        return ClampedCounts(self.k, self.epsilon / 2)

    def table(self, upto: int) -> tuple[int, ...]:
        """The publication thresholds of counts 0..upto at least, over 2^BITS; the last holds for all larger counts."""
        return thresholds(self.k, self.epsilon, self.delta, (1 << max(upto, self.k).bit_length()) - 1)

    def probabilities(self, counts: Any, published: Any) -> Vector:
        """M(i, j) for true counts i and published counts j, broadcast against each other; j = 0 is suppression."""
        i, j = np.asarray(counts, np.int64), np.asarray(published, np.int64)
        w, u = self._mass(i)
        return np.where(j == 0, u, w * self.counts.probabilities(np.maximum(i, self.k), j))

    def mean(self, counts: Any) -> Vector:
        """E[X_i] = w_i (i + r^(i-k+1) / (1 - r^2)): a suppressed tuple counts 0."""
        i = np.asarray(counts, np.int64)
        return np.asarray(self._mass(i)[0] * self.counts.mean(np.maximum(i, self.k)))

    def variance(self, counts: Any) -> Vector:
        """Var[X_i] = w_i Var[Y_i] + w_i u_i E[Y_i]^2."""
        i = np.asarray(counts, np.int64)
        w, u = self._mass(i)
        kept = np.maximum(i, self.k)
        return np.asarray(w * self.counts.variance(kept) + w * u * self.counts.mean(kept) ** 2)

    def draw(self, stream: Stream, counts: Any) -> Counts:
        """A published count for each true count, 0 where the tuple is suppressed.

        >>> from scumble.core.entropy import Entropy
        >>> drawn = NoisyCountMatrix(10, 1, 1e-5).draw(Entropy.seeded(1).stream("doc"), [9, 100, 1000])
        >>> drawn[0].item(), bool(abs(drawn[1] - 100) < 60), bool(abs(drawn[2] - 1000) < 60)
        (0, True, True)
        """
        true = _demand_counts(counts)
        published = np.zeros_like(true)
        kept = self.kept(stream, true)
        published[kept] = self.counts.draw(stream, true[kept])
        return published

    def kept(self, stream: Stream, true: Counts) -> Counts:
        """The places of the tuples that are not suppressed: the first coins of a drawing."""
        candidates = np.flatnonzero(true >= self.k)
        if len(candidates) == 0:
            return candidates
        table = self.table(int(true.max()))
        return candidates[coins(stream, table, np.minimum(true[candidates], len(table) - 1))]

    def published_from(self, chance: float) -> int:
        """The smallest count that is published with at least that probability.

        >>> NoisyCountMatrix(10, 1, 1e-5).published_from(0.99)
        36
        """
        upto = self.k
        while True:
            upto *= 2
            enough = np.flatnonzero(self._mass(np.arange(upto + 1))[0] >= chance)
            if len(enough):
                return int(enough[0])

    def check(self, upto: int = 10_000) -> Verdict:
        """Conditions b1-b3 for counts up to `upto`, of the very integers that coins are compared with, without slack.

        >>> NoisyCountMatrix(10, 1, 1e-5).check(1000).holds
        True
        """
        table, whole = self.table(upto), 1 << BITS
        published = [Fraction(table[min(i, len(table) - 1)], whole) for i in range(upto + 1)]
        return check_suppression(published, [1 - w for w in published], self.k, self.epsilon, self.delta)

    def _mass(self, i: Counts) -> tuple[Vector, Vector]:
        _demand_counts(i.ravel())
        w, u = suppression(self.k, self.epsilon, self.delta, len(self.table(int(i.max()))) - 1)
        places = np.minimum(i, len(w) - 1)
        return w[places], u[places]


def listed_domain(sizes: Iterable[int], *, largest: int = LARGEST_DOMAIN) -> int:
    """The number of tuples of a domain with attributes of these sizes, or an error where the full matrix cannot list them.

    >>> listed_domain([2, 50, 3])
    300
    """
    size = math.prod(sizes)
    if size > largest:
        raise ParameterError(
            f"the declared domain has {size:,} tuples and the full matrix counts each of them, at most {largest:,}; "
            "declare fewer or coarser attributes, or use the practical matrix with a delta"
        )
    return size


@lru_cache(maxsize=16)
def _digits(rate: float) -> tuple[int, ...]:
    """floor(2^BITS / (1 + e^(rate 2^b))) for b = 0, 1, ... while it is not 0: the thresholds of a geometric's digits."""
    table: list[int] = []
    exponent = Decimal(rate)
    while threshold := int((1 << BITS) / (1 + decimal_exp(exponent))):
        table.append(threshold)
        exponent = _EXACT.multiply(exponent, Decimal(2))
    if len(table) > 62:
        raise ParameterError(f"noise of rate {rate:g} does not fit 64-bit counts; use a larger epsilon")
    return tuple(table)


def _geometric(stream: Stream, rate: float, size: int) -> Counts:
    """Pr[G = n] = (1 - r) r^n with r = e^-rate, digit by digit."""
    total = np.zeros(size, np.int64)
    for digit, threshold in enumerate(_digits(rate)):
        total += equal_coins(stream, threshold, size).astype(np.int64) << digit
    return total


def _demand_counts(counts: Any) -> Counts:
    given = np.asarray(counts)
    true: npt.NDArray[np.int64] = given.astype(np.int64)
    if given.ndim != 1 or np.any(true != given) or np.any(true < 0):
        raise ParameterError("counts must be a list of whole numbers that are not negative")
    return true
