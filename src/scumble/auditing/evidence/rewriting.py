"""Published rows written again, by the rules by which a release is written: the same rows must become the same bytes, and nothing else fits into a file.

Row by row forms are written in row groups, text in the sorted words of each group; counted forms as tuples, text in the order in which it comes. Both are tried. Nothing is written anywhere: the bytes that
come are compared with those that are there.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from scumble.auditing.evidence.runs import coded_columns
from scumble.core.arrow_types import decoded, is_text
from scumble.core.domain import Domain
from scumble.core.once import once
from scumble.publishing.copies import PIECE
from scumble.publishing.encode import Column, NumberColumn, SensitiveColumn, sorted_dictionary
from scumble.publishing.write import ROW_GROUP, parquet_writer, repetitive_columns
from scumble.release.manifest import Manifest


class Comparing(io.RawIOBase):
    """Takes bytes and compares them with those of a file."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self.place = 0
        self.same = True

    def writable(self) -> bool:
        """It takes bytes."""
        return True

    def tell(self) -> int:
        """How many there were."""
        return self.place

    def write(self, data: Any) -> int:
        """Some more of them."""
        given = bytes(data)
        self.same = self.same and self._file.read(len(given)) == given
        self.place += len(given)
        return len(given)

    def ended(self) -> bool:
        """Whether they were all the same, and there are no more."""
        with self._file:
            return self.same and not self._file.read(1)


@dataclass(frozen=True)
class RewrittenTable:
    """One way to write a file: its columns, and row groups of so many rows at most."""

    schema: pa.Schema
    groups: Callable[[], Iterator[pa.Table]]
    size: int
    repetitive: list[str] | None = None

    def same_bytes(self, path: Path) -> bool:
        """Whether the file has the very bytes that this writes."""
        sink = Comparing(path)
        self._write(pa.PythonFile(sink, mode="w"), sink)
        return sink.ended()

    def layout(self) -> "Layout":
        """How the file looks that this writes."""
        sink = pa.BufferOutputStream()
        self._write(sink)
        return layout_of(pq.ParquetFile(pa.BufferReader(sink.getvalue()), read_dictionary=text_columns(self.schema)))

    def _write(self, out: Any, compared: Comparing | None = None) -> None:
        with parquet_writer(out, self.schema, self.repetitive) as writer:
            for group in self.groups():
                writer.write_table(group, row_group_size=self.size)
                if compared is not None and not compared.same:
                    break


@dataclass(frozen=True)
class Layout:
    """What of a file does not depend on the version of its writer."""

    rows: list[int]
    columns: list[tuple[Any, ...]]
    """Of each column of each row group: encodings, compression, what lies beside it, and the words of its dictionary."""
    metadata: dict[bytes, bytes] = field(default_factory=dict)
    schema: str = ""


def layout_of(file: pq.ParquetFile) -> Layout:
    """The layout of a file."""
    meta, rows, columns = file.metadata, [], []
    for number in range(meta.num_row_groups):
        group = meta.row_group(number)
        rows.append(group.num_rows)
        table = file.read_row_group(number)
        for place in range(group.num_columns):
            column = group.column(place)
            beside = (column.is_stats_set, column.has_offset_index, column.has_column_index)
            words = _words(table, column.path_in_schema)
            coded = "RLE_DICTIONARY" in column.encodings
            columns.append((column.path_in_schema, coded, column.compression, beside, words))
    return Layout(rows, columns, dict(meta.metadata or {}), str(meta.schema.to_arrow_schema().remove_metadata()))


def _words(table: pa.Table, path: str) -> list[Any]:
    if path not in table.column_names or not pa.types.is_dictionary(table.column(path).type):
        return []
    return [chunk.dictionary.to_pylist() for chunk in table.column(path).chunks[:1]]


def text_columns(schema: pa.Schema) -> list[str]:
    """The columns of text."""
    return [f.name for f in schema if is_text(f.type) or pa.types.is_dictionary(f.type)]


@dataclass(frozen=True)
class WrittenTable:
    """The files of one table of a release."""

    manifest: Manifest
    files: list[Path]

    @once
    def missing(self) -> set[str]:
        """The columns that may have missing values: of a perturbed one its domain says it, of others the rows of all files."""
        domains = self.manifest.domains
        names = {name for name, domain in domains.items() if domain.values.null_count}
        return names | {
            name
            for path in self.files
            for batch in pq.ParquetFile(path).iter_batches()
            for name in batch.schema.names
            if name not in domains and batch.column(name).null_count
        }

    def ways(self, path: Path) -> Iterator[RewrittenTable]:
        """How a file may have been written: by the usual rule of its form first."""
        every = [self._by_rows, self._by_tuples, self._plainly]
        for way in every if self.manifest.order == "shuffled" else every[1:]:
            yield way(path)

    def _by_rows(self, path: Path) -> RewrittenTable:
        """In row groups, each with words of its own."""
        file, domains = pq.ParquetFile(path), self.manifest.domains
        coded, names = coded_columns(file), file.schema_arrow.names
        columns: list[Column] = [
            SensitiveColumn(name, domains[name]) if name in domains else NumberColumn(name) for name in names
        ]

        def groups() -> Iterator[pa.Table]:
            for number in range(file.metadata.num_row_groups):
                table = file.read_row_group(number)
                arrays = [_as_written(table, name, coded, domains) for name in names]
                yield pa.table(arrays, names=names).cast(schema)

        empty = file.schema_arrow.empty_table()
        kinds = {name: _as_written(empty, name, coded, domains).type for name in names}
        schema = pa.schema([pa.field(name, kinds[name], name in self.missing) for name in names])
        return RewrittenTable(schema, groups, ROW_GROUP, repetitive_columns(columns, schema))

    def _by_tuples(self, path: Path) -> RewrittenTable:
        """As tuples, each as often as it is published: words of the whole table, in the order in which they come."""
        tables = [pq.read_table(each) for each in self.files]
        whole = pa.concat_tables(tables).combine_chunks()
        columns = [decoded(c.combine_chunks()) for c in whole.columns]
        columns = [c.dictionary_encode() if is_text(c.type) else c for c in columns]
        fields = [
            pa.field(n, c.type, nullable=c.null_count > 0) for n, c in zip(whole.schema.names, columns, strict=True)
        ]
        narrow, place = pa.table(columns, schema=pa.schema(fields)), self.files.index(path)
        mine = narrow.slice(sum(table.num_rows for table in tables[:place]), tables[place].num_rows)
        return RewrittenTable(narrow.schema, lambda: (mine.slice(a, PIECE) for a in range(0, len(mine), PIECE)), PIECE)

    def _plainly(self, path: Path) -> RewrittenTable:
        """All at once."""
        plain = pq.ParquetFile(path).read().replace_schema_metadata(None)
        return RewrittenTable(plain.schema, lambda: iter([plain]), ROW_GROUP)


def _as_written(table: pa.Table, name: str, coded: set[str], domains: dict[str, Domain]) -> pa.Array:
    column = decoded(table.column(name).combine_chunks())
    if not is_text(column.type):
        return column
    if name in domains:
        domain = domains[name]
        return SensitiveColumn(name, domain).decode(pa.array(domain.encode(column, name)))
    if name not in coded:
        return column
    made = sorted_dictionary(column.dictionary_encode())
    return pa.DictionaryArray.from_arrays(made.indices.cast(pa.int32()), made.dictionary)
