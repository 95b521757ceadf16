"""Aggregates that are shown as they are, with the best interval that is known: that of the law of what is published, where few rows decide.

A simple aggregate adds up one public factor, or one function of perturbed columns: COUNT(*), COUNT(x), SUM(x) and AVG(x) of a column, with any condition.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from scumble.query import states
from scumble.query.estimated import Estimated
from scumble.query.estimates import Estimate
from scumble.query.factors import Total
from scumble.query.few import Draws
from scumble.query.intervals import of_sum
from scumble.query.law import Tables
from scumble.query.moments import Even, Moments, Ratio, quotient
from scumble.query.sampled import of_average, sample_of
from scumble.query.stratum import Stratum
from scumble.query.terms import Terms
from scumble.query.totals import Totals

LAW = 400
"""Keys up to which each line is looked at by itself."""


@dataclass(frozen=True)
class Small:
    """One aggregate, for all lines."""

    totals: Totals
    parts: Sequence[Stratum]
    total: Total

    @property
    def simple(self) -> bool:
        """Whether it adds up one factor, in few keys, of rows that were not drawn among others."""
        alone = len(self.total.terms) == 1 and len(self.total.present) == 1
        return alone and self.totals.width <= LAW and self.totals.question.published.drawn is None

    def _of(self, terms: Terms, key: int) -> list[Estimated]:
        ((factor, table),) = terms.items()
        return [Estimated(part, self.totals, factor, table, key) for part in self.parts]

    @property
    def _weighted(self) -> bool:
        return self.totals.question.published.weighted

    def count(self, z: float) -> Estimate:
        """A count, by the law of counts where that is known."""
        estimates = []
        for key in range(self.totals.width):
            parts = self._of(self.total.present, key)
            moments = reduce(add, (part.moments() for part in parts))
            name, draws = self.total.aggregate.name, drawn_from(parts)
            estimates.append(of_sum(name, moments, False, z, alike=not self._weighted, draws=draws))
        return by_key(estimates)

    def sum(self, z: float) -> Estimate:
        """A sum; of public numbers by the law of rows of their largest size, where few rows decide."""
        estimates = []
        for key in range(self.totals.width):
            parts = self._of(self.total.number, key)
            moments = reduce(add, (part.moments() for part in parts))
            draws = states.of_sum(parts) if self._public and states.known(parts) else None
            estimates.append(of_sum(self.total.aggregate.name, moments, False, z, draws=draws))
        return by_key(estimates)

    @property
    def _public(self) -> bool:
        """Whether numbers of one public expression are added up."""
        ((factor, _),) = self.total.number.items()
        return bool(factor.numbers) and self.totals.factors.power(factor) is None and not self._weighted

    def raised(self, drawn: Ratio) -> Ratio:
        """The sums of an average with variances that are not smaller than they can be."""
        top, rows = (
            Moments(m.value, np.maximum(m.variance, self._least(terms)))
            for m, terms in ((drawn.numerator, self.total.number), (drawn.denominator, self.total.present))
        )
        return Ratio(top, rows, drawn.covariance)

    def _least(self, terms: Terms) -> np.ndarray[Any, Any]:
        keys = [np.sum([one.least for one in self._of(terms, key)], axis=0) for key in range(self.totals.width)]
        return np.stack(keys, axis=-1)

    def sampled(self, drawn: Ratio) -> Ratio:
        """An average with what sampling adds to it, where its rows are a sample; `drawn` is without."""
        parts, counts = self._of(self.total.number, 0), self._of(self.total.present, 0)
        added = [_of_sampling(a, b, self._public, drawn) for a, b in zip(parts, counts, strict=True)]
        top, cross, bottom = (np.sum([three[i] for three in added], axis=0)[..., None] for i in range(3))
        return Ratio(drawn.numerator.widened(top), drawn.denominator.widened(bottom), drawn.covariance + cross)

    def even(self, ratio: Ratio) -> Even | None:
        """The variances that an average of a public number has if whether rows match does not depend on it, where that is known."""
        if not self._public or self.totals.width > 1:
            return None
        parts, counts = self._of(self.total.number, 0), self._of(self.total.present, 0)
        return states.of_average(parts, counts, ratio) if states.known(counts) else None

    def carrying(self) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
        """The published rows that carry a sum of a public number where few rows decide, if that is known."""
        if self.total.aggregate.kind == "count" or not self.simple or not self._public or self.totals.width > 1:
            return None
        parts, counts = self._of(self.total.number, 0), self._of(self.total.present, 0)
        return states.carrying(parts, counts) if states.known(counts) else None

    @property
    def lawful(self) -> bool:
        """Whether it is known what counts are drawn from."""
        counted = self.total.aggregate.kind == "count" and self.simple
        return counted and _law_known(self._of(self.total.present, 0))


def _of_sampling(number: Estimated, count: Estimated, public: bool, drawn: Ratio) -> np.ndarray[Any, Any]:
    """What sampling adds to the variance of a sum, to its covariance with the count, and to the variance of that."""
    part = number.part
    sampled = part.cells.sampled
    assert sampled is not None
    names, second = number.totals.factors.names, part.cells.numbers("n", 2) * sampled
    if public:
        mixed = part.cells.numbers(names[number.factor * count.factor], 2) * sampled
        sums = (number.orders[1] * sampled, mixed, count.orders[1] * sampled)
        return np.stack([count.share * part.over(one) for one in sums])
    squares = part.over(second)
    asked, x = (np.broadcast_to(table, part.true_cells) for table in (count.chosen, number.chosen))
    powers = [x * x, x * asked, asked]
    estimated = np.stack([part.cells.gather(part.weights(f), second) for f in powers])
    held = [f.max(axis=tuple(range(1, f.ndim))) if f.ndim > 1 else f for f in powers]
    sizes = np.bincount(part.question.others[0].cells, minlength=len(held[0]))
    halves = [0.5 * sizes @ h / sample_of(part.question) for h in held]
    ratio = quotient(drawn.numerator.value[..., 0], drawn.denominator.value[..., 0])
    return of_average(np.stack([half * squares for half in halves]), estimated, ratio)


def drawn_from(parts: Sequence[Estimated]) -> Draws | Tables | None:
    """What a count was drawn from, where that is known."""
    if len(parts) == 1:
        return parts[0].draws()
    return states.of_count(parts) if states.known(parts) else None


def _law_known(parts: Sequence[Estimated]) -> bool:
    """Whether `drawn_from` has an answer, without working it out."""
    return parts[0].lawful if len(parts) == 1 else states.known(parts)


def by_key(estimates: Sequence[Estimate]) -> Estimate:
    """The lines of each key side by side."""
    first = estimates[0]
    value, se, low, high = (
        np.stack([getattr(e, part) for e in estimates], axis=1).reshape(-1) for part in ("value", "se", "low", "high")
    )
    return Estimate(first.name, value, se, low, high, first.method)
