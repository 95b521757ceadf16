"""Raw batches into narrow columns: text as codes, public columns coarsened, sensitive ones perturbed.

Text that repeats itself travels as integers and gets its words back when it is written, in sorted order: the order in which
values first came up would tell something of the order of the rows. For the same reason whether text is written by a dictionary is decided
when all rows are there, whatever form it travelled in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import decoded, in_calendar, is_text, one_zero, published_type
from scumble.core.domain import Domain
from scumble.core.errors import SchemaError
from scumble.sources.source import Source
from scumble.spec.coarsening import coarsen
from scumble.spec.spec import ColumnSpec, Spec

REPETITIVE = 4
"""Text is coded when each value stands in this many rows or more on average: on the way by the first batch, in files by rows of all."""

FEW = 64
"""So few rows are coded anyway."""


def repetitive(values: int, rows: int) -> bool:
    """Whether a dictionary is worth it."""
    return values * REPETITIVE <= rows or rows <= FEW


def used_places(column: pa.DictionaryArray) -> npt.NDArray[np.intp]:
    """Which entries of its dictionary a column has rows of: a filtered frame keeps the words of those who were filtered out."""
    places = column.indices.drop_null().to_numpy(zero_copy_only=False)
    return np.flatnonzero(np.bincount(places, minlength=len(column.dictionary)))


def sorted_dictionary(column: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same values, the dictionary in order.

    >>> sorted_dictionary(pa.array(["b", "a", "b"]).dictionary_encode()).indices.to_pylist()
    [1, 0, 1]
    """
    order = pc.array_sort_indices(column.dictionary)
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(ranks).take(column.indices), column.dictionary.take(order))


class Vocabulary:
    """The values of a text column, numbered as they come."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self._numbers: dict[str, int] = {}

    def encode(self, column: pa.DictionaryArray) -> pa.Array:
        """The numbers of a column's values; a missing value stays missing, and a word that no row has is not learnt."""
        words = column.dictionary.to_pylist()
        if any(
            word not in self._numbers for word in words
        ):  # mostly all are known, and which are used need not be found out
            for place in used_places(column).tolist():
                if words[place] is not None:
                    self._numbers.setdefault(words[place], len(self._numbers))
        numbers = pa.array([self._numbers.get(word) for word in words], pa.int32())
        return numbers.take(column.indices) if words else pa.nulls(len(column), pa.int32())

    def decode(self, column: pa.Array) -> pa.Array:
        """Numbers as a dictionary in sorted order of the words that the column has."""
        words = list(self._numbers)
        used = pc.unique(column.drop_null()).to_pylist()
        used.sort(key=words.__getitem__)
        ranks = np.zeros(len(words), dtype=np.int32)
        ranks[used] = np.arange(len(used), dtype=np.int32)
        indices = pa.array(ranks).take(column) if words else column
        return pa.DictionaryArray.from_arrays(indices, pa.array([words[place] for place in used], self._kind))


class PublicColumn:
    """A column that is published as it is, or coarser."""

    def __init__(self, name: str, spec: ColumnSpec) -> None:
        self.name = name
        self._coarsen = spec.coarsen
        self._vocabulary: Vocabulary | None = None
        self._decided = False
        self._by_dictionary = False

    def plain(self, column: pa.Array) -> pa.Array:
        """The column as it will be published."""
        coarse = column if self._coarsen is None else coarsen(column, self._coarsen, self.name)
        return self._canonical(decoded(coarse).cast(published_type(coarse.type)))

    def encode(self, column: pa.Array) -> pa.Array:
        """The column in its narrow form."""
        if self._coarsen is not None:
            column = coarsen(column, self._coarsen, self.name)
        kind = published_type(column.type)
        if not is_text(kind):
            return self._canonical(column if column.type == kind else column.cast(kind))
        return self._encode_text(column, kind)

    def _canonical(self, column: pa.Array) -> pa.Array:
        """Numbers with the bits of their value; a date that no reader can show is refused."""
        if in_calendar(column).null_count > column.null_count:
            raise SchemaError(
                f"column {self.name!r} has dates outside of the years 1 to 9999, such as an infinite one; make them missing, or take the rows out"
            )
        return one_zero(column)

    def _encode_text(self, column: pa.Array, kind: pa.DataType) -> pa.Array:
        if self._decided and self._vocabulary is None:
            return column.cast(kind)
        coded = column if pa.types.is_dictionary(column.type) else column.cast(kind).dictionary_encode()
        if not self._decided:
            self._decided = True
            if repetitive(len(coded.dictionary), len(coded)):
                self._vocabulary = Vocabulary(kind)
        return self._vocabulary.encode(coded) if self._vocabulary else column.cast(kind)

    def settle(self, some: pa.ChunkedArray) -> None:
        """Decide how the column is written, by rows in narrow form that the order of the source has no part in choosing."""
        text = self._vocabulary is not None or is_text(some.type)
        self._by_dictionary = text and repetitive(len(pc.unique(some.drop_null())), len(some))

    def decode(self, column: pa.Array) -> pa.Array:
        """The narrow form as it is written."""
        if self._vocabulary is not None:
            coded = self._vocabulary.decode(column)
            return coded if self._by_dictionary else coded.cast(coded.type.value_type)
        return sorted_dictionary(column.dictionary_encode()) if self._by_dictionary else column

    def key(self, column: pa.Array, written: pa.Array) -> pa.Array:
        """What rows may be ordered by: never the numbers of words, which tell in what order they first came up."""
        return written.indices if self._by_dictionary else written


@dataclass(frozen=True)
class SensitiveColumn:
    """A column that goes through its channel, as codes of its domain."""

    name: str
    domain: Domain
    coded: bool = False
    """Whether codes are published, and not values."""

    @property
    def missing(self) -> bool:
        """Whether a missing value may be published."""
        return not self.coded and bool(self.domain.values.null_count)

    def encode(self, column: pa.Array) -> pa.Array:
        """True codes; they do not leave the memory of the publishing process."""
        return pa.array(self.domain.encode(column, self.name))

    def key(self, column: pa.Array, written: pa.Array) -> pa.Array:
        """What rows may be ordered by: the place of a value among all in rising order, a missing one last; codes as they are."""
        if self.coded:
            return column
        ranks = np.empty(self.domain.size, dtype=np.int32)
        ranks[pc.sort_indices(self.domain.values).to_numpy()] = np.arange(self.domain.size, dtype=np.int32)
        return pa.array(ranks).take(column)

    def decode(self, column: pa.Array) -> pa.Array:
        """Published codes as values, or as they are."""
        if self.coded:
            return column
        values = self.domain.values
        if not is_text(values.type):
            return values.take(column)
        missing = values.null_count
        if missing:  # a dictionary's missing value is one that has no code
            place = pc.index(values.is_null(), True).as_py()
            column = pc.if_else(pc.equal(column, place), pa.scalar(None, column.type), column)
        return pa.DictionaryArray.from_arrays(column.cast(pa.int32()), values.fill_null(""))


@dataclass(frozen=True)
class NumberColumn:
    """A column that the mechanism adds: the number of a row's sub-table, or its weight."""

    name: str

    def key(self, column: pa.Array, written: pa.Array) -> pa.Array:
        """What rows may be ordered by."""
        return column

    def decode(self, column: pa.Array) -> pa.Array:
        """It is written as it is."""
        return column


Column = PublicColumn | SensitiveColumn | NumberColumn


def decode_table(columns: Sequence[Column], table: pa.Table) -> pa.Table:
    """A table of narrow columns as it is written."""
    arrays = [column.decode(part.combine_chunks()) for column, part in zip(columns, table.columns, strict=True)]
    return pa.table(arrays, names=[column.name for column in columns])


def prepared(table: Source, spec: Spec, domains: Mapping[str, Domain]) -> pa.Table:
    """The columns to be published, before their coins: coarsened, and numbers on their grid. The table is held in memory."""
    columns = {name: PublicColumn(name, spec.columns[name]) for name in spec.published if name not in domains}
    batches = []
    for batch in table.batches(spec.published):
        arrays = {
            name: domains[name].values.take(pa.array(domains[name].encode(batch.column(name), name)))
            if name in domains
            else columns[name].plain(batch.column(name))
            for name in spec.published
        }
        batches.append(pa.table(arrays))
    return pa.concat_tables(batches)
