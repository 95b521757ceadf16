"""A column of an answer as families of public groups: an estimate for each row that a group has, with the variance that coins are expected to give it.

The variance of an estimate is an estimate, too, and the two go together: a group of which coins show few looks surer than it is. So the variance is taken
where the model expects the group to be. Where it is a line of the estimate (counts and shares over one perturbed column) it is read off that line; elsewhere
each group's own is averaged with that of all, which counts as much as PRIOR rows.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.query.areas import Areas, Borrowed

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

PRIOR = 30.0
"""Rows of a group that tell as much of its own variance as all others do."""
STRAIGHT = 1e-6
"""How far variances may lie from a line that they are read off."""
LEAST = 0.05
"""Of the mean variance of a row, what is taken at least."""
PARTS = (0.0, 0.5, 1.0)
"""Of what groups vary by, what is the larger the fewer rows they have."""
TURNS = 3
"""How often the variance is taken anew at what the model expects."""


@dataclass(frozen=True)
class GroupRates:
    """Families by groups."""

    direct: Numbers
    """The estimate for each row; NaN where a group tells nothing."""
    variance: Numbers
    rows: Numbers
    """Of each group."""
    share: bool
    """Whether it is the share of some rows among all."""

    @property
    def known(self) -> Flags:
        """Of which groups something is known."""
        return np.isfinite(self.direct) & np.isfinite(self.variance)

    def without(self, some: Flags) -> "GroupRates":
        """As if nothing were known of some groups."""
        return GroupRates(np.where(some, np.nan, self.direct), self.variance, self.rows, self.share)

    def areas(self, design: Numbers) -> tuple[Areas, Borrowed]:
        """What the model makes of them, with variances that agree with it."""
        coins, expected = CoinVariance.of(self), np.broadcast_to(self.mean[:, None], self.direct.shape)
        for _ in range(TURNS):
            areas = self._likeliest(coins.at(expected, self.known), design)
            borrowed = areas.borrowed()
            expected = borrowed.synthetic
        return areas, borrowed

    def _likeliest(self, variance: Numbers, design: Numbers) -> Areas:
        """By how much true rates of groups vary.

        Shares of n rows do as counts of a population's do: p (1 - p) (1 / n + (1 - 1 / n) rho). Others do by rho, in part or all of it the more the fewer
        rows a group has; which part is likeliest.
        """
        if self.share:
            edge = 0.5 / np.sum(self.rows)
            p = np.clip(self.mean, edge, 1 - edge)[:, None]
            return Areas(self.direct, variance, p * (1 - p) / self.rows, p * (1 - p) * (1 - 1 / self.rows), design, 1.0)
        few = np.median(self.rows) / self.rows
        slopes = [np.broadcast_to(1 - part + part * few, self.direct.shape) for part in PARTS]
        tried = [Areas(self.direct, variance, np.zeros_like(variance), slope, design) for slope in slopes]
        best = np.argmax([areas.likelihood for areas in tried], axis=0)
        return Areas(
            self.direct, variance, np.zeros_like(variance), np.stack(slopes)[best, np.arange(len(best))], design
        )

    @property
    def mean(self) -> Numbers:
        """Of all rows of a family."""
        weight = np.where(self.known, self.rows, 0.0)
        return np.asarray(np.sum(weight * np.nan_to_num(self.direct), axis=1) / np.sum(weight, axis=1))


@dataclass(frozen=True)
class CoinVariance:
    """The variance that coins give the estimates of groups, for each row of theirs."""

    own: Numbers
    rows: Numbers
    mean: Numbers
    """Of each family."""
    start: Numbers
    rise: Numbers
    straight: Flags
    """The families in which it is start + rise times the estimate."""

    @classmethod
    def of(cls, rates: GroupRates) -> "CoinVariance":
        """As the estimates of groups tell it."""
        weight = np.where(rates.known, rates.rows, 0.0)
        own = np.where(rates.known, rates.variance * rates.rows, 0.0)
        values, total = np.nan_to_num(rates.direct), weight.sum(axis=1)
        mean, middle = (np.sum(weight * x, axis=1) / total for x in (own, values))
        away = values - middle[:, None]
        square = np.sum(weight * away**2, axis=1)
        rise = np.divide(np.sum(weight * away * own, axis=1), square, out=np.zeros_like(square), where=square > 0)
        start = mean - rise * middle
        off = np.where(rates.known, np.abs(own - start[:, None] - rise[:, None] * values), 0.0).max(axis=1)
        return cls(own, rates.rows, mean, start, rise, off <= STRAIGHT * mean)

    def at(self, expected: Numbers, known: Flags) -> Numbers:
        """The variances of the estimates, if groups are where they are expected."""
        line = np.maximum(self.start[:, None] + self.rise[:, None] * expected, LEAST * self.mean[:, None])
        weight = np.where(known, self.rows / (self.rows + PRIOR), 0.0)
        mixed = weight * self.own + (1 - weight) * self.mean[:, None]
        return np.asarray(np.where(self.straight[:, None], line, mixed) / self.rows)
