"""How much a cap on columns took away: counted with noise, and put back into counts.

A tuple that has a value in h columns of a schema keeps c* of them, a uniformly random choice, or all where h <= c*. So it stays in one of its columns
with probability 1/x, x = max(1, h / c*), whatever it has in it. For each column the kept tuples are counted by their x, with noise:

    G_x   kept tuples of weight x, plus noise      K = sum of G_x   those kept      M = sum of x G_x   those with a value in the column

M is an unbiased estimate, by the choice alone. Counts of a question are multiplied by F = M / K, the mean weight of a kept tuple: right where
those that match stay as often as all of the column do. The number of columns is rounded at random to one of few (`rungs`), so that
noise is on few counts and M stays unbiased. Proof, and the variances: docs/proofs/columnized.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.mechanisms.noisy_count_matrix import ClampedCounts

FEW = 5.0
"""Standard errors of noise above which the number of kept tuples must lie, for a factor to be worked out from it."""

Floats = npt.NDArray[np.float64]


def rungs(c_star: int, size: int) -> list[int]:
    """The numbers of columns that are told apart: c* for all up to it, then each half as large again, and all of them.

    >>> rungs(2, 5), rungs(5, 60)
    ([2, 3, 4, 5], [5, 7, 10, 15, 22, 33, 49, 60])
    >>> rungs(3, 3)
    [3]
    """
    ladder = [c_star]
    while ladder[-1] < size:
        ladder.append(min(size, max(ladder[-1] + 1, ladder[-1] * 3 // 2)))
    return ladder


def histogram_noise(epsilon: float, c_star: int) -> ClampedCounts:
    """The noise of each count: a tuple is in c* of them at most, once in each. Nothing is clamped, a count may be negative."""
    return ClampedCounts(-(1 << 62), epsilon / c_star)


@dataclass(frozen=True)
class KeptColumn:
    """What is known of the tuples that stayed in one column of a schema."""

    factor: float
    """F: how many tuples a kept one stands for."""
    sampling: float
    """What the choice of columns adds to the variance of a sum of weight times count, for each squared weight and kept tuple."""
    shared: float
    """The relative variance of F that all counts of the column have in common."""
    kept: float
    """K, noise included."""
    weights: Floats
    counts: Floats
    """G_x for each weight x."""
    noise: float
    """The variance of each count of the histogram."""
    spread: float
    """The sum of G_x (x - 1) (x^2 - F^2) / x: what weights that differ add to the variance of F."""

    @classmethod
    def of(cls, counts: Sequence[int], c_star: int, size: int, epsilon: float) -> "KeptColumn | None":
        """From the noisy counts of one column; nothing where they are too small to tell.

        >>> column = KeptColumn.of([0, 0, 3000], 2, 4, 100.0)
        >>> column.factor, column.sampling
        (2.0, 2.0)
        >>> KeptColumn.of([1, 0, 2], 2, 4, 0.1) is None
        True
        """
        seen, weights = np.asarray(counts, np.float64), np.asarray(rungs(c_star, size), np.float64) / c_star
        noise = _variance(histogram_noise(epsilon, c_star))
        kept = float(seen.sum())
        if kept <= FEW * math.sqrt(noise * len(seen)):
            return None
        factor = float(np.clip(seen @ weights / kept, 1, weights[-1]))
        lost = float(np.clip(seen @ (1 - 1 / weights) / kept, 0, 1 - 1 / weights[-1]))
        spread = max(0.0, float(seen @ ((weights - 1) * (weights**2 - factor**2) / weights)))
        shared = (noise * float(((weights - factor) ** 2).sum()) + spread) / (kept * factor) ** 2
        return cls(factor, factor**2 * lost, shared, kept, weights, seen, noise, spread)

    def extreme(self, kept: Floats, *, heaviest: bool) -> Floats:
        """How many tuples so many kept ones stand for if those of the largest, or of the smallest, weights are among them.

        >>> column = KeptColumn.of([1000, 0, 1000], 2, 4, 100.0)
        >>> [column.extreme(np.array([500.0, 1500.0]), heaviest=side).tolist() for side in (False, True)]
        [[500.0, 2000.0], [1000.0, 2500.0]]
        """
        way = slice(None, None, -1 if heaviest else 1)
        weights, counts = self.weights[way], np.maximum(self.counts[way], 0)
        ends = np.concatenate([[0.0], np.cumsum(counts)])
        sums = np.concatenate([[0.0], np.cumsum(counts * weights)])
        return np.asarray(np.interp(kept, ends, sums) + np.maximum(kept - ends[-1], 0) * weights[0])

    def beyond(self, count: Floats, square: Floats, variance: Floats, published: float, most: Floats) -> Floats:
        """The variance of F (count + most (K - published)): a question's answer if all suppressed tuples added the most they can.

        count, square   the published counts that match, and their sum of squared weight times count
        variance        that of the noise in count - most times published
        """
        suppressed = most * max(self.kept - published, 0.0)
        share = (count + suppressed) / self.kept
        cells = most[:, None] * self.factor + share[:, None] * (self.weights - self.factor)
        chosen = self.sampling * (square + most * suppressed) + self.spread * share**2
        return np.asarray(self.factor**2 * variance + self.noise * (cells**2).sum(axis=1) + chosen)


def _variance(noise: ClampedCounts) -> float:
    return 2 * noise.r / (1 - noise.r) ** 2
