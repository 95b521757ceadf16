"""A uniformly random order for a table of any size, in bounded memory.

The order of a source tells things (a table sorted by diagnosis gives every diagnosis away), so a release has an order of its
own. Each row goes to one of K buckets at random; each bucket is put into random order when it is written. That is a
uniformly random permutation of all rows, given their number in each bucket, whatever K is. What does not fit into memory
waits in files beside the release; only perturbed rows come here.
"""

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from scumble.entropy import Stream

BUCKET_ROWS = 1 << 19
MEMORY = 192 << 20
"""Bytes kept before they are put into files."""


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


class Buckets:
    """K growing parts of a table."""

    def __init__(self, schema: pa.Schema, count: int, folder: Path) -> None:
        self.schema = schema
        self._parts: list[list[pa.RecordBatch]] = [[] for _ in range(count)]
        self._files = [folder / f"bucket-{i:03d}.arrow" for i in range(count)]
        self._writers: list[pa.RecordBatchStreamWriter] = []
        self._held = 0
        self.rows = np.zeros(count, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._parts)

    def add(self, parts: list[pa.RecordBatch]) -> None:
        """One part for each bucket."""
        for i, part in enumerate(parts):
            self._parts[i].append(part)
            self.rows[i] += part.num_rows
            self._held += part.nbytes
        if self._held > MEMORY:
            self._spill()

    def finish(self) -> None:
        """No more parts will come."""
        for writer in self._writers:
            writer.close()

    def shuffled(self, index: int, stream: Stream) -> pa.Table:
        """The rows of one bucket in random order; the bucket is empty afterwards."""
        table = pa.Table.from_batches(self._take(index), self.schema).combine_chunks()
        return table.take(pa.array(stream.permutation(table.num_rows)))

    def _take(self, index: int) -> list[pa.RecordBatch]:
        parts, self._parts[index] = self._parts[index], []
        if self._writers:
            with pa.memory_map(str(self._files[index])) as source:
                parts = [*pa.ipc.open_stream(source).read_all().to_batches(), *parts]
            self._files[index].unlink()
        return [part for part in parts if part.num_rows]

    def _spill(self) -> None:
        if not self._writers:
            self._writers = [pa.ipc.new_stream(str(file), self.schema) for file in self._files]
        for writer, parts in zip(self._writers, self._parts, strict=True):
            if parts:
                writer.write_table(pa.Table.from_batches(parts, self.schema).combine_chunks())
                parts.clear()
        self._held = 0
