"""Cells of published rows into unbiased counts and sums, with their variances: of one stratum, and of all together."""

from collections.abc import Callable
from functools import reduce
from operator import add

import numpy as np

from scumble.core.channel import replacement_of
from scumble.core.channel_base import Vector
from scumble.query import own, states
from scumble.query.cells import Cells
from scumble.query.compile import Question, perturbed_column
from scumble.query.few import Draws
from scumble.query.law import Tables
from scumble.query.model import Aggregate
from scumble.query.moments import Even, Moments, Ratio, quotient
from scumble.query.normalize import Perturbed
from scumble.query.sampled import public_share, sample_of, smaller
from scumble.query.slope import covariances, steepness
from scumble.query.stratum import Stratum, Tensor
from scumble.query.sums import grouped_sum, perturbed_sum


class Reconstruction(Stratum):
    """Estimates for the aggregates of one question, from the rows of one stratum."""

    def count(self, value: int | None = None, present: str | None = None) -> Moments:
        """How many rows: all, those with a public value, or those where a perturbed column is not missing."""
        moments = self.drawn_count(value, present)
        return self._own(moments, "n" if value is None else f"v{value}_n", present)

    def _own(self, moments: Moments, name: str, present: str | None = None) -> Moments:
        """Where values are replaced by others of the same column, the variance that follows from that."""
        if not self.question.published.whole or self.question.exact:
            return moments
        variance = own.corrected(self, moments.variance, self.cells.numbers(name), present)
        if self.single is None:
            return moments.of_variance(variance, quotient(variance, moments.variance))
        p, published = float(replacement_of(self.channels[self.single.name]).retain), self.question.published
        share = self.over(self.cells.numbers("n")) / published.whole
        return moments.of_variance(variance, own.lean(p, share, published.permuted))

    def drawn_count(self, value: int | None = None, present: str | None = None) -> Moments:
        """The same, as if the replacement distribution were known."""
        name = "n" if value is None else f"v{value}_n"
        first, second, third = (self.cells.numbers(name, order) for order in (1, 2, 3))
        gather = self.cells.gather
        moments = self.moments(lambda w: (gather(w, first), gather(w**2, second), gather(w, second)), present)
        moments = self.leaning(self._raised(moments, second, present), second, third, present)
        return moments.widened(self._sampling(second, present))

    def _sampling(self, squares: Vector, present: str | None = None) -> Tensor:
        """What sampling adds to a variance: for each row of the answer a share of the sum of squares over sampled rows."""
        if self.cells.sampled is None:
            return self.blank()
        second, public = self.cells.numbers("n", 2) * self.cells.sampled, np.zeros(self.cells.lines)
        shape = (len(self.cells.groups), *self.cells.shape)
        for members, truth in self.classes(present):
            grouped = bool(self.question.grouped)  # then a row of the answer is one value
            public[members] = (
                0.25 / sample_of(self.question) if grouped else public_share(self.question, truth.astype(float))
            )
        hits = self.moments(lambda w: (self.cells.gather(w, second), np.zeros(shape), np.zeros(shape)), present).value
        return smaller(public, hits, self.over(second)) * self.over(squares * self.cells.sampled)

    def leaning(
        self, moments: Moments, second: Vector, third: Vector, present: str | None = None, x: Tensor | float = 1.0
    ) -> Moments:
        """The moments with how their variance follows them; x is what a counted row counts."""
        steep = self._grouped_steepness() if self.question.grouped else np.zeros(())
        for _, truth in self.classes(present) if not self.question.grouped else ():
            k, u = covariances(truth.astype(float) * x, self.rest_weights, self.rest_expectation)
            steep = steepness(self.cells.gather(self.rest_weights(k), second), moments.variance, k, u)
        return moments.leaning(steep * quotient(self.over(third), self.over(second)))

    @property
    def follows(self) -> bool:
        """Whether it is known how the variance of a count follows it: not for groups of several columns, or of several retentions."""
        if not self.question.grouped:
            return True
        others = any(axis.count > 1 for axis in self.question.others) or self.question.conditions.public_atoms
        known = self.channels[self.question.grouped[0].name].against_others
        return bool(len(self.question.grouped) == 1 and not others and known is not None)

    def _grouped_steepness(self) -> Tensor:
        """k / u for each value of the only perturbed column; nothing, where that is not known."""
        known = self.channels[self.question.grouped[0].name].against_others
        if not self.follows or known is None:
            return np.zeros(self.cells.lines)
        p, r = known
        return np.asarray((1 - p - 2 * (1 - p) * r) / p)

    @property
    def single(self) -> Perturbed | None:
        """The only perturbed column that tells rows apart, where each row counts 1 and values are alike against all others; else nothing."""
        axes = [*self.question.grouped, *(axis for axis in self.question.others if axis.count > 1)]
        if len(axes) != 1 or self.question.conditions.public_atoms or self.question.published.weighted:
            return None
        return axes[0] if self.channels[axes[0].name].against_others is not None else None

    @property
    def drawn(self) -> bool:
        """Whether it is known what counts are drawn from."""
        return states.known(self) or (self.single is not None and self._pairs(None) is not None)

    def _pairs(self, present: str | None) -> tuple[Tensor, Tensor, Callable[[Vector], Tensor]] | None:
        """How probably rows that count, and rows that do not, look as if they did, for each row of the answer; and how many do, of published ones."""
        axis = self.single
        if axis is None:
            return None
        kept, drawn = np.ones(self.cells.lines), np.zeros(self.cells.lines)
        if self.cells.lines:
            known = self.channels[axis.name].against_others
            assert known is not None
            for members, _ in self.classes(present) if axis.count > 1 else ():
                drawn[members] = ((1 - known[0]) * known[1])[members]
                kept[members] = known[0] + drawn[members]
            return kept, drawn, lambda ones: self._matches(ones, present)
        small, matches = axis.collapsed(self.channels[axis.name]), np.zeros(self.cells.rest)
        for _, truth in self.classes(present):
            matches = np.ones(self.cells.rest)
            if axis.count > 1 and not truth.all():
                pair = small.pair(truth.reshape(-1))
                if pair is None:
                    return None
                kept, drawn, matches = np.asarray(pair.kept), np.asarray(pair.drawn), pair.matches.astype(np.float64)
        return kept, drawn, lambda ones: self.cells.gather(matches, ones)

    def draws(self, value: int | None = None, present: str | None = None) -> Draws | Tables | None:
        """What a count was drawn from, where that is known; where all rows or none count, nothing is drawn."""
        ones = self.cells.numbers("n" if value is None else f"v{value}_n")
        if (pairs := self._pairs(present)) is None:
            return states.of_count(self, ones, present) if states.known(self) else None
        kept, drawn, looking = pairs
        rows, published = self.over(ones), looking(ones)
        whole, permuted = self.question.published.whole, self.question.published.permuted
        certain = permuted & (rows == whole)  # a permutation keeps what it is asked about
        kept, drawn = np.where(certain, 1, kept), np.where(certain, 0, drawn)
        y, n, q, b = (np.broadcast_to(coins, rows.shape).reshape(-1) for coins in (published, rows, kept, drawn))
        return Draws(y, n, q, b, states.most(self))

    def matching(self) -> Tensor:
        """How many published rows look as if they were counted; a sampled row is one, whatever its weight."""
        return self._matches(self.cells.numbers("n_rows" if self.question.published.weighted else "n"))

    def _matches(self, ones: Vector, present: str | None = None) -> Tensor:
        result = self.blank()
        for members, truth in self.classes(present):
            matching = self.cells.gather(self.looks(truth.astype(float)), ones)
            result[:, members] = self.matched(matching)[:, members]
        return result

    def sum(self, aggregate: Aggregate) -> Ratio:
        """A sum, together with the count of the rows that it is taken over."""
        assert aggregate.value is not None
        column = perturbed_column(
            aggregate.value, {a.name: a.domain for a in [*self.question.grouped, *self.question.others]}
        )
        average = aggregate.kind == "avg"
        if column is None:
            return self._public_sum(self.question.place(aggregate.value), average)
        if any(axis.name == column for axis in self.question.grouped):
            return grouped_sum(self, column)
        return perturbed_sum(self, column, self.question.place(aggregate.value), average)

    def _public_sum(self, place: int, average: bool) -> Ratio:
        first, mixed = self.cells.numbers(f"v{place}_s"), self.cells.numbers(f"v{place}_s", 2)
        second, gather = self.cells.numbers(f"v{place}_q"), self.cells.gather
        top = self.moments(lambda w: (gather(w, first), gather(w**2, second), gather(w, second)))
        cross = self.moments(lambda w: (gather(w, first), gather(w**2, mixed), gather(w, mixed)))
        top = self._raised(top, second)
        if not average and not self.question.exact:
            top = self.leaning(top, second, self.cells.numbers(f"v{place}_c"))
        numerator = self._own(top, f"v{place}_s").widened(self._sampling(second))
        covariance = cross.variance + self._sampling(mixed)
        if self.question.published.whole and not self.question.exact:
            covariance = covariance + own.change(self, first, self.cells.numbers(f"v{place}_n"))
        return Ratio(numerator, self.count(place), covariance)

    def _raised(self, moments: Moments, squares: Vector, present: str | None = None) -> Moments:
        """With two or more columns V can come out too small on small counts: it is at least sum v^2 min_x Var(w | x)."""
        others = [axis for axis in self.question.others if axis.count > 1]
        if len(self.question.grouped) + len(others) < 2:
            return moments
        total = self.cells.gather(np.ones(self.cells.rest), squares)
        total = total.reshape(len(self.cells.groups), -1).sum(axis=1).reshape(-1, *(1,) * len(self.cells.lines))
        least = np.zeros(self.cells.lines)
        hit, miss = self._grouped_spread()
        for members, truth in self.classes(present):
            mean_square = self.rest_expectation(self.rest_weights(truth.astype(float)) ** 2)
            if self.cells.lines:
                spread = np.min(
                    np.multiply.outer(hit, mean_square) - truth,
                    axis=tuple(range(hit.ndim, hit.ndim + mean_square.ndim)),
                )
                least[members] = np.minimum(spread, miss * mean_square.min())[members]
            else:
                least[members] = (mean_square - truth).min()
        return Moments(moments.value, np.maximum(moments.variance, total * np.maximum(least, 0)))

    def _grouped_spread(self) -> tuple[Tensor, Tensor]:
        """The mean square of B[d, y] where the true value is d, and the least of it where it is another."""
        hit, miss = np.ones(()), np.ones(())
        for axis in self.question.grouped:
            if (known := self.channels[axis.name].against_others) is not None:
                own, other = _spread(*known)
                hit, miss = np.multiply.outer(hit, own), np.multiply.outer(miss, np.minimum(own, other))
                continue
            channel = replacement_of(self.channels[axis.name])
            p, r = channel.retention, channel.replace
            if len(channel.never_retained):
                return np.ones(self.cells.lines), np.zeros(self.cells.lines)
            c, odds = (r / p) / (r / p).sum(), (1 - p) / p
            redrawn = channel.solve_squares(r)
            own = p * (1 / p - c * odds) ** 2 + (1 - p) * redrawn
            other = c**2 * ((1 - p) ** 2 / p).min() + (1 - p.max()) * redrawn
            hit, miss = np.multiply.outer(hit, own), np.multiply.outer(miss, np.minimum(own, other))
        return hit, miss


def _spread(p: float, r: Vector) -> tuple[Tensor, Tensor]:
    """The mean squares of weights of one value, where it is kept with p and else drawn with r: of its own rows, and of all others."""
    b = (1 - p) * r
    hit, miss = (1 - b) / p, b / p
    return (p + b) * hit**2 + (1 - p - b) * miss**2, b * hit**2 + (1 - b) * miss**2


class Whole:
    """The estimates of all strata together: rows have independent coins, so values and variances add up."""

    def __init__(self, question: Question, cells: Cells) -> None:
        self.cells = cells
        strata = question.published.strata if not question.exact else [{}]
        self.parts = [Reconstruction(question, self.cells.of(i), channels) for i, channels in enumerate(strata)]

    def count(self, value: int | None = None, present: str | None = None) -> Moments:
        """How many rows."""
        return reduce(add, (part.count(value, present) for part in self.parts))

    def sum(self, aggregate: Aggregate) -> Ratio:
        """A sum, together with the count of the rows that it is taken over."""
        return reduce(add, (part.sum(aggregate) for part in self.parts))

    def draws(self, value: int | None = None, present: str | None = None) -> Draws | Tables | None:
        """What a count was drawn from, where that is known."""
        return self.parts[0].draws(value, present) if self.drawn else None

    def draws_of_sum(self, aggregate: Aggregate) -> Tables | None:
        """What the sum of a public number was drawn from, where that is known."""
        place = self._public_place(aggregate)
        return states.of_sum(self.parts[0], place) if place is not None else None

    def even(self, aggregate: Aggregate, ratio: Ratio) -> Even | None:
        """The variances that an average of a public number has if whether rows match does not depend on it, where that is known."""
        place = self._public_place(aggregate)
        return states.of_average(self.parts[0], place, ratio) if place is not None else None

    def carrying(self, aggregate: Aggregate) -> Tensor | None:
        """The published rows that carry a sum of a public number where few rows decide, if that is known."""
        place = self._public_place(aggregate) if aggregate.kind != "count" else None
        return states.carrying(self.parts[0], place) if place is not None else None

    def _public_place(self, aggregate: Aggregate) -> int | None:
        """Where the sums of a public number stand, if it is known what it was drawn from."""
        question = self.parts[0].question
        assert aggregate.value is not None
        if len(self.parts) > 1 or perturbed_column(aggregate.value, question.published.domains):
            return None
        return question.place(aggregate.value) if states.known(self.parts[0]) else None

    @property
    def drawn(self) -> bool:
        """Whether it is known what counts are drawn from: not from several strata, and rows count 1 each."""
        return len(self.parts) == 1 and self.parts[0].drawn

    def matching(self) -> Tensor:
        """How many published rows look as if they were counted."""
        return reduce(add, (part.matching() for part in self.parts))
