"""Cells of published rows into unbiased sums and their variances.

A row's weight w is a product over independent columns, so over a tensor of cells it is found axis by axis. With f the truth table
of the condition, P_r the channel of axis r between its cells, and B_r = P_r^-1,

    W = (B_1^T x ... x B_k^T) f                    the weight of a published row, by its cells
    S = sum v W,   V = sum v^2 (W^2 - W)           the estimate and its variance (f^2 = f, so the weights of f^2 are W)

A perturbed column d that is grouped by multiplies the weight by B[d, y]; so the rows are first summed over all other axes,

    L = sum v W,   Q = sum v^2 W^2,   M = sum v^2 W          for each published value y of the grouped columns
    S_d = sum_y B[d, y] L_y,   V_d = sum_y B[d, y]^2 Q_y - sum_y B[d, y] M_y

and the last two are O(m) by the structure of the channel. A perturbed column x that is summed makes the weight a polynomial in the
published number: with one retention p, replacement moments m_c = sum_{i in c} r_i x_i, and G the weights over the other axes,

    W = a + b y,   a = -(1 - p) / p * sum_c m_c G_c,   b = G_{c(y)} / p           (with x^2 for the weights of the square)
"""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.channel import Channel, IndistinguishableValues, Vector
from scumble.query import own, states
from scumble.query.cells import Cells
from scumble.query.compile import Question, null_states, perturbed_column
from scumble.query.few import Draws
from scumble.query.law import Tables
from scumble.query.moments import Moments, Ratio, quotient
from scumble.query.normalize import Perturbed, truth_table
from scumble.query.parse import Aggregate
from scumble.query.sampled import of_average, over_values, public_share, sample_of, smaller
from scumble.query.slope import covariances, steepness

Tensor = npt.NDArray[np.float64]


Gathered = tuple[Tensor, Tensor, Tensor]
"""L, Q and M of the docstring above."""


class Reconstruction:
    """Estimates for the aggregates of one question, from the rows of one stratum."""

    def __init__(self, question: Question, cells: Cells, channels: dict[str, Channel]) -> None:
        self.question = question
        self.cells = cells
        self.channels = channels
        self._collapsed = {axis.name: axis.collapsed(channels[axis.name]) for axis in question.others}
        self.truth = truth_table(question.conditions, [*question.grouped, *question.others])

    def count(self, value: int | None = None, present: str | None = None) -> Moments:
        """How many rows: all, those with a public value, or those where a perturbed column is not missing."""
        found = self._count(value, present)
        return self._own(found, "n" if value is None else f"v{value}_n", present)

    def _own(self, found: Moments, name: str, present: str | None = None) -> Moments:
        """Where values are replaced by others of the same column, the variance that follows from that."""
        if not self.question.published.whole or self.question.exact:
            return found
        return found.of_variance(own.corrected(self, found.variance, self.cells.numbers(name), present))

    def _count(self, value: int | None = None, present: str | None = None) -> Moments:
        """The same, as if the replacement distribution were known."""
        name = "n" if value is None else f"v{value}_n"
        first, second, third = (self.cells.numbers(name, order) for order in (1, 2, 3))
        gather = self.cells.gather
        found = self._each(lambda w: (gather(w, first), gather(w**2, second), gather(w, second)), present)
        found = self._leaning(self._raised(found, second, present), second, third, present)
        return found.widened(self._sampling(second, present))

    def _sampling(self, squares: Vector, present: str | None = None) -> Tensor:
        """What sampling adds to a variance: for each row of the answer a share of the sum of squares over sampled rows."""
        shape = (len(self.cells.groups), *self.cells.shape)
        if self.cells.sampled is None:
            return np.zeros(shape)
        second, public = self.cells.numbers("n", 2) * self.cells.sampled, np.zeros(self.cells.shape)
        for members, truth in self.classes(present):
            grouped = bool(self.question.grouped)  # then a row of the answer is one value
            public[members] = (
                0.25 / sample_of(self.question) if grouped else public_share(self.question, truth.astype(float))
            )
        hits = self._each(lambda w: (self.cells.gather(w, second), np.zeros(shape), np.zeros(shape)), present).value
        return smaller(public, hits, self._over(second)) * self._over(squares * self.cells.sampled)

    def _over(self, sums: Vector) -> Tensor:
        return over_values(self.cells, sums)

    def _leaning(
        self, found: Moments, second: Vector, third: Vector, present: str | None = None, x: Tensor | float = 1.0
    ) -> Moments:
        """The moments with how their variance follows them; x is what a counted row counts."""
        steep = self._grouped_steepness() if self.question.grouped else np.zeros(())
        for _, truth in self.classes(present) if not self.question.grouped else ():
            k, u = covariances(truth.astype(float) * x, self.rest_weights, self._rest_expectation)
            steep = steepness(self.cells.gather(self.rest_weights(k), second), found.variance, k, u)
        return found.leaning(steep * quotient(self._over(third), self._over(second)))

    @property
    def follows(self) -> bool:
        """Whether it is known how the variance of a count follows it: not for groups of several columns, or of several retentions."""
        if not self.question.grouped:
            return True
        others = any(axis.count > 1 for axis in self.question.others) or self.question.conditions.public_atoms
        channel = self.channels[self.question.grouped[0].name]
        return bool(len(self.question.grouped) == 1 and not others and channel.constant and channel.retain > 0)

    def _grouped_steepness(self) -> Tensor:
        """k / u for each value of the only perturbed column; nothing, where that is not known."""
        if not self.follows:
            return np.zeros(self.cells.shape)
        channel = self.channels[self.question.grouped[0].name]
        p = float(channel.retain)
        return np.asarray((1 - p - 2 * (1 - p) * channel.replace) / p)

    @property
    def single(self) -> Perturbed | None:
        """The only perturbed column that tells rows apart, where each row counts 1 and one retention holds; else nothing."""
        axes = [*self.question.grouped, *(axis for axis in self.question.others if axis.count > 1)]
        published = self.question.published
        if len(axes) != 1 or self.question.conditions.public_atoms or published.weighted or published.whole:
            return None
        channel = self.channels[axes[0].name]
        return axes[0] if channel.constant and channel.retain > 0 else None

    def draws(self, value: int | None = None, present: str | None = None) -> Draws | Tables | None:
        """What a count was drawn from, where that is known; where all rows or none count, nothing is drawn."""
        ones = self.cells.numbers("n" if value is None else f"v{value}_n")
        if (axis := self.single) is None:
            return states.of_count(self, ones, present) if states.known(self) else None
        p, replace = float(self.channels[axis.name].retain), axis.collapsed(self.channels[axis.name]).replace
        kept, drawn = np.ones(self.cells.shape), np.zeros(self.cells.shape)
        for members, truth in self.classes(present):
            everything = axis.count == 1 or (not self.cells.shape and truth.all())
            if not everything:
                drawn[members] = (1 - p) * (replace[members] if self.cells.shape else replace @ truth.reshape(-1))
                kept[members] = p + drawn[members]
        rows, published = self._over(ones), self._matches(ones, present)
        flat = (np.broadcast_to(each, rows.shape).reshape(-1) for each in (published, rows, kept, drawn))
        return Draws(*flat)

    def matching(self) -> Tensor:
        """How many published rows look as if they were counted; a sampled row is one, whatever its weight."""
        return self._matches(self.cells.numbers("n_rows" if self.question.published.weighted else "n"))

    def _matches(self, ones: Vector, present: str | None = None) -> Tensor:
        result = np.zeros((len(self.cells.groups), *self.cells.shape))
        for members, truth in self.classes(present):
            result[:, members] = self.cells.gather(truth.astype(float), ones)[:, members]
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
            return self._grouped_sum(column)
        return self._perturbed_sum(column, self.question.place(aggregate.value), average)

    def _public_sum(self, place: int, average: bool) -> Ratio:
        first, mixed = self.cells.numbers(f"v{place}_s"), self.cells.numbers(f"v{place}_s", 2)
        second, gather = self.cells.numbers(f"v{place}_q"), self.cells.gather
        top = self._each(lambda w: (gather(w, first), gather(w**2, second), gather(w, second)))
        cross = self._each(lambda w: (gather(w, first), gather(w**2, mixed), gather(w, mixed)))
        top = self._raised(top, second)
        if not average and not self.question.exact:
            top = self._leaning(top, second, self.cells.numbers(f"v{place}_c"))
        numerator = self._own(top, f"v{place}_s").widened(self._sampling(second))
        covariance = cross.variance + self._sampling(mixed)
        if self.question.published.whole and not self.question.exact:
            covariance = covariance + own.change(self, first, self.cells.numbers(f"v{place}_n"))
        return Ratio(numerator, self.count(place), covariance)

    def _grouped_sum(self, column: str) -> Ratio:
        place = next(i for i, axis in enumerate(self.question.grouped) if axis.name == column)
        shape = [1] * (1 + len(self.cells.shape))
        shape[1 + place] = -1
        x = np.nan_to_num(self.question.grouped[place].domain.numbers).reshape(shape)
        count = self.count(present=column)
        return Ratio(count.times(x), count, count.variance * x)

    def _perturbed_sum(self, column: str, place: int, average: bool) -> Ratio:
        axis_place = next(i for i, axis in enumerate(self.question.others) if axis.name == column)
        axis = self.question.others[axis_place]
        channel = self.channels[column]
        if axis.count == axis.domain.size:
            return self._valued_sum(column, axis_place, average)
        numbers = self.cells.numbers
        first = [numbers("n"), numbers(f"v{place}_s")]
        sums = [numbers("n", 2), numbers(f"v{place}_s", 2), numbers(f"v{place}_q")]

        def polynomial(w: Tensor, power: int) -> tuple[Tensor, Tensor]:
            return _polynomial(self.rest_weights(w, skip=axis_place), axis, channel, axis_place, power)

        def top(f: Tensor) -> Gathered:
            (a, b), (a2, b2) = polynomial(f, 1), polynomial(f, 2)
            return (
                self._line([a, b], first),
                self._line([a**2, 2 * a * b, b**2], sums),
                self._line([a2, b2], [sums[0], sums[2]]),
            )

        def cross(f: Tensor) -> Gathered:
            a, b = polynomial(f, 1)
            w = self.rest_weights(f)
            return self._line([a, b], first), self._line([a * w, b * w], sums[:2]), self._line([a, b], sums[:2])

        total = self._each_truth(top, column)
        if not average and len(self.cells.rest) == 1 and not self.cells.shape:
            total = total.leaning(self._number_steepness(axis, channel, self.truth & self.present(column)))
        return Ratio(total, self._count(present=column), self._each_truth(cross, column).variance)

    def _number_steepness(self, axis: Perturbed, channel: Channel, truth: npt.NDArray[np.bool_]) -> Tensor:
        """k / u of the values that coins draw: most rows, where few match; where many do it hardly matters."""
        k, u = covariances(np.nan_to_num(axis.domain.numbers) * truth[axis.cells], channel.weights, channel.expect)
        return steepness(channel.replace @ k, channel.replace @ u, k, u)

    def _valued_sum(self, column: str, place: int, average: bool) -> Ratio:
        """Each value is a cell, so the summed number is a function of the cell."""
        shape = [1] * len(self.cells.rest)
        shape[place] = -1
        x = np.nan_to_num(self.question.others[place].domain.numbers).reshape(shape)
        first, second, third = (self.cells.numbers("n", order) for order in (1, 2, 3))
        gather = self.cells.gather

        def moments(f: Tensor, g: Tensor) -> Gathered:
            w, v = self.rest_weights(f), self.rest_weights(g)
            return gather(w, first), gather(w * v, second), gather(self.rest_weights(f * g), second)

        top = self._each_truth(lambda f: moments(f * x, f * x), column)
        if not average:
            top = self._leaning(top, second, third, column, x)
        cross = self._each_truth(lambda f: moments(f * x, f), column).variance
        bottom = self._each_truth(lambda f: moments(f, f), column)
        if self.cells.sampled is None:
            return Ratio(top, self._count(present=column), cross)
        added = self._sampling_of_values(x, column, average, quotient(top.value, bottom.value))
        return Ratio(top.widened(added[0]), bottom.widened(added[2]), cross + added[1])

    def _sampling_of_values(self, x: Tensor, column: str, average: bool, ratio: Tensor) -> Tensor:
        """What sampling adds to the variance of a sum of the perturbed column, its covariance with the count, and that of the count."""
        truth = (self.truth & self.present(column)).astype(np.float64)
        assert self.cells.sampled is not None
        second = self.cells.numbers("n", 2) * self.cells.sampled
        squares = self._over(second)
        powers = [truth * x**2, truth * x, truth]
        estimated = np.stack([self.cells.gather(self.rest_weights(f), second) for f in powers])
        if not average:
            return np.stack([smaller(public_share(self.question, powers[1]), estimated[0], squares) * squares] * 3)
        asked, numbers = truth.max(axis=tuple(range(1, truth.ndim))), x.reshape(-1)
        halves = [0.5 * asked @ numbers**power / sample_of(self.question) for power in (2, 1, 0)]
        return of_average(np.stack([half * squares for half in halves]), estimated, ratio)

    def _raised(self, found: Moments, squares: Vector, present: str | None = None) -> Moments:
        """With two or more columns V can come out too small on small counts: it is at least sum v^2 min_x Var(w | x)."""
        others = [axis for axis in self.question.others if axis.count > 1]
        if len(self.question.grouped) + len(others) < 2:
            return found
        total = self.cells.gather(np.ones(self.cells.rest), squares)
        total = total.reshape(len(self.cells.groups), -1).sum(axis=1).reshape(-1, *(1,) * len(self.cells.shape))
        least = np.zeros(self.cells.shape)
        hit, miss = self._grouped_spread()
        for members, truth in self.classes(present):
            mean_square = self._rest_expectation(self.rest_weights(truth.astype(float)) ** 2)
            if self.cells.shape:
                spread = np.min(
                    np.multiply.outer(hit, mean_square) - truth,
                    axis=tuple(range(hit.ndim, hit.ndim + mean_square.ndim)),
                )
                least[members] = np.minimum(spread, miss * mean_square.min())[members]
            else:
                least[members] = (mean_square - truth).min()
        return Moments(found.value, np.maximum(found.variance, total * np.maximum(least, 0)))

    def _grouped_spread(self) -> tuple[Tensor, Tensor]:
        """The mean square of B[d, y] where the true value is d, and the least of it where it is another."""
        hit, miss = np.ones(()), np.ones(())
        for axis in self.question.grouped:
            channel = self.channels[axis.name]
            p, r = channel.retention, channel.replace
            if len(channel.never_retained):
                return np.ones(self.cells.shape), np.zeros(self.cells.shape)
            c, odds = (r / p) / (r / p).sum(), (1 - p) / p
            redrawn = channel.solve_squares(r)
            own = p * (1 / p - c * odds) ** 2 + (1 - p) * redrawn
            other = c**2 * ((1 - p) ** 2 / p).min() + (1 - p.max()) * redrawn
            hit, miss = np.multiply.outer(hit, own), np.multiply.outer(miss, np.minimum(own, other))
        return hit, miss

    def _rest_expectation(self, g: Tensor) -> Tensor:
        for place, axis in enumerate(self.question.others):
            if axis.count > 1:
                g = np.moveaxis(self._collapsed[axis.name].expect(np.moveaxis(g, place, 0)), 0, place)
        return g

    def _line(self, weights: Sequence[Tensor], sums: Sequence[Vector]) -> Tensor:
        parts = [self.cells.gather(np.broadcast_to(w, self.cells.rest), s) for w, s in zip(weights, sums, strict=True)]
        return np.asarray(np.sum(parts, axis=0))

    def _each(self, gather: Callable[[Tensor], Gathered], present: str | None = None) -> Moments:
        return self._each_truth(lambda f: gather(self.rest_weights(f)), present)

    def _each_truth(self, gather: Callable[[Tensor], Gathered], present: str | None = None) -> Moments:
        """Runs `gather` for each distinct residual condition, and keeps the answer's rows that have it."""
        shape = (len(self.cells.groups), *self.cells.shape)
        value, variance = np.zeros(shape), np.zeros(shape)
        for members, truth in self.classes(present):
            try:
                linear, squares, own = gather(truth.astype(float))
                value[:, members] = self._solve(linear)[:, members]
                variance[:, members] = (self._solve_squares(squares) - self._solve(own))[:, members]
            except IndistinguishableValues as error:
                raise IndistinguishableValues(error.values, self._names(error)) from None
        return Moments(value, variance)

    def classes(self, present: str | None) -> list[tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]]:
        """The grouped values that leave the same condition on the other axes, with that condition."""
        truth = self.truth & self.present(present)
        rows = truth.reshape(self.cells.width, -1)
        kinds, which = np.unique(rows, axis=0, return_inverse=True)
        found = [
            ((which.reshape(-1) == i).reshape(self.cells.shape), kind.reshape(self.cells.rest))
            for i, kind in enumerate(kinds)
            if kind.any()
        ]
        return found

    def present(self, column: str | None) -> npt.NDArray[np.bool_]:
        """Where a perturbed column is not missing, over all axes."""
        axes = [*self.question.grouped, *self.question.others]
        if column is None:
            return np.ones((1,) * self.truth.ndim, dtype=np.bool_)
        place = next(i for i, axis in enumerate(axes) if axis.name == column)
        shape = [1] * self.truth.ndim
        shape[place] = -1
        states = np.ones(axes[place].count, dtype=np.bool_)
        if axes[place].domain.size < 1_000_000:
            states[axes[place].cells] = null_states(axes[place].domain).astype(np.bool_)
        return states.reshape(shape)

    def rest_weights(self, f: Tensor, skip: int | None = None) -> Tensor:
        """(B_1^T x ... x B_k^T) f over the axes that are not grouped."""
        for place, axis in enumerate(self.question.others):
            if place != skip and axis.count > 1:
                f = np.moveaxis(self._collapsed[axis.name].weights(np.moveaxis(f, place, 0)), 0, place)
        return f

    def solved(
        self,
        weigh: Callable[[Tensor], Tensor],
        sums: Vector,
        present: str | None = None,
        *,
        but: int | None = None,
        over: bool = False,
    ) -> Tensor:
        """Sums over rows, times a weight that comes from the residual condition and those of the grouped columns.

        but    the grouped column whose weight is left out
        over   whether the sums are taken over all its published values
        """
        found = np.zeros((len(self.cells.groups), *self.cells.shape))
        for members, truth in self.classes(present):
            linear = self.cells.gather(weigh(truth.astype(float)), sums)
            if over and but is not None:
                linear = np.broadcast_to(linear.sum(axis=1 + but, keepdims=True), linear.shape)
            found[:, members] = self._solve(linear, but)[:, members]
        return found

    def _solve(self, tensor: Tensor, but: int | None = None) -> Tensor:
        for place, axis in enumerate(self.question.grouped):
            if place == but:
                continue
            tensor = np.moveaxis(self.channels[axis.name].solve(np.moveaxis(tensor, place + 1, 0)), 0, place + 1)
        return tensor

    def _solve_squares(self, tensor: Tensor) -> Tensor:
        for place, axis in enumerate(self.question.grouped):
            tensor = np.moveaxis(
                self.channels[axis.name].solve_squares(np.moveaxis(tensor, place + 1, 0)), 0, place + 1
            )
        return tensor

    def _names(self, error: IndistinguishableValues) -> list[str]:
        axes = [*self.question.grouped, *self.question.others]
        lost = next((axis for axis in axes if len(self.channels[axis.name].never_retained) > 1), None)
        if lost is None:
            return []
        values = lost.domain.values.take(pa.array(self.channels[lost.name].never_retained))
        return [repr(value) for value in values.to_pylist()]


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
        (part, *others), question = self.parts, self.parts[0].question
        assert aggregate.value is not None
        if others or question.exact or perturbed_column(aggregate.value, question.published.domains):
            return None
        return states.of_sum(part, question.place(aggregate.value)) if states.known(part) else None

    @property
    def drawn(self) -> bool:
        """Whether it is known what counts are drawn from: not from several strata, and rows count 1 each."""
        return len(self.parts) == 1 and (self.parts[0].single is not None or states.known(self.parts[0]))

    def matching(self) -> Tensor:
        """How many published rows look as if they were counted."""
        return reduce(add, (part.matching() for part in self.parts))


def _polynomial(g: Tensor, axis: Perturbed, channel: Channel, place: int, power: int) -> tuple[Tensor, Tensor]:
    """a and b of W = a + b y^power for the sum of x^power times a condition whose weights over the other axes are g."""
    p = float(channel.retain)
    if p == 0:
        raise IndistinguishableValues(channel.never_retained)
    x = np.nan_to_num(axis.domain.numbers) ** power
    moments = np.bincount(axis.cells, weights=channel.replace * x, minlength=axis.count)
    drawn = np.tensordot(moments, np.moveaxis(g, place, 0), axes=1)
    a = np.expand_dims(-(1 - p) / p * drawn, place)
    return np.broadcast_to(a, g.shape), g / p
