"""Tuples and how often each is published, into Parquet files of rows.

Rows are in the order of their values: it tells nothing that the rows do not tell, and copies lie side by side, so a file of millions of rows is
small and quick to write. At no time are more than a million rows in memory.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.arrow_types import is_text
from scumble.forms.records import FormRecord
from scumble.publishing.row_pipeline import Job, Written
from scumble.publishing.write import PART_ROWS, file_record, parquet_writer
from scumble.release.records import ColumnRecord, FileRecord

PIECE = 1 << 20
Counts = npt.NDArray[np.int64]


def copies(ends: Counts, start: int, end: int) -> tuple[int, Counts]:
    """The first tuple of rows start..end-1, and how many of these rows it and each that follows has; tuple i is the rows up to ends[i].

    >>> first, times = copies(np.array([2, 2, 7]), 1, 4)
    >>> first, times.tolist()
    (0, [1, 0, 2])
    """
    first, last = np.searchsorted(ends, start, "right"), np.searchsorted(ends, end, "left")
    upper = np.minimum(ends[first : last + 1], end)
    lower = np.maximum(np.concatenate([[0], ends[first:last]]), start)
    return int(first), upper - lower


def repeated(column: pa.Array, times: Counts) -> pa.Array:
    """Each value of a column that many times.

    >>> repeated(pa.array(["a", "b"]).dictionary_encode(), np.array([1, 2])).to_pylist()
    ['a', 'b', 'b']
    """
    if not column.null_count and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return pa.array(np.repeat(column.to_numpy(), times), column.type)
    if not column.null_count and pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(np.repeat(column.indices.to_numpy(), times), column.dictionary)
    return column.take(pa.array(np.repeat(np.arange(len(column)), times)))


def write_copies(tuples: pa.Table, counts: Counts, folder: Path, name: str) -> list[FileRecord]:
    """Each tuple as many times as its count, under `name.parquet`, or `name/part-000.parquet` and so on."""
    columns = [
        c.combine_chunks().dictionary_encode() if is_text(c.type) else c.combine_chunks() for c in tuples.columns
    ]
    names = tuples.schema.names
    fields = [pa.field(n, c.type, nullable=c.null_count > 0) for n, c in zip(names, columns, strict=True)]
    narrow = pa.table(columns, schema=pa.schema(fields))
    ends = np.cumsum(counts)
    rows = int(ends[-1]) if len(ends) else 0
    pieces = -(-rows // PART_ROWS)
    if pieces <= 1:
        return [_write(narrow, ends, 0, rows, folder, f"{name}.parquet")]
    (folder / name).mkdir()
    edges = [rows * i // pieces for i in range(pieces + 1)]
    paths = [f"{name}/part-{i:03d}.parquet" for i in range(pieces)]
    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda a, b, path: _write(narrow, ends, a, b, folder, path), edges, edges[1:], paths))


def _write(narrow: pa.Table, ends: Counts, start: int, end: int, folder: Path, path: str) -> FileRecord:
    with parquet_writer(folder / path, narrow.schema) as writer:
        for a, b in _pieces(start, end):
            first, times = copies(ends, a, b)
            part = narrow.slice(first, len(times))
            rows = [repeated(column.chunk(0), times) for column in part.columns]
            writer.write_table(pa.table(rows, schema=narrow.schema), row_group_size=PIECE)
    return file_record(folder, path, end - start)


def _pieces(start: int, end: int) -> Iterator[tuple[int, int]]:
    for a in range(start, end, PIECE):
        yield a, min(a + PIECE, end)


def written_tuples(
    job: Job, columns: list[ColumnRecord], tuples: pa.Table, counts: npt.NDArray[np.int64], record: FormRecord
) -> Written:
    """A release of one table of tuples, each as often as its count says."""
    files = write_copies(tuples, counts, job.folder, "data")
    return Written(files, columns, int(counts.sum()), record)
