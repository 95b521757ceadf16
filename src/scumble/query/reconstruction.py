"""The true rows behind published ones, counted by what a question groups them by; and the covariance of whatever is added up over them.

A row with public values g and true values of perturbed columns x adds s(g, x) to a sum. With phi the weights of a published row (query/stratum.py),

    sum over rows of s          is estimated by the sum over published rows of phi[s] = sum over g, x of T(g, x) s(g, x)
    Cov                         is estimated by the sum over published rows of (phi[s] phi[s]' - phi[s s'])

T(g, x) are the estimated counts: some are negative, and all sums of them are unbiased. Here s may be any function of both, where a total of
query/totals.py is a sum of products of a public number and a table over the cells. Public groups are taken some at a time, which bounds the memory.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.channel import replacement_of
from scumble.core.errors import QueryError
from scumble.core.once import once
from scumble.engines.engine import Engine
from scumble.query import own
from scumble.query.cells import Cells
from scumble.query.code_lists import Tables
from scumble.query.compared import question_of
from scumble.query.compile import Published
from scumble.query.joint import strata
from scumble.query.model import BESIDE, Query
from scumble.query.rewrites import Recoding, rewritten
from scumble.query.stratum import Stratum
from scumble.query.totals import Totals, compile_totals

Tensor = npt.NDArray[np.float64]
Scores = Callable[[slice], Tensor]
"""s for some public groups: groups, keys, and the sums that it belongs to."""

AT_ONCE = 4_000_000
"""Numbers that are weighted together."""
MOST_COUNTS = 20_000_000
"""Counts of public groups by combinations of perturbed values, at most."""
MOST_CELLS = 2_000_000
"""Combinations of perturbed values, at most."""


@dataclass(frozen=True)
class Reconstruction:
    """A question that counts rows by public and perturbed groups, with what the published rows tell of them.

    Public groups stand along the first dimension, combinations of perturbed ones (keys) along the second.
    """

    totals: Totals
    cells: Cells
    notes: list[str] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, int]:
        """Public groups, and keys."""
        return len(self.cells.groups), self.totals.width

    @once
    def parts(self) -> list[Stratum]:
        """The rows of each stratum."""
        return strata(self.totals, self.cells)

    def values(self, name: str) -> tuple[pa.Array, bool]:
        """What a group is called like that has, for each public group or for each key; and whether it is public."""
        question = self.totals.question
        group = next(group for group in question.query.groups if group.name == name)
        for place, public in enumerate(question.publics):
            if public.expression == group.expression:
                return self.cells.groups.column(f"g{place}").combine_chunks(), True
        place = next(i for i, key in enumerate(self.totals.keys) if key.group.expression == group.expression)
        return self.totals.keys[place].values.take(pa.array(self.totals.lines[1][place])), False

    def same(self, other: "Reconstruction") -> bool:
        """Whether another question counts the same rows in the same groups."""
        return (
            self.shape == other.shape
            and self.cells.groups.equals(other.cells.groups)
            and np.array_equal(self.counts(), other.counts())
        )

    @once
    def _keys(self) -> npt.NDArray[np.intp]:
        """The key of each combination of cells; that after the last one where the WHERE does not hold."""
        numbers = np.broadcast_to(self.totals.lines[0], self.parts[0].true_cells)
        holds = np.broadcast_to(self.totals.truth > 0, numbers.shape)
        return np.where(holds & (numbers >= 0), numbers, self.totals.width).reshape(-1)

    def counts(self, order: int = 1, *, sampled: bool = False) -> Tensor:
        """T: the estimated rows, of some order in their weights; or of those that were sampled."""
        counts = np.zeros(self.shape)
        for some in self._chunks(1):
            for place, part in enumerate(self.parts):
                table = self._published(some, place, order, sampled)
                for block in part.blocks:
                    if block.channel.size > 1:
                        table = block.along(table, block.channel.solve, 1)
                counts[some] += self._by_key(table.reshape(len(table), -1))
        return counts

    def covariance(self, scores: Scores, columns: int) -> Tensor:
        """That of sums of s over all rows, by coins, and by lots where rows were sampled."""
        total = np.zeros((columns, columns))
        second = self._second
        for some in self._chunks(columns):
            s = scores(some)
            for place, part in enumerate(self.parts):
                total += _squares(self._weights(part, s), self._published(some, place, 2))
            total -= np.einsum("gk,gki,gkj->ij", second[some], s, s, optimize=True)
        published = self.totals.question.published
        if published.whole and not self.totals.question.exact:
            total += self._replaced(scores, columns)
        return (total + total.T) / 2

    @once
    def _second(self) -> Tensor:
        """The rows of second order; what sampling adds is at most the part that sampled ones have in them."""
        counts = self.counts(2)
        return counts if self.cells.sampled is None else counts - self.counts(2, sampled=True)

    def _replaced(self, scores: Scores, columns: int) -> Tensor:
        """What is added where coins draw from the column itself (query/own.py)."""
        (part,), total = self.parts, np.zeros((columns, columns))
        for place, axis in enumerate(part.question.others):
            sums = np.zeros((3, axis.count, columns))
            for some in self._chunks(columns):
                sums += self._by_value(part, place, some, scores(some))
            channel = replacement_of(axis.collapsed(part.channels[axis.name]))
            one, other = (own.Asked(channel, *np.expand_dims(sums, last)) for last in (-1, -2))
            total += own.of_column(one, other, part.question.published)
        return total

    def _by_value(self, part: Stratum, place: int, some: slice, s: Tensor) -> Tensor:
        """D, and the parts of the sums by published and by true value, of a column."""
        rows, axes = self._published(some, 0, 1), [i for i in range(len(part.true_cells)) if i != place]

        def added(weights: Tensor, counts: Tensor) -> Tensor:
            return np.asarray((weights * counts).sum(axis=(*axes, len(part.true_cells))))

        f = self._on_cells(s)
        rows = np.moveaxis(rows, 0, -1)[..., None]
        seen = added(self._split(part.weights(f), s), rows)
        as_if = added(self._split(part.weights(f, skip=place), s), rows.sum(axis=place, keepdims=True))
        true = [added(self._split(part.weights(f * cell), s), rows).sum(axis=0) for cell in _cells(part, place)]
        return np.stack([as_if, seen, np.stack(true)])

    def _chunks(self, columns: int) -> Iterator[slice]:
        step = max(1, AT_ONCE // max(1, max(prod(self.cells.rest), len(self._keys)) * columns))
        for start in range(0, self.shape[0], step):
            yield slice(start, min(start + step, self.shape[0]))

    def _published(self, some: slice, stratum: int, order: int, sampled: bool = False) -> Tensor:
        """The published rows of some public groups, by cell."""
        cells = self.cells.some(some).of(stratum)
        rows = cells.numbers("n", order)
        return cells.dense(rows * cells.sampled if sampled and cells.sampled is not None else rows)

    def _by_key(self, table: Tensor) -> Tensor:
        """Sums of numbers by cell over the cells of each key."""
        width = self.totals.width + 1
        places = np.arange(len(table))[:, None] * width + self._keys
        sums = np.bincount(places.reshape(-1), weights=table.reshape(-1), minlength=len(table) * width)
        return np.asarray(sums.reshape(len(table), width)[:, :-1], dtype=np.float64)

    def _on_cells(self, s: Tensor) -> Tensor:
        """s by cell: cells, then public groups and sums together."""
        held = np.concatenate([s, np.zeros((len(s), 1, s.shape[2]))], axis=1)[:, self._keys]
        return np.moveaxis(held, 0, 1).reshape(*self.parts[0].true_cells, -1)

    @staticmethod
    def _split(weights: Tensor, s: Tensor) -> Tensor:
        return weights.reshape(*weights.shape[:-1], len(s), s.shape[2])

    def _weights(self, part: Stratum, s: Tensor) -> Tensor:
        """phi[s]: public groups, published cells, sums."""
        weights = self._split(part.weights(self._on_cells(s)), s)
        return np.moveaxis(weights.reshape(-1, len(s), s.shape[2]), 1, 0)


def _squares(weights: Tensor, rows: Tensor) -> Tensor:
    """The sum of phi phi' over published rows."""
    flat = weights.reshape(-1, weights.shape[2])
    return np.asarray((flat * rows.reshape(-1, 1)).T @ flat)


def _cells(part: Stratum, place: int) -> Tensor:
    """The indicator of each cell of a column, over all cells."""
    count, rank = part.question.others[place].count, len(part.true_cells) + 1
    return np.eye(count).reshape(count, *(-1 if i == place else 1 for i in range(rank)))


def reconstruct(
    sql: str,
    columns: Sequence[str],
    recoding: Recoding,
    published: Published,
    engine: Engine,
    beside: Sequence[str] = BESIDE,
    name: str = "",
    tables: Tables | None = None,
) -> Reconstruction:
    """What published rows tell of SELECT groups, COUNT(*) FROM release WHERE ... GROUP BY groups. The arguments are those of query/ask.py."""
    query = question_of(sql, columns, beside, name, tables)
    asked = rewritten(query, recoding)
    whole, *others = (_counted(each, published, engine) for each in (asked.query, *asked.variants))
    if any(not whole.same(other) for other in others):
        raise QueryError(
            "which rows are asked about is not known, because a condition falls inside a step or a value was published with others; choose a bound between steps"
        )
    whole.notes.extend([*asked.notes, *whole.totals.question.conditions.notes])
    return whole


def _counted(query: Query, published: Published, engine: Engine) -> Reconstruction:
    totals = compile_totals(query, published, engine, summing=False, keyed=True)
    _demand_few(totals)
    whole = Reconstruction(totals, Cells.fetched(totals.question, engine))
    if prod(whole.shape) > MOST_COUNTS:
        raise QueryError(
            f"the public columns have {whole.shape[0]:,} combinations of values and the perturbed ones {whole.shape[1]:,}, "
            f"more than {MOST_COUNTS:,} together; round public numbers, or put values together by CASE"
        )
    return whole


def _demand_few(totals: Totals) -> None:
    axes = totals.grid.axes
    if prod(axis.count for axis in axes) > MOST_CELLS:
        sizes = ", ".join(f"{axis.name} {axis.count:,}" for axis in axes)
        raise QueryError(
            f"the perturbed columns have too many values together ({sizes}; {MOST_CELLS:,} combinations are the most); "
            "leave one out, or put values together by CASE"
        )
