"""Any table, as Arrow batches: CSV, Parquet, a folder of Parquet, or a data frame that speaks the Arrow protocol.

Nothing here holds more than a batch. Text columns arrive as dictionaries where the file has them so.
"""

import os
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from scumble.core.errors import TableError
from scumble.engines.sql import listed

if TYPE_CHECKING:
    from scumble.spec.spec import Spec

BATCH = 1 << 17
"""Rows of a batch."""


class Table(Protocol):
    """A table that can be read again and again, batch by batch."""

    schema: pa.Schema
    rows: int | None
    """How many rows there are, where that is known without reading them."""
    once: bool
    """Whether it is a stream that can be read a single time."""

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
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


def read_source(spec: "Spec") -> Table:
    """The table that a spec names."""
    return read(spec.table, text=[name for name, column in spec.columns.items() if column.text])


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
        self.files = files
        schemas = [self._metadata(file) for file in files]
        whole = schemas[0].schema.to_arrow_schema().remove_metadata()
        for file, other in zip(files, schemas, strict=True):
            if not other.schema.to_arrow_schema().remove_metadata().equals(whole):
                raise TableError(f"{file.name} has other columns than {files[0].name}; one table has one schema")
        self.schema: pa.Schema = _without_index(whole)
        self.rows: int | None = sum(s.num_rows for s in schemas)
        self._repetitive: set[str] | None = None

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns; text that repeats itself comes as dictionaries, straight from the file."""
        if self._repetitive is None:
            self._repetitive = self._find_repetitive()
        wanted = [name for name in columns if name in self._repetitive]
        for path in self.files:
            with _one_line(path):
                file = pq.ParquetFile(
                    path, read_dictionary=wanted, pre_buffer=False
                )  # a buffered file would stay in memory
                yield from file.iter_batches(BATCH, columns=list(columns), use_threads=True)

    def countable(self, columns: Iterable[str]) -> bool:
        """Whether the engine counts these columns as we would: text, whole numbers, booleans."""
        kinds = [self.schema.field(name).type for name in columns]
        return all(pa.types.is_string(k) or pa.types.is_integer(k) or pa.types.is_boolean(k) for k in kinds)

    def counts(self, column: str) -> tuple[pa.Array, npt.NDArray[np.int64]]:
        """The values of a column and how often each occurs: one GROUP BY of the engine, several times faster than reading the rows."""
        from scumble.engines.duckdb.counting import grouped

        with _one_line(self.files[0]):
            found = grouped(self.files, [column], self.rows or 0)
        values = found.column(0).combine_chunks().cast(self.schema.field(column).type)
        return values, np.asarray(found.column(1).to_numpy())

    def _find_repetitive(self) -> set[str]:
        text = [f.name for f in self.schema if pa.types.is_string(f.type) or pa.types.is_large_string(f.type)]
        if not text or not self.rows:
            return set()
        with _one_line(self.files[0]):
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

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns. A field that is empty and unquoted is a missing value."""
        relation = self._open()
        with _one_line(self._path):
            yield from relation.project(listed(columns)).to_arrow_reader(BATCH)

    def _open(self) -> Any:
        from scumble.engines.duckdb.engine import csv_relation

        with _one_line(self._path):
            return csv_relation(self._path, self._text)


class FrameTable:
    """A data frame, or a stream of Arrow batches."""

    def __init__(self, frame: Any) -> None:
        from scumble.engines.duckdb.engine import demand_names

        self._frame = frame
        self.once = isinstance(frame, pa.RecordBatchReader)
        self._spent = False
        try:
            reader = pa.RecordBatchReader.from_stream(frame) if not self.once else frame
        except (pa.ArrowException, ValueError, TypeError) as error:
            raise TableError(f"the data frame cannot be read: {_first_line(error)}") from None
        demand_names(reader.schema.names, "the data frame")
        self.schema: pa.Schema = _without_index(reader.schema)
        if not self.once:
            reader.close()
        self.rows: int | None = len(frame) if hasattr(frame, "__len__") else None

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns; a stream that runs once can be read once."""
        if self._spent:
            raise TableError(
                "this stream was read once and is spent; give the domains, or pass a table instead of a stream"
            )
        self._spent = self.once
        with self._frame if self.once else pa.RecordBatchReader.from_stream(self._frame) as reader:
            for batch in reader:
                chosen = batch.select(list(columns))
                for start in range(0, batch.num_rows, BATCH):
                    yield chosen.slice(start, BATCH)


def _without_index(schema: pa.Schema) -> pa.Schema:
    """What pandas calls a row is not a column of the table, and would tell the order of the source."""
    return pa.schema([field for field in schema if not re.fullmatch(r"__index_level_\d+__", field.name)])


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    """Whatever a reader says about a broken file, on one line and with the file's name."""
    from scumble.engines.duckdb.engine import EngineError

    try:
        yield
    except FileNotFoundError:
        raise TableError(f"there is no table at {str(path)!r}") from None
    except (pa.ArrowException, OSError, EngineError, UnicodeDecodeError) as error:
        raise TableError(f"{path.name} cannot be read: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    """The sentence that says what is wrong, and for a CSV file in which line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    place = next((found[1] for line in lines if (found := re.search(r"CSV Error on Line: (\d+)", line))), None)
    if place is None:
        return lines[0][:300] if lines else type(error).__name__
    said = next((line for line in lines if line.startswith(CSV_COMPLAINTS)), lines[0])
    misfit = re.search(r'converting column "(.*)"\. Could not convert string "(.*)" to \'(\w+)\'', said)
    if misfit:
        name, value, kind = misfit.groups()
        before = next((words for types, words in HELD.items() if re.search(types, kind)), kind)
        return (
            f"line {place}: column {name!r} has {value!r} where the first rows have {before}; "
            f"clean it, or read the column as text (--text {name})"
        )
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", said)
    if fields:
        return f"line {place} has {fields[2]} fields, and the first line names {fields[1]}; mend the line"
    remedy = "save the file as UTF-8" if "unicode" in said else "mend the line"
    return f"line {place}: {said.rstrip('.')}; {remedy}"


HELD = {
    "INT": "whole numbers",
    "DOUBLE|FLOAT|DECIMAL": "numbers",
    "DATE|TIMESTAMP": "dates",
    "TIME": "times",
    "BOOL": "true or false",
}
"""Types that the beginning of a CSV file is found to have, and what they are called."""


CSV_COMPLAINTS = (
    "Error when",
    "Expected Number",
    "Invalid unicode",
    "Value with",
    "Maximum line",
    "The CSV Parser",
    "Missing",
)
