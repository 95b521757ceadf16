"""Published rows into files: in an order of their own, as Parquet without anything that the rows themselves do not tell, each with its hash."""

import base64
import hashlib
import inspect
import itertools
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scumble.core.arrow_types import is_text, published_type
from scumble.core.entropy import Entropy
from scumble.core.progress import Progress
from scumble.publishing.encode import Column, PublicColumn, SensitiveColumn, decode_table
from scumble.publishing.shuffle import Buckets, alike
from scumble.release.records import FileRecord

PART_ROWS = 4_000_000
"""Rows of a data file, about: larger tables have several, written side by side."""

MOST_LISTED = 1 << 16
"""Values of a perturbed column that a file lists, at most."""

LOOK = 0.1
"""Seconds after which the progress of writing is told anew."""

ROW_GROUP = 1 << 20
"""Rows of a row group, at most."""

LAYOUT = 1
"""The number of the rules by which rows become bytes, in this file, `encode.py`, `shuffle.py` and `copies.py`; it changes with them."""

PAGES = {"max_rows_per_page": 1 << 20} if "max_rows_per_page" in inspect.signature(pq.ParquetWriter).parameters else {}
"""Pages end by their size alone, as in an Arrow that does not limit their rows: readers are a quarter faster."""


class ShuffledFiles:
    """Writes the rows of filled buckets, each in an order of its own, under a name: `data.parquet`, or `data/part-000.parquet` and so on."""

    def __init__(
        self, columns: list[Column], buckets: Buckets, entropy: Entropy, folder: Path, name: str = "data"
    ) -> None:
        self._columns = columns
        self._buckets = buckets
        self._entropy = entropy
        self._folder = folder
        self._name = name
        self._written = np.zeros(len(buckets), dtype=np.bool_)
        self._stopped = Event()

    def write(self, pool: ThreadPoolExecutor, progress: Progress) -> list[FileRecord]:
        """All files, side by side. Where this is interrupted, what is being written stops at its next bucket."""
        self._buckets.finish()
        for column in self._columns:
            if isinstance(column, PublicColumn):
                column.settle(self._buckets.some(column.name))
        running = [pool.submit(self._write_part, *part) for part in self._parts()]
        pending = set(running)
        try:
            while pending:
                done, pending = wait(pending, LOOK)
                for future in done:
                    future.result()
                progress(int(self._buckets.rows[self._written].sum()), int(self._buckets.rows.sum()))
        except BaseException:
            self._stopped.set()
            raise
        return [future.result() for future in running]

    def schema(self) -> pa.Schema:
        """The columns as they are written."""
        fields = decode_table(self._columns, self._buckets.schema.empty_table()).schema
        return pa.schema(
            field.with_nullable(self._missing(column)) for column, field in zip(self._columns, fields, strict=True)
        )

    def _missing(self, column: Column) -> bool:
        """Whether a column has missing values; one that has none is read faster where the file says so."""
        if isinstance(column, SensitiveColumn):
            return column.missing
        return self._buckets.missing[column.name]

    def _repetitive(self) -> list[str]:
        return repetitive_columns(self._columns, self.schema())

    def _parts(self) -> list[tuple[str, range]]:
        buckets = len(self._buckets)
        count = min(buckets, 1 << (int(self._buckets.rows.sum()) // PART_ROWS).bit_length())
        if count == 1:
            return [(f"{self._name}.parquet", range(buckets))]
        (self._folder / self._name).mkdir()
        edges = [round(i * buckets / count) for i in range(count + 1)]
        return [
            (f"{self._name}/part-{i:03d}.parquet", range(a, b)) for i, (a, b) in enumerate(itertools.pairwise(edges))
        ]

    def _write_part(self, path: str, buckets: range) -> FileRecord:
        rows, schema = 0, self.schema()
        with parquet_writer(self._folder / path, schema, self._repetitive()) as writer:
            for index in buckets:
                if self._stopped.is_set():
                    raise CancelledError
                table = self._ordered(index)
                writer.write_table(table.cast(schema), row_group_size=ROW_GROUP)
                rows += table.num_rows
                self._written[index] = True
        return file_record(self._folder, path, rows)

    def _ordered(self, index: int) -> pa.Table:
        """The rows of a bucket as they are written."""
        narrow = self._buckets.take(index)
        written = decode_table(self._columns, narrow)
        keys = [
            column.key(part.combine_chunks(), made.combine_chunks())
            for column, part, made in zip(self._columns, narrow.columns, written.columns, strict=True)
        ]
        stream = self._entropy.stream("order", self._name, index)
        order = stream.permutation(narrow.num_rows, alike(keys, narrow.num_rows))
        return written.take(pa.array(order))


def repetitive_columns(columns: list[Column], schema: pa.Schema) -> list[str]:
    """Columns of few values in many rows, which are smaller and read faster where a file lists these once."""
    return [
        field.name
        for column, field in zip(columns, schema, strict=True)
        if (isinstance(column, SensitiveColumn) and column.domain.size <= MOST_LISTED)
        or not (pa.types.is_floating(field.type) or is_text(field.type))
    ]


def writer_name() -> str:
    """What writes the files, for the manifest: the rules and the library. The same rows written by the same writer are the same bytes."""
    return f"scumble layout {LAYOUT}, parquet-cpp-arrow {pa.__version__}"


def parquet_writer(path: Any, schema: pa.Schema, repetitive: list[str] | None = None) -> pq.ParquetWriter:
    """No statistics (a shuffled table cannot use them), no pandas index, no path: of metadata only the types that came in.

    path         of a file, or what takes its bytes
    repetitive   the columns whose values are listed once in the file; all when absent
    """
    worth = True if repetitive is None else repetitive
    writer = pq.ParquetWriter(
        path, schema, compression="snappy", use_dictionary=worth, write_statistics=False, store_schema=False, **PAGES
    )
    plain = pa.schema([pa.field(f.name, published_type(f.type), f.nullable) for f in schema])
    writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(plain.serialize().to_pybytes()).decode()})
    return writer


def file_record(folder: Path, path: str, rows: int | None) -> FileRecord:
    """A file's size and hash."""
    with (folder / path).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileRecord(path=path, sha256=digest, bytes=(folder / path).stat().st_size, rows=rows)
