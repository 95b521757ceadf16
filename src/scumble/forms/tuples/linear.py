"""Sums over tuples of weight times noisy count, and how far they reach.

A tuple that is published stands for e rows (`ClampedCounts.estimate`), and e is the true count plus what its noise Z is to be expected, given what was
published. So for weights w, the same whatever the coins were,

    value = sum of w e      variance = sum of w^2 s      |value - truth| <= q sqrt(variance)      at least k for each tuple with w > 0

where q is the quantile of the sum of w Z, in its own standard deviations. It has longer tails than a normal variable while few tuples decide. As
many as (sum of w^2)^2 / (sum of w^4) tuples of one weight have the same first four cumulants; q is theirs (docs/proofs/noisy_counts.md).
"""

from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from scumble.mechanisms.noisy_count_matrix import ClampedCounts

MANY = 200
"""Tuples from which on the normal quantile is used."""
FINEST = 1e-3
"""The least rate that quantiles are worked out for: noise of less has the same ones, in its standard deviations, by one in a thousand."""
ROUNDED = 1 + 1e-12
"""What keeps a reach that is a whole number from falling short of it."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Noise:
    """The noise in what a counted tuple stands for."""

    floor: int
    """Rows that it stands for at least."""
    rates: tuple[float, ...]
    """Of the tables that it was counted in."""
    variance: float
    """Of a count above the floor."""
    worth: float = 1.0
    """To how many tuples of one weight its noise adds up: more than one where it is itself a sum."""

    @classmethod
    def of(cls, counts: ClampedCounts) -> "Noise":
        """That of one count."""
        return cls(counts.floor, (counts.rate,), float(counts.estimate([counts.floor + 1])[1][0]))

    @property
    def even(self) -> bool:
        """Whether it is that of one tuple, or of several of one weight, which are of one table."""
        return len(self.rates) == 1

    def quantile(self, count: int, share: float, even: bool) -> float:
        """q for weights that are worth so many tuples."""
        return max(weighted_quantile(rate, count, share, even) for rate in {*self.rates})


@dataclass(frozen=True)
class LinearSum:
    """A sum of weight times count, for every row of an answer."""

    value: Floats
    variance: Floats
    square: Floats
    """The sum of squared weights."""
    fourth: Floats
    """The sum of their fourth powers."""
    tuples: Floats

    def __add__(self, other: "LinearSum") -> "LinearSum":
        return LinearSum(
            self.value + other.value,
            self.variance + other.variance,
            self.square + other.square,
            self.fourth + other.fourth,
            self.tuples + other.tuples,
        )

    def times(self, weight: Floats | float) -> "LinearSum":
        """The same with all weights multiplied."""
        square, tuples = np.square(weight), np.where(np.equal(weight, 0), 0.0, self.tuples)
        return LinearSum(
            self.value * weight, self.variance * square, self.square * square, self.fourth * square**2, tuples
        )

    def quantiles(self, noise: Noise, share: float) -> Floats:
        """q of the docstring above, for every row."""
        some, tuples = self.fourth > 0, self.tuples * noise.worth
        alike = noise.worth * np.divide(self.square**2, self.fourth, out=np.zeros_like(self.square), where=some)
        number = np.clip(alike, np.minimum(tuples, 1), tuples)
        even = (np.abs(alike - tuples) <= 1e-6 * tuples) & noise.even
        whole = np.where(even, np.rint(number), np.minimum(np.floor(number), MANY)).astype(np.int64)
        cases, places = np.unique(np.stack([whole, even], axis=1), axis=0, return_inverse=True)
        quantiles = [noise.quantile(int(count), share, bool(same)) for count, same in cases]
        return np.array(quantiles, np.float64)[places.reshape(-1)]

    def reach(self, noise: Noise | None, share: float) -> Floats:
        """Half the width of the interval; none where counts are exact."""
        if noise is None:
            return np.zeros_like(self.value)
        return self.quantiles(noise, share) * np.sqrt(self.variance) * ROUNDED

    def reach_of_raised(self, noise: Noise | None, share: float) -> Floats:
        """How far it reaches to the side to which counts at the floor may be larger than they stand for.

        Of a count at the floor nothing is known but that its noise was not above it. Where one tuple decides, the true count may lie as far above the floor as
        noise reaches that was not raised. So what it stands for and its variance are taken back, for one tuple of the usual weight at most.
        """
        if noise is None:
            return np.zeros_like(self.value)
        weight = np.divide(self.fourth, self.square, out=np.zeros_like(self.square), where=self.square > 0)
        raised = np.maximum(self.square * noise.variance - self.variance, 0)
        one = np.minimum(raised, weight * noise.variance / 2)
        return (np.sqrt(one) + self.quantiles(noise, share) * np.sqrt(self.variance + one)) * ROUNDED


def weighted_quantile(rate: float, count: int, share: float, even: bool) -> float:
    """q for weights that are worth as much as `count` tuples of one weight, or as many and a part of one more.

    Weights that differ put masses between the steps of those that are alike, so that half a step is added.
    """
    if even:
        return quantile(rate, count, share)
    return max(quantile(rate, rows, share, 0.5) for rows in (count, count + 1))


@lru_cache(maxsize=4096)
def quantile(rate: float, count: int, share: float, beyond: float = 0.0) -> float:
    """The q with Pr[|Z_1 + ... + Z_m| <= q sd] >= share, Z two-sided geometric with r = e^-rate, sd that of the sum.

    beyond   what is added to q sd, which is a whole number

    >>> round(quantile(0.5, 1, 0.95), 3), round(quantile(0.5, 1000, 0.95), 2)
    (2.143, 1.96)
    """
    normal = NormalDist().inv_cdf(0.5 + share / 2)
    if count == 0 or count >= MANY:
        return normal
    r = float(np.exp(-max(rate, FINEST)))
    deviation = float(np.sqrt(count * 2 * r)) / (1 - r)
    reach = int(40 * deviation + 60)
    size = 1 << (2 * reach).bit_length()
    angle = 2 * np.pi * np.fft.rfftfreq(size)
    transform = ((1 - r) ** 2 / (1 - 2 * r * np.cos(angle) + r * r)) ** count
    mass = np.fft.irfft(transform, size)
    centred = np.cumsum(np.concatenate([mass[:1], 2 * mass[1 : size // 2]]))
    return max(normal, (float(np.searchsorted(centred, share)) + beyond) / deviation) if deviation else normal
