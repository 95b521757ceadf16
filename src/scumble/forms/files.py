"""The files of a release, read: what is no Parquet file, or a broken one, is a changed release."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from scumble.core.readable import readable


def rows_in(path: Path) -> int:
    """How many rows a file says that it has."""
    with readable(path.name):
        return int(pq.read_metadata(path).num_rows)


FRAME = 12
"""Bytes of a file beside its columns and its footer: four letters before, and the footer's length and four letters after."""


def accounted(path: Path) -> int:
    """The bytes that the columns of a file, its footer and its frame take."""
    with readable(path.name):
        file = pq.read_metadata(path)
        groups = [file.row_group(number) for number in range(file.num_row_groups)]
        columns = (group.column(place) for group in groups for place in range(file.num_columns))
        return sum(int(column.total_compressed_size) for column in columns) + int(file.serialized_size) + FRAME


def row_groups(path: Path) -> list[int]:
    """How many rows each row group of a file has."""
    with readable(path.name):
        file = pq.read_metadata(path)
        return [int(file.row_group(number).num_rows) for number in range(file.num_row_groups)]


def created_by(path: Path) -> str:
    """What a file says that it was written by."""
    with readable(path.name):
        return pq.read_metadata(path).created_by or ""


def dictionaries(path: Path, column: str) -> Iterator[list[str | None]]:
    """The words of a text column as each row group of a file lists them; none of a row group that lists none."""
    with readable(path.name), pq.ParquetFile(path, read_dictionary=[column]) as file:
        place = file.schema_arrow.names.index(column)
        for number in range(file.num_row_groups):
            if file.metadata.row_group(number).column(place).has_dictionary_page:
                for first in islice(file.iter_batches(1, row_groups=[number], columns=[column]), 1):
                    yield first.column(0).dictionary.to_pylist()


def schema_of(path: Path, name: str) -> pa.Schema:
    """The columns of a file, which is called by a name."""
    with readable(name):
        return pq.read_schema(path)


def table_of(paths: Sequence[Path], columns: list[str] | None = None) -> pa.Table:
    """The rows of files, below each other."""
    with readable():
        return pa.concat_tables([pq.read_table(path, columns=columns) for path in paths])


def arrays_of(path: Path, column: str) -> Iterator[pa.Array]:
    """The values of one column of a file, some at a time."""
    with readable(path.name), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=[column]):
            yield batch.column(0)
