"""A question by the constrained maximum likelihood: estimates that are never negative and agree with each other.

For each public group the published rows are a table of states, one dimension for each perturbed column that the aggregate is about. Its likeliest true
table x is found (query/likelihood.py), and a sum of f over rows is sum of f x; of a public number u it is found from the table of sums of u in the same way,
as if they were counts, which needs u >= 0. Sub-tables, and public conditions among perturbed ones, make several tables, which are added.

Each aggregate has its own columns, cut into the cells that it needs: what stands beside it in the question makes no difference. The interval is that of
the unbiased answer, whose law is known, wide enough to hold the estimate: the likelihood has no law of its own near the border of the possible.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.channel_base import BaseChannel
from scumble.core.errors import QueryError
from scumble.core.stopping import look
from scumble.engines.engine import Engine
from scumble.query.aggregates.aggregation import LINEAR
from scumble.query.cells import Cells
from scumble.query.estimates import Estimate, Estimates
from scumble.query.form_answer import Answer, Lines
from scumble.query.likelihood import Likelihood, maximize
from scumble.query.model import Aggregate, sql_of
from scumble.query.possible import cut_to
from scumble.query.scanned import Scanned
from scumble.query.stratum import Stratum
from scumble.query.terms import Factor, Terms
from scumble.query.totals import compile_totals

Tensor = npt.NDArray[np.float64]


def likely(asked: Scanned, engine: Engine, level: float) -> Answer:
    """The answer by the likelihood."""
    query = asked.totals.question.query
    if query.derived is not None or any(a.kind not in LINEAR for a in query.aggregates):
        raise QueryError(
            "the likelihood answers COUNT, SUM and AVG, by any groups, and not what is made of several; ask with method unbiased"
        )
    fits = [_own(asked, a, engine) for a in query.aggregates]
    values = [fit.value(a) for fit, a in zip(fits, query.aggregates, strict=True)]

    def at(level: float) -> Answer:
        form = asked.answer(level)
        plain = cut_to(form.estimates, form.limits())
        kept = [_held(e, value) for e, value in zip(plain.estimates, values, strict=True)]
        answer = Estimates(plain.columns, plain.groups, kept, level, plain.notes)
        return replace(form, estimates=answer, notes=_notes(form, fits), at=at)

    return at(level)


def _held(plain: Estimate, value: Tensor) -> Estimate:
    """The interval of the unbiased answer, wide enough for the value; what is surely nobody stays null."""
    value = np.where(np.isnan(plain.value) & np.isnan(plain.low), np.nan, value)
    low, high = np.fmin(plain.low, value), np.fmax(plain.high, value)
    return replace(plain, value=value, low=low, high=high, method=plain.method if plain.exact else "likelihood")


def _own(asked: Scanned, aggregate: Aggregate, engine: Engine) -> "Fit":
    """The question with one aggregate alone, and its table of states."""
    question = asked.totals.question
    outputs = [o for o in question.query.outputs if not isinstance(o, Aggregate) or o.name == aggregate.name]
    alone = replace(question.query, outputs=outputs)
    totals = compile_totals(alone, question.published, engine, summing=False)
    return Fit(Scanned(totals, Cells.fetched(totals.question, engine)))


def _notes(form: Answer, fits: "Sequence[Fit]") -> Callable[[Lines], list[str]]:
    fitted = [likelihood for fit in fits for likelihood in fit.likelihoods]
    ways = ", ".join(f"{count} by {way}" for way, count in Counter(likelihood.method for likelihood in fitted).items())
    gap = max((likelihood.gap for likelihood in fitted), default=0.0)
    note = f"likelihood: {len(fitted)} tables of states ({ways or 'none'}), at most {gap:.1e} of log-likelihood from the best"
    if not all(likelihood.converged for likelihood in fitted):
        note += "; NOT converged everywhere"
    biased = (
        "never negative, and for that biased toward the middle where few rows have a value; "
        "intervals are those of the unbiased answer, widened to hold the estimate"
    )
    return lambda shown: [*form.notes(shown), note, biased]


@dataclass
class Fit:
    """The likeliest tables of states of one aggregate, and how they were found."""

    asked: Scanned
    likelihoods: list[Likelihood] = field(default_factory=list)
    _known: dict[Factor, Tensor] = field(default_factory=dict)

    def value(self, aggregate: Aggregate) -> Tensor:
        """The estimate of the aggregate, for the lines of the answer."""
        (total,) = self.asked.totals.totals
        rows = self._sum(total.present)
        if aggregate.kind == "count":
            return rows
        top = self._sum(total.number)
        if aggregate.kind == "sum":
            return top
        return np.asarray(np.divide(top, rows, out=np.full(rows.shape, np.nan), where=rows > 0))

    def _sum(self, terms: Terms) -> Tensor:
        """A sum over rows, for the lines of the answer."""
        totals, lines = self.asked.totals, self.asked.lines
        found = []
        for key in range(totals.width):
            parts = [self._true(factor) * totals.of_key(table, key) for factor, table in terms.items()]
            behind = tuple(range(1 + totals.ahead, 1 + totals.grid.rank))
            found.append(np.asarray(np.sum([part.sum(axis=behind) for part in parts], axis=0)))
        return np.stack(found, axis=-1).reshape(-1)[lines]

    def _true(self, factor: Factor) -> Tensor:
        """The likeliest sums of a public factor by true cell: public groups, grouped columns, others, public conditions; of all strata."""
        if factor not in self._known:
            name = self.asked.totals.factors.names[factor]
            if np.any(self.asked.cells.numbers(name) < 0):
                asked = " * ".join(sql_of(number) for number in factor.numbers)
                raise QueryError(
                    f"{asked} has negative values, which the likelihood cannot sum; ask with method unbiased"
                )
            self._known[factor] = np.sum([self._fitted(part, name) for part in self.asked.parts], axis=0)
        return self._known[factor]

    def _fitted(self, part: Stratum, name: str) -> Tensor:
        table = part.cells.dense(part.cells.numbers(name))
        states = States(part)
        true = np.zeros((len(table), *states.behind, *table.shape[1 + states.axes :]))
        for place in _places(table, states.axes):
            look()
            total = float(table[place].sum())
            if total > 0:
                scale = table[place].size if total < 1 else 1.0
                best = maximize(states.by_block(table[place]) * scale, states.channels)
                true[place] = states.by_column(best.counts * (total / best.counts.sum()))
                self.likelihoods.append(best)
        return true


@dataclass(frozen=True)
class States:
    """The columns of a table of states, in blocks that go through one channel each."""

    part: Stratum

    @property
    def axes(self) -> int:
        """How many columns there are."""
        return len(self.part.question.grouped) + len(self.part.question.others)

    @property
    def behind(self) -> tuple[int, ...]:
        """The true cells of the columns."""
        return tuple(axis.count for axis in [*self.part.question.grouped, *self.part.question.others])

    @property
    def _blocks(self) -> list[tuple[tuple[int, ...], BaseChannel]]:
        ahead = len(self.part.question.grouped)
        others = [(tuple(p + ahead for p in block.places), block.channel) for block in self.part.blocks]
        return [*((block.places, block.channel) for block in self.part.listed), *others]

    @property
    def channels(self) -> list[BaseChannel]:
        """One for each block."""
        return [channel for _, channel in self._blocks]

    @property
    def _order(self) -> list[int]:
        return [place for places, _ in self._blocks for place in places]

    def by_block(self, table: Tensor) -> Tensor:
        """A table of published states with one dimension for each block."""
        return np.transpose(table, self._order).reshape([channel.codes for channel in self.channels])

    def by_column(self, counts: Tensor) -> Tensor:
        """A table of true states with one dimension for each column."""
        apart = counts.reshape([self.behind[place] for place in self._order])
        return np.transpose(apart, np.argsort(self._order))


def _places(table: Tensor, axes: int) -> Iterator[tuple[Any, ...]]:
    """The tables of states: one for each public group and each combination of truth values of public conditions."""
    for group in range(len(table)):
        for atoms in np.ndindex(table.shape[1 + axes :]):
            yield (group, *(slice(None),) * axes, *atoms)
