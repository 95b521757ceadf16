"""Parquet files of one schema: one, or all in a folder."""

import os
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from scumble.core.errors import TableError
from scumble.sources import source
from scumble.sources.folder import files_in
from scumble.sources.problems import one_line, without_index

ENDINGS = (".parquet",)


class ParquetSource:
    """Parquet files of one schema."""

    stable = True

    @staticmethod
    def opens(thing: Any) -> bool:
        """Whether it is the path of such a file, or of a folder."""
        if not isinstance(thing, str | os.PathLike):
            return False
        path = Path(thing)
        return path.is_dir() or (path.suffix in (".parquet", ".pq") and path.exists())

    def __init__(self, thing: Any, *, text: Sequence[str] = ()) -> None:
        path = Path(thing)
        self.name = path.name
        self.folder = path if path.is_dir() else None
        self.files = files = files_in(path, ENDINGS) if path.is_dir() else [path]
        if not files:
            raise TableError(f"the folder {path.name!r} holds no .parquet and no .csv file")
        schemas = [self._metadata(file) for file in files]
        whole = schemas[0].schema.to_arrow_schema().remove_metadata()
        for file, other in zip(files, schemas, strict=True):
            if not other.schema.to_arrow_schema().remove_metadata().equals(whole):
                raise TableError(f"{file.name} has other columns than {files[0].name}; one table has one schema")
        self.schema: pa.Schema = without_index(whole)
        self.rows: int | None = sum(s.num_rows for s in schemas)
        self._repetitive: set[str] | None = None

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns; text that repeats itself comes as dictionaries, straight from the file."""
        if self._repetitive is None:
            self._repetitive = self._find_repetitive()
        wanted = [name for name in columns if name in self._repetitive]
        for path in self.files:
            with one_line(path):
                file = pq.ParquetFile(
                    path, read_dictionary=wanted, pre_buffer=False
                )  # a buffered file would stay in memory
                yield from file.iter_batches(source.BATCH, columns=list(columns), use_threads=True)

    def countable(self, columns: Iterable[str]) -> bool:
        """Whether the engine counts these columns as we would: text, whole numbers, booleans."""
        kinds = [self.schema.field(name).type for name in columns]
        return all(pa.types.is_string(k) or pa.types.is_integer(k) or pa.types.is_boolean(k) for k in kinds)

    def counts(self, column: str) -> tuple[pa.Array, npt.NDArray[np.int64]]:
        """The values of a column and how often each occurs: one GROUP BY of the engine, several times faster than reading the rows."""
        from scumble.engines.duckdb.counting import grouped

        with one_line(self.files[0]):
            counts = grouped(self.files, [column], self.rows or 0)
        values = counts.column(0).combine_chunks().cast(self.schema.field(column).type)
        return values, np.asarray(counts.column(1).to_numpy())

    def _find_repetitive(self) -> set[str]:
        text = [f.name for f in self.schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
        if not text or not self.rows:
            return set()
        with one_line(self.files[0]):
            file = pq.ParquetFile(self.files[0], read_dictionary=text)
            first = next(file.iter_batches(1 << 14, columns=text), None)
        if first is None:
            return set()
        return {
            n
            for n, c in zip(text, first.columns, strict=True)
            if pa.types.is_dictionary(c.type) and len(c.dictionary) * 4 < max(len(c), 64)
        }

    @staticmethod
    def _metadata(path: Path) -> pq.FileMetaData:
        with one_line(path):
            return pq.read_metadata(path)
