"""Any table, as Arrow batches: CSV, Parquet, a folder of Parquet, or a data frame that speaks the Arrow protocol.

Nothing here holds more than a batch. Text columns arrive as dictionaries where the file has them so.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from scumble.errors import TableError

BATCH = 1 << 17
"""Rows of a batch."""


class Table(Protocol):
    """A table that can be read again and again, batch by batch."""

    schema: pa.Schema
    rows: int | None
    """How many rows there are, where that is known without reading them."""
    once: bool
    """Whether it is a stream that can be read a single time."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The named columns, a batch at a time."""


def read(source: Any, *, text: Sequence[str] = ()) -> Table:
    """The table at a path, or behind a data frame. `text` names CSV columns to be read as text."""
    if isinstance(source, str | os.PathLike):
        return _read_path(Path(source), text)
    if hasattr(source, "__arrow_c_stream__"):
        return FrameTable(source)
    raise TableError(
        f"a table is a path or a data frame with the Arrow protocol (pandas, Polars, PyArrow, DuckDB), not {type(source).__name__}"
    )


def _read_path(path: Path, text: Sequence[str]) -> Table:
    if path.is_dir():
        files = sorted(path.rglob("*.parquet"))
        if not files:
            raise TableError(f"the folder {path.name!r} holds no .parquet file")
        return ParquetTable(files)
    if not path.exists():
        raise TableError(f"there is no table at {str(path)!r}")
    if path.suffix in (".parquet", ".pq"):
        return ParquetTable([path])
    if path.name.lower().endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".txt")):
        return CsvTable(path, text)
    raise TableError(f"{path.name!r} is neither .csv, .tsv nor .parquet; convert it, or pass a data frame")


class ParquetTable:
    """Parquet files of one schema."""

    once = False

    def __init__(self, files: Sequence[Path]) -> None:
        self._files = files
        schemas = [self._metadata(file) for file in files]
        self.schema: pa.Schema = schemas[0].schema.to_arrow_schema().remove_metadata()
        for file, other in zip(files, schemas, strict=True):
            if not other.schema.to_arrow_schema().remove_metadata().equals(self.schema):
                raise TableError(f"{file.name} has other columns than {files[0].name}; one table has one schema")
        self.rows: int | None = sum(s.num_rows for s in schemas)
        self._repetitive: set[str] | None = None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The named columns; text that repeats itself comes as dictionaries, straight from the file."""
        if self._repetitive is None:
            self._repetitive = self._find_repetitive()
        wanted = [name for name in columns if name in self._repetitive]
        for path in self._files:
            with _one_line(path):
                file = pq.ParquetFile(path, read_dictionary=wanted)
                yield from file.iter_batches(BATCH, columns=list(columns), use_threads=True)

    def _find_repetitive(self) -> set[str]:
        text = [f.name for f in self.schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
        if not text or not self.rows:
            return set()
        with _one_line(self._files[0]):
            file = pq.ParquetFile(self._files[0], read_dictionary=text)
            first = next(file.iter_batches(1 << 14, columns=text), None)
        if first is None:
            return set()
        return {n for n, c in zip(text, first.columns, strict=True) if pa.types.is_dictionary(c.type) and len(c.dictionary) * 4 < max(len(c), 64)}

    @staticmethod
    def _metadata(path: Path) -> pq.FileMetaData:
        with _one_line(path):
            return pq.read_metadata(path)


class CsvTable:
    """A CSV or TSV file, with its types guessed from its beginning."""

    once = False

    def __init__(self, path: Path, text: Sequence[str]) -> None:
        self._path = path
        self._text = text
        self.rows: int | None = None
        relation = self._open()
        with _one_line(path):
            self.schema: pa.Schema = relation.limit(0).to_arrow_table().schema.remove_metadata()

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The named columns. A field that is empty and unquoted is a missing value."""
        relation = self._open()
        with _one_line(self._path):
            names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
            yield from relation.project(names).to_arrow_reader(BATCH)

    def _open(self) -> Any:
        import duckdb

        connection = duckdb.connect(config={"threads": os.cpu_count() or 1, "autoinstall_known_extensions": "false"})
        connection.execute("SET preserve_insertion_order = true")
        with _one_line(self._path):
            types = {name: "VARCHAR" for name in self._text}
            path = str(self._path).replace("'", "''")
            options = f", types = {types}" if types else ""
            return connection.sql(f"SELECT * FROM read_csv('{path}', header = true{options})")


class FrameTable:
    """A data frame, or a stream of Arrow batches."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.once = isinstance(frame, pa.RecordBatchReader)
        self._reader: pa.RecordBatchReader | None = pa.RecordBatchReader.from_stream(frame)
        index = [name for name in self._reader.schema.names if name.startswith("__index_level_")]
        self.schema: pa.Schema = pa.schema([f for f in self._reader.schema if f.name not in index])
        self.rows: int | None = len(frame) if hasattr(frame, "__len__") else None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The named columns; a stream that runs once can be read once."""
        if self._reader is None and self.once:
            raise TableError("this stream was read once and is spent; give the domains, or pass a table instead of a stream")
        reader, self._reader = self._reader or pa.RecordBatchReader.from_stream(self._frame), None
        for batch in reader:
            chosen = batch.select(list(columns))
            for start in range(0, batch.num_rows, BATCH):
                yield chosen.slice(start, BATCH)


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    """Whatever a reader says about a broken file, on one line and with the file's name."""
    import duckdb

    try:
        yield
    except FileNotFoundError:
        raise TableError(f"there is no table at {str(path)!r}") from None
    except (pa.ArrowException, OSError, duckdb.Error, UnicodeDecodeError) as error:
        raise TableError(f"{path.name} cannot be read: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2])[:300] if lines else type(error).__name__
