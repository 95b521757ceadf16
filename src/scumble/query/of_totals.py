"""The answer of published rows to a question about totals: any value, any group, each aggregate with its interval and all with their covariances."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.errors import QueryError
from scumble.engines.engine import Engine
from scumble.query.aggregates.aggregation import LINEAR
from scumble.query.ask import Answer, Lines
from scumble.query.cells import Cells
from scumble.query.compile import Published
from scumble.query.estimates import Estimate, Estimates
from scumble.query.intervals import of_average, of_sum
from scumble.query.joint import Joint, Linear, counted, joint, strata, true_cells, windowed
from scumble.query.model import Aggregate, Group, Query, Window
from scumble.query.moments import Moments, Ratio
from scumble.query.on_domains import hidden
from scumble.query.orders import exact_orders
from scumble.query.possible import Limits, among
from scumble.query.quantiles import quantile
from scumble.query.reconstruct import Reconstruction
from scumble.query.slope import covariances, steepness
from scumble.query.terms import ONE, Tensor, Terms
from scumble.query.totals import Total, Totals, compile_totals

FEW = 10
"""Published rows below which an interval may cover less than it says."""
LAW = 400
"""Lines by values of perturbed columns up to which the law of small counts is inverted."""


def answer_totals(query: Query, published: Published, engine: Engine, level: float) -> Answer:
    """The answer to a question."""
    if query.derived is not None and query.derived.distinct:
        demand_public(query, published)
    totals = compile_totals(query, published, engine)
    cells = Cells.of_lines(totals.question, engine.run(totals.question.statement))
    return Asked(totals, cells, level, exact_orders(totals, cells, engine)).answer()


def demand_public(query: Query, published: Published) -> None:
    """Which values of a perturbed column there are is not published."""
    names = [name for group in query.groups for name in hidden(group.expression, published.domains)]
    names += hidden(query.where, published.domains) if query.where is not None else []
    if names:
        raise QueryError(
            f"SELECT DISTINCT cannot be answered where {names[0]!r} is asked about, which is perturbed: which values there are is not published. "
            f"Its possible values are public (scumble show); ask for COUNT(*) by them"
        )


@dataclass(frozen=True)
class Asked:
    """A question with the sums that it needs."""

    totals: Totals
    cells: Cells
    level: float
    exactly: Mapping[str, Tensor] = field(default_factory=dict)
    """What depends on public columns alone and is more than sums, for each public group."""

    def answer(self) -> Answer:
        """Every aggregate for every line."""
        query = self.totals.question.query
        sums = joint(self.totals, self.cells, self._sums())
        z = NormalDist().inv_cdf(0.5 + self.level / 2)
        estimates = [self._estimate(place, total, sums, z) for place, total in enumerate(self.totals.totals)]
        names = [output.name for output in query.outputs]
        lines = Estimates(names, self._groups(), estimates, self.level, [])
        return Answer(
            lines, self._notes, self._covariance, lambda level: replace(self, level=level).answer(), self._limits
        )

    def _limits(self) -> Limits:
        """Of counts, and of sums and averages of perturbed columns alone."""
        per_group = self.cells.gather(np.ones(self.cells.rest), self.cells.numbers("n")).reshape(-1)
        rows = np.repeat(per_group, self.totals.lines[1].shape[1])
        limits: dict[str, tuple[Tensor, Tensor]] = {}
        for total in self.totals.totals:
            kind, hidden_only = total.aggregate.kind, not {*total.number, *total.present} - {ONE}
            if kind == "count":
                limits[total.aggregate.name] = (np.zeros_like(rows), rows)
            elif kind in ("sum", "avg") and hidden_only and ONE in total.present:
                table, there = np.broadcast_arrays(
                    total.number.get(ONE, np.zeros(())), total.present[ONE] * self.totals.truth
                )
                limits[total.aggregate.name] = among(table[there > 0], rows, average=kind == "avg")
        return limits

    def _sums(self) -> list[Linear]:
        """Of each aggregate the sum of its value, and of the rows that have one."""
        return [Linear(terms) for total in self.totals.totals for terms in (total.number, total.present)]

    def _estimate(self, place: int, total: Total, sums: Joint, z: float) -> Estimate:
        exact, name = self._public(total), total.aggregate.name
        if total.aggregate.kind not in LINEAR:
            return self._of_order(total, z)
        top, rows = (Moments(sums.values[i], sums.covariance[i, i]) for i in (2 * place, 2 * place + 1))
        if exact:  # rows are counted in whole numbers; weights over codes leave a rest of 1e-12
            rows = Moments(np.rint(rows.value), rows.variance)
        if total.aggregate.kind == "avg":
            return of_average(name, Ratio(top, rows, sums.covariance[2 * place, 2 * place + 1]), exact, z)
        terms, moments = (total.present, rows) if total.aggregate.kind == "count" else (total.number, top)
        if total.aggregate.kind == "sum":  # over no rows it is null in SQL, where that is known for certain
            nobody = (rows.value == 0) & (exact | (rows.variance == 0))
            moments = Moments(np.where(nobody, np.nan, top.value), top.variance)
        table = terms.get(ONE) if len(terms) == 1 else None
        if table is None or exact or name not in self.totals.question.query.direct:
            return of_sum(name, moments, exact, z)
        if total.aggregate.kind == "count" and self.totals.lines[1].shape[1] <= LAW:
            return self._count(name, table, z)
        return of_sum(name, self._leaning(moments, table), exact, z)

    def _public(self, total: Total) -> bool:
        """Whether no perturbed column has a say in it."""
        hidden = tuple(range(len(self.totals.grid.axes)))
        tables = [self.totals.truth, *total.number.values(), *total.present.values()]
        return not self.totals.keys and all(np.all(np.ptp(table, axis=hidden) == 0) for table in tables)

    def _of_order(self, total: Total, z: float) -> Estimate:
        """A quantile of perturbed numbers; what is exact was asked of the published table."""
        if total.aggregate.name in self.exactly:
            value = self.exactly[total.aggregate.name]
            return Estimate(total.aggregate.name, value, np.zeros_like(value) + value * 0, value, value, "exact")
        return quantile(total, self.totals, self.cells, z)

    def _count(self, name: str, table: Tensor, z: float) -> Estimate:
        """A count of rows by cell, each line by the law of counts."""
        question, (own, keys) = self.totals.question, self.totals.lines
        parts = [Reconstruction(question, self.cells.of(i), c) for i, c in enumerate(question.published.strata)]
        estimates = []
        for line in range(keys.shape[1]):
            for part in parts:
                part.truth = np.broadcast_to((own == line) & (self.totals.truth > 0) & (table > 0), own.shape)
            count = sum((part.count() for part in parts[1:]), start=parts[0].count())
            draws = parts[0].draws() if len(parts) == 1 else None
            estimates.append(of_sum(name, count, False, z, alike=not question.published.weighted, draws=draws))
        return _by_line(estimates)

    def _leaning(self, moments: Moments, table: Tensor) -> Moments:
        """A sum with how its variance follows it, where one channel and few lines make that known."""
        _, keys = self.totals.lines
        parts = list(strata(self.totals, self.cells))
        if len(parts) > 1 or keys.shape[1] > 1 or self.totals.question.published.weighted:
            return moments
        (part,) = parts
        truth = np.broadcast_to(table * self.totals.truth, true_cells(self.totals.question))
        k, u = covariances(truth, part.rest_weights, part.rest_expectation)
        sums = self.cells.gather(part.rest_weights(k), self.cells.numbers("n")).reshape(moments.value.shape)
        return moments.leaning(steepness(sums, moments.variance, k, u))

    def _covariance(self, windows: Sequence[Window]) -> npt.NDArray[np.float64]:
        """That of all aggregates, and then of sums of them over lines."""
        query = self.totals.question.query
        places = {a.name: place for place, a in enumerate(query.aggregates)}
        over = [windowed(self.totals, self.cells, w, self._terms(places[w.of])) for w in windows]
        sums = joint(self.totals, self.cells, [*self._sums(), *over])
        rows = [_influence(a, place, sums) for place, a in enumerate(query.aggregates)]
        rows += [{2 * len(query.aggregates) + i: np.ones_like(sums.values[0])} for i in range(len(over))]
        pairs = [[_product(one, other, sums.covariance) for other in rows] for one in rows]
        return np.array(pairs).reshape(len(rows), len(rows), -1)

    def _terms(self, place: int) -> Terms:
        total = self.totals.totals[place]
        return total.present if total.aggregate.kind == "count" else total.number

    def _groups(self) -> pa.Table:
        """The columns that lines are told apart by."""
        question, (_, keys) = self.totals.question, self.totals.lines
        groups, width, columns = self.cells.groups, keys.shape[1], dict[str, pa.Array]()
        for output in question.query.outputs:
            if not isinstance(output, Group):
                continue
            public = [i for i, g in enumerate(question.publics) if g.expression == output.expression]
            if public:
                places = np.repeat(np.arange(len(groups)), width)
                columns[output.name] = groups.column(f"g{public[0]}").take(pa.array(places))
                continue
            key = next(i for i, k in enumerate(self.totals.keys) if k.group.expression == output.expression)
            columns[output.name] = self.totals.keys[key].values.take(pa.array(np.tile(keys[key], len(groups))))
        return pa.table(columns)

    def _notes(self, shown: Lines) -> list[str]:
        """What to know of the lines that are shown."""
        notes = list(self.totals.question.conditions.notes)
        if self.totals.question.exact or not len(shown):
            return notes
        few = np.flatnonzero(self._matching()[shown] < FEW)
        if len(few):
            where = f"in {len(few)} of {len(shown)} rows" if len(shown) > 1 else "here"
            notes.append(f"fewer than {FEW} published rows match {where}; read the interval as a rough one")
        return notes

    def _matching(self) -> Tensor:
        """Published rows that look as if they belonged to a line."""
        some = np.arange(self.totals.lines[1].shape[1])
        tables = Linear({ONE: np.ones((1,) * self.totals.grid.rank)}).table(self.totals, some)
        shape = (*true_cells(self.totals.question), len(some))
        rows = [
            counted(part, part.looks(np.broadcast_to(tables["n"], shape).astype(np.float64)))
            for part in strata(self.totals, self.cells)
        ]
        return np.asarray(np.sum(rows, axis=0)).reshape(-1)


def _by_line(estimates: Sequence[Estimate]) -> Estimate:
    """Lines of each public group side by side."""
    first = estimates[0]
    value, se, low, high = (
        np.stack([getattr(e, part) for e in estimates], axis=1).reshape(-1) for part in ("value", "se", "low", "high")
    )
    return Estimate(first.name, value, se, low, high, first.method)


Influence = dict[int, Tensor]
"""How much an estimate changes with each of the sums."""


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
