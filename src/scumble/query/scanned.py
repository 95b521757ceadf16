"""A question with the sums that it needs: each aggregate with its interval (query/intervals.py), and all with their covariances."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.once import once
from scumble.query.aggregates.aggregation import LINEAR
from scumble.query.cells import Cells, beyond
from scumble.query.estimates import Estimate, Estimates
from scumble.query.factors import Total
from scumble.query.form_answer import Answer, Lines, PublicGroups
from scumble.query.intervals import of_average, of_sum
from scumble.query.joint import Joint, Linear, joint, strata, windowed
from scumble.query.limits import Bounds
from scumble.query.model import Aggregate, Group, Window
from scumble.query.moments import Moments, Ratio
from scumble.query.notes import few_rows
from scumble.query.quantiles import quantile
from scumble.query.small import Small
from scumble.query.stratum import Stratum
from scumble.query.terms import Tensor
from scumble.query.totals import Totals


@dataclass(frozen=True)
class Scanned:
    """A question with the sums that it needs."""

    totals: Totals
    cells: Cells
    exactly: Mapping[str, Tensor] = field(default_factory=dict)
    """What depends on public columns alone and is more than sums, for each public group."""

    def answer(self, level: float) -> Answer:
        """Every aggregate for every line."""
        self._demand_finite()
        z = NormalDist().inv_cdf(0.5 + level / 2)
        estimates = [self._estimate(place, z).take(self.lines) for place in range(len(self.totals.totals))]
        names = [output.name for output in self.totals.question.query.outputs]
        lines = Estimates(names, self.groups.take(pa.array(self.lines)), estimates, level, [])
        bounds = Bounds(self.totals, self.cells, self.lines)
        own = self.totals.question.published
        apart = None if own.whole or own.drawn is not None else self.publics
        return Answer(
            lines, self.notes(estimates), self.covariance, self.answer, bounds.limits, bounds.quotient, publics=apart
        )

    def _demand_finite(self) -> None:
        """Refuses sums that are no numbers; of an exact answer nothing but the sums themselves, of others also what their errors need."""
        exact = self.totals.question.exact
        for total in (t for t in self.totals.totals if t.aggregate.kind in ("sum", "avg")):
            names = self.totals.factors.names
            singles = [names[factor] for factor in total.number if factor.numbers]
            squares = [names[one * other] for one in total.number for other in total.number if one * other in names]
            for name in singles if exact else [*singles, *squares]:
                if not np.isfinite(self.cells.numbers(name)).all():
                    raise beyond(total.aggregate.name)

    @once
    def parts(self) -> list[Stratum]:
        """The rows of each stratum."""
        return strata(self.totals, self.cells)

    @once
    def lines(self) -> Lines:
        """The lines that the WHERE leaves possible, of all combinations of public groups, grouped values and keys."""
        groups = len(self.cells.groups)
        if not self.totals.question.query.groups:
            return np.arange(groups * self.cells.width * self.totals.width)
        return np.flatnonzero(np.tile(self.totals.possible.reshape(-1), groups))

    def _estimate(self, place: int, z: float) -> Estimate:
        total, question = self.totals.totals[place], self.totals.question
        exact, name, kind = self.public(total), total.aggregate.name, total.aggregate.kind
        if kind not in LINEAR:
            return self._of_order(total, z)
        small = Small(self.totals, self.parts, total)
        shown = name in question.query.direct and not exact and small.simple
        if kind == "count" and shown:
            return small.count(z)
        sums = self._pair(place)
        if exact:  # rows are counted in whole numbers; weights over codes leave a rest of 1e-12
            sums = Ratio(sums.numerator, _whole(sums.denominator), sums.covariance)
        if kind == "avg":
            return of_average(name, sums, exact, z, small.even(sums) if shown else None)
        if kind == "count":
            return of_sum(name, sums.denominator, exact, z)
        rows = sums.denominator  # a sum over no rows is null in SQL, where that is known for certain
        nobody = (rows.value == 0) & (exact | (rows.variance == 0))
        estimate = small.sum(z) if shown else of_sum(name, sums.numerator, exact, z)
        return _unless(estimate, nobody.reshape(-1))

    def _pair(self, place: int) -> Ratio:
        """An aggregate's two sums: of its value, and of the rows that have one."""
        total = self.totals.totals[place]
        small = Small(self.totals, self.parts, total)
        sampled = self.cells.sampled is not None and total.aggregate.kind == "avg"
        refined = sampled and small.simple and self.totals.width == 1 and not self.totals.ahead
        sums = joint(
            self.totals, self.cells, self.parts, [Linear(total.number), Linear(total.present)], sampling=not refined
        )
        top, rows = (Moments(sums.values[i], _cleaned(sums.covariance[i, i], self.totals)) for i in (0, 1))
        ratio = Ratio(top, rows, sums.covariance[0, 1])
        if total.aggregate.kind == "avg" and small.simple and not self.totals.question.published.whole:
            ratio = small.raised(ratio)
        return small.sampled(ratio) if refined else ratio

    def public(self, total: Total) -> bool:
        """Whether no coin has a say in it: no perturbed column, and no lot by which rows were drawn."""
        if self.totals.question.published.drawn is not None:
            return False
        if self.totals.keys or self.totals.ahead or any(self.totals.factors.power(f) for f in total.factors):
            return False
        axes = tuple(range(len(self.totals.grid.axes)))
        tables = [self.totals.truth, *total.number.values(), *total.present.values()]
        return all(np.all(np.ptp(table, axis=axes) == 0) for table in tables)

    def publics(self) -> PublicGroups:
        """The public groups of the lines."""
        counted = {total.aggregate.name: self._counted(total) for total in self.totals.totals}
        known = {name: rows for name, rows in counted.items() if rows is not None}
        rows = self.cells.by_condition(self.cells.numbers("n")).sum(axis=1)
        return PublicGroups([group.name for group in self.totals.question.publics], rows, known)

    def _counted(self, total: Total) -> Tensor | None:
        """The rows that an average is over, where no coin has a say in that."""
        axes = tuple(range(len(self.totals.grid.axes)))
        tables = [self.totals.truth, *total.present.values()]
        split = self.totals.keys or self.totals.ahead
        if total.aggregate.kind != "avg" or split or any(np.any(np.ptp(table, axis=axes)) for table in tables):
            return None
        return joint(self.totals, self.cells, self.parts, [Linear(total.present)]).values.reshape(-1)[self.lines]

    def _of_order(self, total: Total, z: float) -> Estimate:
        """A quantile of perturbed numbers; what is exact was asked of the published table."""
        if total.aggregate.name in self.exactly:
            value = self.exactly[total.aggregate.name]
            return Estimate(total.aggregate.name, value, np.zeros_like(value) + value * 0, value, value, "exact")
        return quantile(total, self.totals, self.parts, z)

    def covariance(self, windows: Sequence[Window]) -> npt.NDArray[np.float64] | None:
        """That of all aggregates, and then of sums of them over lines; None where its sums were not asked for."""
        query, totals = self.totals.question.query, self.totals.totals
        single = [factor for total in totals for factor in total.factors]
        names = self.totals.factors.names
        if any(one * other not in names for one in single for other in single):
            return None
        places = {a.name: place for place, a in enumerate(query.aggregates)}
        sums = [Linear(terms) for total in totals for terms in (total.number, total.present)]
        sums += [windowed(self.totals, self.cells, w, totals[places[w.of]].terms) for w in windows]
        found = joint(self.totals, self.cells, self.parts, sums)
        rows = influences(self.totals, found)
        rows += [{2 * len(totals) + i: np.ones_like(found.values[0])} for i in range(len(windows))]
        pairs = np.array([[_product(one, other, found.covariance) for other in rows] for one in rows])
        return pairs.reshape(*pairs.shape[:2], prod(pairs.shape[2:]))[..., self.lines]

    @once
    def groups(self) -> pa.Table:
        """The columns that lines are told apart by."""
        question, keys = self.totals.question, self.totals.lines[1]
        groups, width, lines = self.cells.groups, self.totals.width, self.cells.width
        columns: dict[str, pa.Array] = {}
        for output in (o for o in question.query.outputs if isinstance(o, Group)):
            public = [i for i, g in enumerate(question.publics) if g.expression == output.expression]
            if public:
                places = np.repeat(np.arange(len(groups)), lines * width)
                columns[output.name] = groups.column(f"g{public[0]}").take(pa.array(places))
                continue
            listed = [i for i, k in enumerate(self.totals.keys) if k.group.expression == output.expression]
            if listed:
                places = np.tile(keys[listed[0]], len(groups) * lines)
                columns[output.name] = self.totals.keys[listed[0]].values.take(pa.array(places))
                continue
            place = next(i for i, a in enumerate(question.grouped) if a.name == output.expression.unnest().name)
            codes = np.unravel_index(np.arange(lines), self.cells.lines)[place]
            places = np.tile(np.repeat(codes, width), len(groups))
            columns[output.name] = question.grouped[place].domain.values.take(pa.array(places))
        return pa.table(columns)

    def notes(self, estimates: Sequence[Estimate]) -> Any:
        """What to know of the lines that are shown."""

        def of_shown(shown: Lines) -> list[str]:
            if self.totals.question.exact or not len(shown):
                return list(self.totals.question.conditions.notes)
            rough = few_rows(self.totals, self.parts, self.lines[shown], [e.take(shown) for e in estimates])
            return [*self.totals.question.conditions.notes, *rough]

        return of_shown


def _whole(rows: Moments) -> Moments:
    return Moments(np.rint(rows.value), rows.variance)


def _cleaned(variance: Tensor, totals: Totals) -> Tensor:
    """A variance that is not negative where values are replaced by others of the same column: what is taken away may be all of it."""
    return np.maximum(variance, 0) if totals.question.published.whole else variance


def _unless(e: Estimate, nobody: npt.NDArray[np.bool_]) -> Estimate:
    unless = np.where(nobody, np.nan, 0.0)
    return Estimate(e.name, e.value + unless, e.se + unless, e.low + unless, e.high + unless, e.method)


Influence = dict[int, Tensor]
"""How much an estimate changes with each of the sums."""


def influences(totals: Totals, sums: Joint) -> list[Influence]:
    """Those of all aggregates, each of which has two sums: of its value, and of the rows that have one."""
    return [_influence(a, place, sums) for place, a in enumerate(totals.question.query.aggregates)]


def _influence(aggregate: Aggregate, place: int, sums: Joint) -> Influence:
    one = np.ones_like(sums.values[0])
    if aggregate.kind == "count":
        return {2 * place + 1: one}
    if aggregate.kind != "avg":
        return {2 * place: one}
    rows = sums.values[2 * place + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return {2 * place: 1 / rows, 2 * place + 1: -sums.values[2 * place] / rows**2}


def _product(one: Influence, other: Influence, covariance: Tensor) -> Tensor:
    parts = [a * b * covariance[i, j] for i, a in one.items() for j, b in other.items()]
    return np.asarray(np.sum(parts, axis=0))
