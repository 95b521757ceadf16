"""The least and the most that aggregates of published rows can be: what is public of a row bounds what it adds, whatever its perturbed values are.

A row of a public group adds h = sum of u_t f_t(x) to a line: u_t is public, x are its perturbed values. So a sum lies between the sums over rows of the
least and of the most of h over all x, and a quotient of two sums between the least and the most of h / k over all rows and x with k > 0 (a mediant):

    min h / k  <=  (sum of h) / (sum of k)  <=  max h / k           where k >= 0, and h = 0 where k = 0

An average is such a quotient, of a value by its presence, and so is a share. Public conditions that are mixed with perturbed ones are known for each row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.core.once import once
from scumble.query.cells import Cells
from scumble.query.model import Window
from scumble.query.possible import Ends, Limits, among, positive_part
from scumble.query.terms import Factor, Tensor, Terms, added
from scumble.query.totals import Totals

Combination = Mapping[str, float]
"""How often each aggregate, and each sum of one over lines, is taken."""
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Bounds:
    """What totals can be, for every public group and line."""

    totals: Totals
    cells: Cells
    lines: npt.NDArray[np.intp]
    """The lines of the answer, among all combinations of public groups, grouped values and keys."""

    def limits(self) -> Limits:
        """Those of counts, sums and averages; a quantile lies among its points anyway. None where rows were drawn: others may be anywhere."""
        limits: dict[str, Ends] = {}
        for total in self.totals.totals if self._all_rows else ():
            if total.aggregate.kind == "avg":
                limits[total.aggregate.name] = self._taken(self._mediant(total.number, total.present))
            elif total.aggregate.kind in ("count", "sum"):
                limits[total.aggregate.name] = self._taken(self._sum(total.terms))
        return limits

    def quotient(self, top: Combination, bottom: Combination, windows: Sequence[Window]) -> Ends | None:
        """What a quotient of counts and sums can be; None where nothing is known. Rows of other lines count in sums over lines alone."""
        if not self._all_rows:
            return None
        over = {window.name: window.of for window in windows}
        kinds = {total.aggregate.name: total.aggregate.kind for total in self.totals.totals}
        if any(kinds[over.get(name, name)] not in ("count", "sum") for name in [*top, *bottom]):
            return None
        low, high = self._mediant(*(self._combined(part, over) for part in (top, bottom)))
        if any(name in over for name in bottom):
            beside = [{name: count for name, count in part.items() if name in over} for part in (top, bottom)]
            others = self._mediant(*(self._combined(part, over) for part in beside))
            low, high = np.fmin(low, np.fmin.reduce(others[0])), np.fmax(high, np.fmax.reduce(others[1]))
        return self._taken((low, high))

    @property
    def _all_rows(self) -> bool:
        return self.totals.question.published.drawn is None

    def _taken(self, ends: Ends) -> Ends:
        return ends[0][self.lines], ends[1][self.lines]

    def _combined(self, part: Combination, over: Mapping[str, str]) -> Terms:
        terms: Terms = {}
        for name, count in part.items():
            own = next(total.terms for total in self.totals.totals if total.aggregate.name == over.get(name, name))
            terms = added(terms, {factor: table * count for factor, table in own.items()})
        return terms

    @once
    def _rows(self) -> Tensor:
        """Rows by public group and truth values of public conditions."""
        return self.cells.by_condition(self.cells.numbers("n"))

    @property
    def _shape(self) -> tuple[int, int]:
        """Lines of a public group, and combinations of truth values of public conditions."""
        return self.cells.width * self.totals.width, int(self._rows.shape[1])

    def _flat(self, table: Tensor) -> Tensor:
        """A table with one dimension for the grouped columns, which is 1 where it does not depend on them, and one for all others."""
        ahead = self.totals.ahead
        rest = (*(axis.count for axis in self.totals.question.others), *(3,) * len(self.totals.grid.publics))
        alike = table.shape[:ahead] == (1,) * ahead
        first = (1,) * ahead if alike else self.cells.lines
        return np.broadcast_to(table, (*first, *rest)).reshape(1 if alike else self.cells.width, -1)

    @once
    def _chosen(self) -> Flags:
        """The combinations of cells that belong to a line."""
        return np.asarray((self._flat(self.totals.truth) > 0) & (self.totals.lines[0].reshape(-1) >= 0))

    @once
    def _keys(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Combinations of cells in the order of their keys, and of the truth values of public conditions; and where each begins."""
        keys, atoms = np.maximum(self.totals.lines[0].reshape(-1), 0), self._shape[1]
        places = keys * atoms + np.arange(keys.size) % atoms
        order = np.argsort(places, kind="stable")
        return order, np.searchsorted(places[order], np.arange(self.totals.width * atoms))

    def _reduced(self, numbers: Tensor, by: np.ufunc, nothing: float) -> Tensor:
        """By line and truth values of public conditions."""
        order, starts = self._keys
        padded = np.concatenate([numbers[:, order], np.full((len(numbers), 1), nothing)], axis=1)
        reduced = by.reduceat(padded, starts, axis=1)
        ends = np.append(starts[1:], len(order))
        reduced = np.where(starts == ends, nothing, reduced)  # reduceat takes the next one where there is none
        whole = np.broadcast_to(reduced, (self.cells.width, reduced.shape[1]))
        return whole.reshape(*self._shape)

    def _extremes(self, numbers: Tensor, some: Flags) -> Ends:
        """The least and the most over some combinations of cells: lines by truth values of public conditions."""
        return (
            self._reduced(np.where(some, numbers, np.inf), np.minimum, np.inf),
            self._reduced(np.where(some, numbers, -np.inf), np.maximum, -np.inf),
        )

    def _sum(self, terms: Terms) -> Ends:
        """With f between a and b, and the positive u adding up to P at most, sum u f lies between S b - P (b - a) and S a + P (b - a)."""
        sure = self._reduced(self._chosen.astype(np.float64), np.minimum, 1.0) > 0  # no row can belong to another line
        alone = self._shape[0] == 1
        least = most = np.zeros((len(self.cells.groups), self._shape[0]))
        for factor, table in terms.items():
            if self.totals.factors.power(factor) is not None:
                return self._sum_of_numbers(factor)
            low, high = self._extremes(self._flat(table), self._chosen)
            elsewhere = ~sure if alone else np.ones_like(sure)
            low, high = np.where(elsewhere, np.minimum(low, 0), low), np.where(elsewhere, np.maximum(high, 0), high)
            total = self.cells.by_condition(self.cells.numbers(self.totals.factors.names[factor]))
            positive = self._positive(factor, total)
            most = most + total @ low.T + positive @ (high - low).T
            least = least + total @ high.T - positive @ (high - low).T
        return least.reshape(-1), most.reshape(-1)

    def _positive(self, factor: Factor, total: Tensor) -> Tensor:
        if not factor.numbers:
            return total
        return positive_part(total, self._rows, *self.cells.ranges[self.totals.factors.names[factor]])

    def _numbers_of(self, factor: Factor) -> Tensor:
        """The values that a perturbed column can have where the WHERE leaves it, which the statement sums."""
        power = self.totals.factors.power(factor)
        assert power is not None
        axes = self.totals.grid.axes
        place = next(i for i, axis in enumerate(axes) if axis.name == power[0])
        left = np.asarray(
            (self.totals.truth > 0).any(axis=tuple(i for i in range(self.totals.grid.rank) if i != place))
        )
        numbers = axes[place].domain.numbers
        return np.asarray(numbers[~np.isnan(numbers) & np.broadcast_to(left, axes[place].count)[axes[place].cells]])

    def _sum_of_numbers(self, factor: Factor) -> Ends:
        rows = np.repeat(self._rows.sum(axis=1), self._shape[0])
        return among(self._numbers_of(factor), rows, average=False)

    def _mediant(self, top: Terms, bottom: Terms) -> Ends:
        unknown = np.full(len(self.cells.groups) * self._shape[0], np.inf)
        (divisor,) = bottom if len(bottom) == 1 else (None,)
        if divisor is None or divisor.numbers:
            return -unknown, unknown
        drawn = [factor for factor in top if self.totals.factors.power(factor) is not None]
        if drawn:
            return among(self._numbers_of(drawn[0]), unknown, average=True) if len(top) == 1 else (-unknown, unknown)
        counted = self._flat(bottom[divisor])
        some, nowhere = self._chosen & (counted != 0), self._chosen & (counted == 0)
        if np.any(some & (counted < 0)) or any(np.any(nowhere & (self._flat(t) != 0)) for t in top.values()):
            return -unknown, unknown
        low = high = np.zeros((len(self.cells.groups), *self._shape))
        for factor, table in top.items():
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(some, self._flat(table) / counted, 0.0)
            ends = self._times(factor, divisor, self._extremes(ratio, some))
            low, high = low + ends[0], high + ends[1]
        reached = (self._extremes(counted, some)[1] > 0) & (self._rows > 0)[:, None, :]
        low, high = np.where(reached, low, np.inf).min(axis=2), np.where(reached, high, -np.inf).max(axis=2)
        nobody = low > high
        return np.where(nobody, np.nan, low).reshape(-1), np.where(nobody, np.nan, high).reshape(-1)

    def _times(self, factor: Factor, divisor: Factor, ends: Ends) -> Ends:
        """What f / k between two ends becomes times a factor: of rows that count in the divisor, it may be missing in some, which add 0."""
        low, high = np.ones((1, 1, 1)), np.ones((1, 1, 1))
        if factor.numbers:
            low, high = (end[:, None, :] for end in self.cells.ranges[self.totals.factors.names[factor]])
        if not {*factor.numbers, *factor.present} <= set(divisor.present):
            low, high = np.minimum(low, 0), np.maximum(high, 0)
        with np.errstate(invalid="ignore"):
            corners = [end * other for end in (low, high) for other in ends]
        return np.fmin.reduce(corners), np.fmax.reduce(corners)
