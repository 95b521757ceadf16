"""Raw batches into narrow columns: text as codes, public columns coarsened, sensitive ones perturbed.

Text that repeats itself travels as integers and gets its words back when it is written, in sorted order: the order in which
values first came up would tell something of the order of the rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.coarsen import coarsen
from scumble.domain import Domain, is_text
from scumble.schema import ColumnSpec, Spec
from scumble.tables import Table

REPETITIVE = 4
"""Text is coded when, in the first batch, each value stands in this many rows or more on average."""


def published_type(kind: pa.DataType) -> pa.DataType:
    """The type a column is published with: its own, or what stands behind a dictionary."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_timestamp(inner) and inner.unit == "s":
        return pa.timestamp("ms", inner.tz)  # Parquet knows no whole seconds
    return pa.string() if pa.types.is_string_view(inner) else inner


def used_places(column: pa.DictionaryArray) -> npt.NDArray[np.intp]:
    """Which entries of its dictionary a column has rows of: a filtered frame keeps the words of those who were filtered out."""
    places = column.indices.drop_null().to_numpy(zero_copy_only=False)
    return np.flatnonzero(np.bincount(places, minlength=len(column.dictionary)))


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

    def ranks(self, column: pa.Array) -> pa.Array:
        """Numbers by the order of the words."""
        words = sorted(self._numbers)
        ranks = np.empty(len(words), dtype=np.int32)
        ranks[[self._numbers[word] for word in words]] = np.arange(len(words), dtype=np.int32)
        return pa.array(ranks).take(column) if words else column

    def decode(self, column: pa.Array) -> pa.Array:
        """Numbers as a dictionary in sorted order."""
        return pa.DictionaryArray.from_arrays(self.ranks(column), pa.array(sorted(self._numbers), self._kind))


class PublicColumn:
    """A column that is published as it is, or coarser."""

    def __init__(self, name: str, spec: ColumnSpec) -> None:
        self.name = name
        self._coarsen = spec.coarsen
        self._vocabulary: Vocabulary | None = None
        self._decided = False

    def plain(self, column: pa.Array) -> pa.Array:
        """The column as it will be published."""
        coarse = column if self._coarsen is None else coarsen(column, self._coarsen, self.name)
        return coarse.cast(published_type(coarse.type))

    def encode(self, column: pa.Array) -> pa.Array:
        """The column in its narrow form."""
        if self._coarsen is not None:
            column = coarsen(column, self._coarsen, self.name)
        kind = published_type(column.type)
        if not is_text(kind):
            return column if column.type == kind else column.cast(kind)
        return self._encode_text(column, kind)

    def _encode_text(self, column: pa.Array, kind: pa.DataType) -> pa.Array:
        if self._decided and self._vocabulary is None:
            return column.cast(kind)
        coded = column if pa.types.is_dictionary(column.type) else column.cast(kind).dictionary_encode()
        if not self._decided:
            self._decided = True
            if len(coded.dictionary) * REPETITIVE <= len(coded) or len(coded) <= 64:
                self._vocabulary = Vocabulary(kind)
        return self._vocabulary.encode(coded) if self._vocabulary else column.cast(kind)

    def decode(self, column: pa.Array) -> pa.Array:
        """The narrow form as it is written."""
        return self._vocabulary.decode(column) if self._vocabulary else column

    def key(self, column: pa.Array) -> pa.Array:
        """What rows may be ordered by: never the numbers of words, which tell in what order they first came up."""
        return self._vocabulary.ranks(column) if self._vocabulary else column


@dataclass(frozen=True)
class SensitiveColumn:
    """A column that goes through its channel, as codes of its domain."""

    name: str
    domain: Domain

    def encode(self, column: pa.Array) -> pa.Array:
        """True codes; they do not leave the memory of the publishing process."""
        return pa.array(self.domain.encode(column, self.name))

    def key(self, column: pa.Array) -> pa.Array:
        """What rows may be ordered by: the place of a value among all in rising order, a missing one last."""
        ranks = np.empty(self.domain.size, dtype=np.int32)
        ranks[pc.sort_indices(self.domain.values).to_numpy()] = np.arange(self.domain.size, dtype=np.int32)
        return pa.array(ranks).take(column)

    def decode(self, column: pa.Array) -> pa.Array:
        """Published codes as values."""
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

    def key(self, column: pa.Array) -> pa.Array:
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


def prepared(table: Table, spec: Spec, domains: Mapping[str, Domain]) -> pa.Table:
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
