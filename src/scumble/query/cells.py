"""What a statement gave, as sums by public group, published values of grouped columns, and cells of the others."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.channel_base import BaseChannel, Vector
from scumble.core.errors import QueryError
from scumble.engines.engine import Engine
from scumble.query.compile import LEAST, MOST, Question
from scumble.query.normalize import Perturbed
from scumble.query.packing import fields, unpacked

Tensor = npt.NDArray[np.float64]
MOST_ROWS = 2_000_000
"""Rows of an answer, at most."""
MOST_STATES = 20_000_000
"""Cells of a dense table, at most."""


class Cells:
    """Lines of sums; each line belongs to a row of the answer, to a cell of the other axes, and to a stratum."""

    def __init__(
        self,
        question: Question,
        groups: pa.Table,
        row: npt.NDArray[np.intp],
        cell: npt.NDArray[np.intp],
        sums: dict[str, Vector],
        stratum: npt.NDArray[np.intp] | None = None,
        sampled: Vector | None = None,
        ranges: Mapping[str, tuple[Tensor, Tensor]] | None = None,
    ) -> None:
        self.question = question
        self._as_asked(question.seen)
        self.lines = tuple(axis.domain.size for axis in question.grouped)
        """The values of the grouped perturbed columns: a row of the answer for each combination, in each public group."""
        self.width = int(np.prod(self.lines, dtype=np.int64))
        self.groups = groups
        rows = len(self.groups) * max(self.width, int(np.prod(self.shape, dtype=np.int64)))
        if rows > MOST_ROWS:
            raise QueryError(f"the answer would have {rows:,} rows; group by less, or narrow it with WHERE")
        self._row, self._cell, self._sums, self._stratum = row, cell, sums, stratum
        self._of: int | None = None
        self.sampled = sampled
        """1 for the lines of sampled rows, 0 for the others; absent where nothing was sampled."""
        self.ranges = ranges or {}
        """The least and the most of public numbers, by public group and truth values of public conditions; no number is above what is infinite."""

    def _as_asked(self, seen: Callable[[Perturbed], Perturbed]) -> None:
        """The shape of lines whose perturbed columns are seen so: by values, or by codes."""
        self.shape = _shape(self.question, seen)
        """The published values of the grouped columns."""
        self.rest = _rest(self.question, seen)
        """The published cells of the others, and the truth values of public conditions."""

    @classmethod
    def fetched(cls, question: Question, engine: Engine) -> "Cells":
        """What an engine gives for a question: the counts of cells where that is all, else the lines of its statement."""
        axes = question.axes
        counts = engine.tally(axes) if axes is not None else None
        if counts is not None:
            return cls.of_counts(question, counts)
        return cls.of_lines(question, engine.run(question.statement))

    @classmethod
    def of_lines(cls, question: Question, lines: pa.Table) -> "Cells":
        """The lines that the statement of a question gave."""
        groups, group = public_groups(lines, len(question.publics))
        shape, rest = _shape(question, question.seen), _rest(question, question.seen)
        cell = _cell_index(question, lines, rest)
        atoms = _atoms(question)
        return cls(
            question,
            groups,
            group * int(np.prod(shape, dtype=np.int64)) + _grouped_index(question, lines, shape),
            cell,
            {name: _numbers(lines, name) for name in lines.schema.names if name[0] in "nv"},
            _column(lines, "z").to_numpy(zero_copy_only=False) if "z" in lines.schema.names else None,
            _column(lines, "w").to_numpy(zero_copy_only=False).astype(np.float64)
            if "w" in lines.schema.names
            else None,
            _ranges(lines, group * atoms + cell % atoms, (len(groups), atoms)),
        )

    @classmethod
    def of_counts(cls, question: Question, counts: npt.NDArray[np.int64]) -> "Cells":
        """A line for each combination of cells of the question's axes, in their order."""
        shapes = _shape(question, question.seen), _rest(question, question.seen)
        width, states = (int(np.prod(shape, dtype=np.int64)) for shape in shapes)
        places = np.arange(len(counts))
        stratum = places // (width * states) if len(counts) > width * states else None
        sums = {"n": counts.astype(np.float64)}
        return cls(question, _no_groups(), places // states % width, places % states, sums, stratum)

    def of(self, stratum: int) -> "Cells":
        """The lines of one stratum; the others count nothing."""
        if self._stratum is None:
            return self
        part = copy(self)
        part._of = stratum
        return part

    def some(self, groups: slice) -> "Cells":
        """The lines of some public groups, one after the other; ranges are left out."""
        width = int(np.prod(self.shape, dtype=np.int64))
        start, stop = groups.start * width, groups.stop * width
        here = np.flatnonzero((self._row >= start) & (self._row < stop))
        part = copy(self)
        part.groups, part.ranges = self.groups.slice(groups.start, groups.stop - groups.start), {}
        part._row, part._cell = self._row[here] - start, self._cell[here]
        part._sums = {name: sums[here] for name, sums in self._sums.items()}
        part._stratum = None if self._stratum is None else self._stratum[here]
        part.sampled = None if self.sampled is None else self.sampled[here]
        return part

    @property
    def names(self) -> list[str]:
        """Those of all sums."""
        return list(self._sums)

    def numbers(self, name: str, order: int = 1) -> Vector:
        """A column of sums, of first, second or third order in the weights of rows; where rows have none all are the same."""
        return self._sums[f"{name}{order}"] if f"{name}{order}" in self._sums else self._sums[name]

    def gather(self, weights: Tensor, sums: Vector) -> Tensor:
        """Sums over all lines of one row of the answer, each times the weight of its cells."""
        weighted = weights.reshape(-1)[self._cell] * sums
        if self._of is not None and self._stratum is not None:
            weighted = weighted * (self._stratum == self._of)
        seen = len(self.groups) * int(np.prod(self.shape, dtype=np.int64))
        total = np.bincount(self._row, weights=weighted, minlength=seen).astype(np.float64)
        return total.reshape(len(self.groups), *self.shape)

    def by_condition(self, sums: Vector) -> Tensor:
        """Sums over all rows of a public group that have the same truth values of public conditions, whatever is published of them."""
        if self._of is not None and self._stratum is not None:
            sums = sums * (self._stratum == self._of)
        atoms, width = _atoms(self.question), int(np.prod(self.shape, dtype=np.int64))
        places = self._row // width * atoms + self._cell % atoms
        total = np.bincount(places, weights=sums, minlength=len(self.groups) * atoms)
        return total.astype(np.float64).reshape(len(self.groups), atoms)

    def dense(self, sums: Vector) -> Tensor:
        """The sums as a table: public groups, grouped columns, cells of the others, truth values of public conditions."""
        states = int(np.prod(self.rest, dtype=np.int64))
        size = len(self.groups) * int(np.prod(self.shape, dtype=np.int64)) * states
        if size > MOST_STATES:
            raise QueryError(
                f"the table of states would have {size:,} cells; ask about fewer columns or groups at once"
            )
        if self._of is not None and self._stratum is not None:
            sums = sums * (self._stratum == self._of)
        table = np.bincount(self._row * states + self._cell, weights=sums, minlength=size).astype(np.float64)
        return table.reshape(len(self.groups), *self.shape, *self.rest)

    def published(self, channels: Mapping[str, BaseChannel], shares: Mapping[str, Vector] | None = None) -> "Cells":
        """The lines to be expected after publication, where these are those of the true values.

        shares   the part of the rows of each value of a column that goes through these channels; all of them when absent
        """
        if self.sampled is None:
            return self._pushed(channels, shares, np.ones(len(self._row)))
        whole, sampled = (self._pushed(channels, shares, flag) for flag in (1 - self.sampled, self.sampled))
        both = whole._beside([sampled])
        both.sampled = np.repeat([0.0, 1.0], len(whole._row))
        return both

    def _pushed(
        self, channels: Mapping[str, BaseChannel], shares: Mapping[str, Vector] | None, some: Vector
    ) -> "Cells":
        """The lines to be expected of some of these."""
        axes = [*self.question.grouped, *self.question.others]
        through = [channels[axis.name].collapse(axis.cells, axis.count) for axis in axes]
        part = [_by_cell(axis, (shares or {}).get(axis.name)) for axis in axes]
        expected = copy(self)
        expected._sums = {
            name: _pushed(_taken(self.dense(sums * some), part), through).reshape(-1)
            for name, sums in self._sums.items()
        }
        expected._as_asked(lambda axis: axis.shown)
        states = int(np.prod(expected.rest, dtype=np.int64))
        places = np.arange(len(self.groups) * int(np.prod(expected.shape, dtype=np.int64)) * states)
        expected._row, expected._cell = places // states, places % states
        return expected

    def dealt(self, strata: Sequence[Mapping[str, BaseChannel]], shares: Sequence[Mapping[str, Vector]]) -> "Cells":
        """The same for rows that are dealt into strata: `shares` has the part of each value's rows that each stratum gets."""
        parts = [self.published(channels, share) for channels, share in zip(strata, shares, strict=True)]
        whole = parts[0]._beside(parts[1:])
        whole._stratum = np.repeat(np.arange(len(parts)), [len(part._row) for part in parts])
        return whole

    def _beside(self, others: Sequence["Cells"]) -> "Cells":
        """These lines and others of the same question."""
        parts, whole = [self, *others], copy(self)
        whole._row = np.concatenate([part._row for part in parts])
        whole._cell = np.concatenate([part._cell for part in parts])
        whole._sums = {name: np.concatenate([part._sums[name] for part in parts]) for name in self._sums}
        return whole


Seen = Callable[[Perturbed], Perturbed]
"""A perturbed column as some rows have it."""


def _shape(question: Question, seen: Seen) -> tuple[int, ...]:
    """The values, or codes, of the grouped perturbed columns; each is a cell."""
    return tuple(seen(axis).count for axis in question.grouped)


def _rest(question: Question, seen: Seen) -> tuple[int, ...]:
    """The cells of the other perturbed columns, and the truth values of public conditions."""
    return tuple(seen(axis).count for axis in question.others) + (3,) * len(question.conditions.public_atoms)


def _atoms(question: Question) -> int:
    """The combinations of truth values of public conditions, which are the last of the cells."""
    return int(3 ** len(question.conditions.public_atoms))


def _ranges(lines: pa.Table, places: npt.NDArray[np.intp], shape: tuple[int, int]) -> dict[str, tuple[Tensor, Tensor]]:
    """The least and the most of public numbers; of none, nothing is below what is infinite."""
    ranges: dict[str, tuple[Tensor, Tensor]] = {}
    first = LEAST.format("")
    for name in (n.removeprefix(first) for n in lines.schema.names if n.startswith(first)):
        least, most = np.full(shape, np.inf), np.full(shape, -np.inf)
        for end, ends, further in ((least, LEAST, np.fmin), (most, MOST, np.fmax)):
            numbers = _column(lines, ends.format(name)).cast(pa.float64()).fill_null(np.nan)
            further.at(end.reshape(-1), places, numbers.to_numpy(zero_copy_only=False))
        ranges[name] = (least, most)
    return ranges


def _no_groups() -> pa.Table:
    """One group, of all rows."""
    return pa.table({"all": [True]})


def _by_cell(axis: Perturbed, shares: Vector | None) -> Vector:
    """A number for each value as one for each cell; cells of one value each."""
    by_cell = np.ones(axis.count)
    if shares is not None:
        by_cell[axis.cells] = shares
    return by_cell


def _taken(table: Tensor, parts: list[Vector]) -> Tensor:
    for place, part in enumerate(parts, start=1):
        table = table * part.reshape(-1, *(1,) * (table.ndim - place - 1))
    return table


def _pushed(table: Tensor, channels: list[BaseChannel]) -> Tensor:
    for place, channel in enumerate(channels, start=1):
        table = np.moveaxis(channel.apply(np.moveaxis(table, place, 0)), 0, place)
    return table


def _column(lines: pa.Table, name: str) -> pa.Array:
    return lines.column(name).combine_chunks()


def beyond(name: str) -> QueryError:
    """The refusal of a sum that is no number."""
    return QueryError(
        f"{name!r} adds up values that are infinite, no numbers (NaN) or too large to be squared; leave them out in WHERE"
    )


def _numbers(lines: pa.Table, name: str) -> Vector:
    """A sum over nothing is 0."""
    return np.asarray(_column(lines, name).cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False))


def _grouped_index(question: Question, lines: pa.Table, shape: tuple[int, ...]) -> npt.NDArray[np.intp]:
    asked = [question.seen(axis) for axis in question.grouped]
    codes = [axis.domain.encode(_column(lines, f"y{i}"), axis.name) for i, axis in enumerate(asked)]
    return np.ravel_multi_index(codes, shape) if codes else np.zeros(lines.num_rows, dtype=np.intp)


def _cell_index(question: Question, lines: pa.Table, rest: tuple[int, ...]) -> npt.NDArray[np.intp]:
    if not rest:
        return np.zeros(lines.num_rows, dtype=np.intp)
    numbers = (
        _column(lines, "c").to_numpy(zero_copy_only=False) if "c" in lines.schema.names else np.zeros(lines.num_rows)
    )
    others = [question.seen(axis) for axis in question.others]
    parts = [unpacked(numbers, *field) for field in fields(others, len(question.conditions.public_atoms))]
    for i, axis in enumerate(others):
        if axis.raw:
            parts[i] = axis.cells[axis.domain.encode(_column(lines, f"c{i}"), axis.name)]
    return np.ravel_multi_index(parts, rest)


def public_groups(lines: pa.Table, count: int) -> tuple[pa.Table, npt.NDArray[np.intp]]:
    """The distinct public groups, sorted, and which of them each line belongs to."""
    if count == 0:
        return _no_groups(), np.zeros(lines.num_rows, dtype=np.intp)
    keys = lines.select([f"g{i}" for i in range(count)])
    codes = np.zeros(lines.num_rows, dtype=np.int64)
    for column in keys.columns:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        codes = codes * max(1, len(encoded.dictionary)) + encoded.indices.to_numpy(zero_copy_only=False)
        _, codes = np.unique(codes, return_inverse=True)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    groups = keys.take(pa.array(first))
    order = pc.sort_indices(groups, sort_keys=[(name, "ascending") for name in groups.schema.names])
    place = np.empty(len(first), dtype=np.intp)
    place[order.to_numpy()] = np.arange(len(first))
    return groups.take(order), place[inverse]
