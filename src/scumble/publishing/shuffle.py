"""An order that tells nothing, for a table of any size, in bounded memory.

The order of a source tells things (a table sorted by diagnosis gives every diagnosis away), so a release has an order of its
own. Each row goes to one of K buckets at random. Each bucket is put into random order and then sorted, stably, by published
values that repeat themselves: like values stand together, so that files are small and fast to read. Given what is published in a bucket,
its order is a function of that and of fresh coins; neither the source's order nor a true value has a part in it. What does
not fit into memory waits in files beside the release; only perturbed rows come here.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc

from scumble.core.entropy import Stream
from scumble.core.memory import of_buffers

BUCKET_ROWS = 1 << 19
SOME = 1 << 16
"""Rows by which is decided how a column is written."""


def bucket_count(rows: int | None) -> int:
    """A power of two, so that random bits choose a bucket.

    >>> bucket_count(100_000), bucket_count(10_000_000), bucket_count(None)
    (1, 32, 16)
    """
    if rows is None:
        return 16
    return min(256, 1 << (max(rows, 1) // BUCKET_ROWS).bit_length())


def scatter(batch: pa.RecordBatch, buckets: int, stream: Stream) -> list[pa.RecordBatch]:
    """The batch's rows in K parts, each row in a random one."""
    if buckets == 1:
        return [batch]
    chosen = stream.integers(batch.num_rows, 8) & np.uint8(buckets - 1)
    order = np.argsort(chosen, kind="stable").astype(np.int32)
    ends = np.concatenate([[0], np.cumsum(np.bincount(chosen, minlength=buckets))])
    grouped = batch.take(pa.array(order))
    return [grouped.slice(int(a), int(b - a)) for a, b in itertools.pairwise(ends)]


def alike(columns: Sequence[pa.Array], rows: int) -> npt.NDArray[np.uint32] | None:
    """A number for each row by which rows of like values come together: the columns of whole numbers, those of the fewest values first.

    So many of them as leave two rows and more with the same number, on average; none where there is no such column.

    >>> alike([pa.array([1, 0, 1, 0]), pa.array([0.5, 0.1, 0.2, 0.3])], 4).tolist()
    [1, 0, 1, 0]
    """
    keys = sorted((key for column in columns if (key := _ranks(column)) is not None), key=lambda key: key[1])
    packed, states = None, 1
    for ranks, size in keys:
        if 2 * states * size > rows:
            break
        packed, states = ranks if packed is None else packed * np.uint32(size) + ranks, states * size
    return packed


def _ranks(column: pa.Array) -> tuple[npt.NDArray[np.uint32], int] | None:
    """Whole numbers counted from their smallest, a missing one as the next after the largest, and how many there may be."""
    if not pa.types.is_integer(column.type) or column.null_count == len(column):
        return None
    ends = pc.min_max(column).as_py()
    size = ends["max"] - ends["min"] + 1 + bool(column.null_count)
    if size > 1 << 16:
        return None
    filled = column.fill_null(ends["max"]).to_numpy(zero_copy_only=False)
    wide = (
        filled.astype(np.int64) if pa.types.is_signed_integer(column.type) else filled
    )  # -128 to 127 is not 255 apart in a byte
    ranks = (wide - wide.dtype.type(ends["min"])).astype(np.uint32)
    if column.null_count:
        ranks[column.is_null().to_numpy(zero_copy_only=False)] = size - 1
    return ranks, size


class Buckets:
    """K growing parts of a table."""

    def __init__(self, schema: pa.Schema, count: int, folder: Path) -> None:
        self.schema = schema
        self._parts: list[list[pa.RecordBatch]] = [[] for _ in range(count)]
        self._files = [folder / f"bucket-{i:03d}.arrow" for i in range(count)]
        self._writers: list[pa.RecordBatchStreamWriter] = []
        self._held = 0
        self.rows = np.zeros(count, dtype=np.int64)
        self.missing = dict.fromkeys(schema.names, False)
        """Which columns have missing values."""

    def __len__(self) -> int:
        return len(self._parts)

    def add(self, parts: list[pa.RecordBatch]) -> None:
        """One part for each bucket."""
        for i, part in enumerate(parts):
            self._parts[i].append(part)
            self.rows[i] += part.num_rows
            self._held += part.nbytes
            for name, column in zip(part.schema.names, part.columns, strict=True):
                self.missing[name] |= column.null_count > 0
        if self._held > of_buffers():
            self._spill()

    def finish(self) -> None:
        """No more parts will come."""
        for writer in self._writers:
            writer.close()

    def some(self, name: str) -> pa.ChunkedArray:
        """A column in the first buckets that have enough rows together: coins chose them, or they are all."""
        arrays: list[pa.Array] = []
        for index in range(len(self)):
            if sum(map(len, arrays)) < SOME:
                arrays += [part.column(name) for part in self._held_in(index)]
        return pa.chunked_array(arrays, self.schema.field(name).type)

    def take(self, index: int) -> pa.Table:
        """The rows of one bucket, in the order in which they came; the bucket is empty afterwards."""
        return pa.Table.from_batches(self._take(index), self.schema).combine_chunks()

    def _take(self, index: int) -> list[pa.RecordBatch]:
        parts, self._parts[index] = self._held_in(index), []
        if self._writers:
            self._files[index].unlink()
        return parts

    def _held_in(self, index: int) -> list[pa.RecordBatch]:
        parts = self._parts[index]
        if self._writers:
            with pa.memory_map(str(self._files[index])) as source:
                parts = [*pa.ipc.open_stream(source).read_all().to_batches(), *parts]
        return [part for part in parts if part.num_rows]

    def _spill(self) -> None:
        if not self._writers:
            self._writers = [pa.ipc.new_stream(str(file), self.schema) for file in self._files]
        for writer, parts in zip(self._writers, self._parts, strict=True):
            if parts:
                writer.write_table(pa.Table.from_batches(parts, self.schema).combine_chunks())
                parts.clear()
        self._held = 0
