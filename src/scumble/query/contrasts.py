"""Differences that hold together: how many standard errors all of them keep to, and how unlikely the largest of them is.

Let x be normal with the covariance C of some estimates, and t = max over pairs of |x_i - x_j| / se(x_i - x_j). With c the quantile of t at 1 - alpha,

    P[ |D_ij - truth| <= c se_ij  for all pairs ]  =  1 - alpha,        p_ij = P[ t >= |D_ij| / se_ij ]

Both are read off the points of a Sobol sequence: no lot is drawn, so that the same question has the same answer. The sum over pairs (Bonferroni) bounds
both, and is taken where it is smaller: of a p-value far below 1 / POINTS the points tell nothing.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from scumble.core.once import once

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

POINTS = 1 << 14
"""Of the sequence; the quantile at 95% is off by about 0.01."""
AT_ONCE = 1 << 22
"""Points times pairs that are looked at together, which bounds the memory."""


@dataclass(frozen=True)
class Contrasts:
    """Differences of normal estimates."""

    covariance: Numbers
    one: Places
    other: Places

    @once
    def errors(self) -> Numbers:
        """Their standard errors."""
        variance = np.diag(self.covariance)
        both = variance[self.one] + variance[self.other] - 2 * self.covariance[self.one, self.other]
        return np.sqrt(np.maximum(both, 0))

    @once
    def largest(self) -> Numbers:
        """The largest difference, in standard errors, at each point of the sequence, in order; one that is known has none."""
        from scipy.special import ndtri  # loads scipy
        from scipy.stats.qmc import Sobol

        uncertain = np.flatnonzero(self.errors > 0)
        if not len(uncertain):
            return np.zeros(POINTS - 1)
        values, vectors = np.linalg.eigh(self.covariance)
        kept = values > 1e-12 * values[-1]
        root = vectors[:, kept] * np.sqrt(values[kept])
        points = Sobol(int(kept.sum()), scramble=False).fast_forward(1).random(POINTS - 1)
        drawn = ndtri(points) @ root.T
        found = np.zeros(POINTS - 1)
        for some in np.array_split(uncertain, -(-len(uncertain) * POINTS // AT_ONCE)):
            far = np.abs(drawn[:, self.one[some]] - drawn[:, self.other[some]]) / self.errors[some]
            found = np.maximum(found, far.max(axis=1))
        return np.sort(found)

    def reach(self, alpha: float) -> float:
        """How many standard errors all of them keep to with probability 1 - alpha."""
        alone = NormalDist().inv_cdf(1 - alpha / 2 / len(self.one))
        return alone if len(self.one) == 1 else min(alone, float(np.quantile(self.largest, 1 - alpha)))

    def chances(self, far: Numbers) -> Numbers:
        """How likely it is that some difference is so many standard errors large, where all are 0."""
        from scipy.special import ndtr

        alone = 2 * ndtr(-far) * len(self.one)
        if len(self.one) == 1:
            return np.asarray(alone)
        above = len(self.largest) - np.searchsorted(self.largest, far, side="left")
        return np.asarray(np.fmin(alone, (above + 1) / (len(self.largest) + 1)))
