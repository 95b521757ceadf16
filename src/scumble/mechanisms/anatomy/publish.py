"""Publishing by Anatomy: the public columns with the number of a bucket, shuffled, and beside them how often each value is in each bucket.

    rows.parquet     public columns, bucket
    values.parquet   bucket, value, count

Which record is in which bucket is drawn over all rows, so the table is held in memory in its narrow form. True values leave it in the second table
only.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import published_type
from scumble.core.errors import TableError
from scumble.core.progress import stage
from scumble.forms.buckets.record import BucketsRecord
from scumble.forms.records import TableRecord
from scumble.mechanisms.anatomy.plan import BUCKET, COUNT, Anatomy, BucketPlan, anatomize
from scumble.publishing.encode import Column, NumberColumn, PublicColumn
from scumble.publishing.row_pipeline import WORKERS, Job, Written
from scumble.publishing.shuffle import Buckets, bucket_count, scatter
from scumble.publishing.write import ShuffledFiles, file_record, parquet_writer
from scumble.release.records import ColumnRecord, FileRecord
from scumble.spec.coarsening import resolved

Chunk = tuple[int, list[pa.Array]]


def publish(job: Job) -> Written:
    """Both tables of the release."""
    (name,) = job.profile.domains
    public = [PublicColumn(n, job.spec.columns[n]) for n in job.spec.published if n != name]
    parts, codes = _read(job, name, public)
    domain = job.profile.domains[name]
    made = anatomize(codes, domain.size, job.plan_as(BucketPlan).diversity, job.coin_source.entropy.stream("anatomy"))
    columns: list[Column] = [*public, NumberColumn(BUCKET)]
    files, schema = _rows(job, columns, parts, made)
    held = made.held(name, domain.values)
    values = _values(job, held)
    records = [_record(job, column.name, schema.field(column.name).type) for column in columns]
    records += [_record(job, n, held.schema.field(n).type) for n in (name, COUNT)]
    count = int((made.bucket >= 0).sum())
    record = BucketsRecord(
        diversity=made.diversity,
        rows=TableRecord(name="rows", attributes=schema.names, rows=count, files=[file.path for file in files]),
        values=TableRecord(name="values", attributes=held.schema.names, rows=len(held), files=[values.path]),
    )
    return Written([*files, values], records, count, record)


def _read(job: Job, name: str, public: list[PublicColumn]) -> tuple[list[Chunk], npt.NDArray[Any]]:
    """The length of each batch with its public columns in their narrow form, and the true codes of all rows."""
    domain, rows = job.profile.domains[name], 0
    parts: list[Chunk] = []
    codes = []
    for batch in job.table.batches(job.spec.published):
        parts.append((batch.num_rows, [column.encode(batch.column(column.name)) for column in public]))
        codes.append(domain.encode(batch.column(name), name))
        rows += batch.num_rows
        stage(job.progress, 0, 2)(rows, job.table.rows)
    if not rows:
        raise TableError("the table has no rows, so there is nothing to publish")
    return parts, np.concatenate(codes)


def _rows(job: Job, columns: list[Column], parts: list[Chunk], made: Anatomy) -> tuple[list[FileRecord], pa.Schema]:
    """The rows that are not suppressed, with their bucket, in random order."""
    names, entropy, start = [column.name for column in columns], job.coin_source.entropy, 0
    buckets: Buckets | None = None
    for index, (length, part) in enumerate(parts):
        number = pa.array(made.bucket[start : start + length])
        batch = pa.record_batch([*part, number], names=names).filter(pc.greater_equal(number, 0))
        scattered = scatter(batch, bucket_count(len(made.bucket)), entropy.stream("bucket", index))
        buckets = buckets or Buckets(batch.schema, len(scattered), job.scratch)
        buckets.add(scattered)
        start += length
    assert buckets is not None
    with ThreadPoolExecutor(WORKERS) as pool:
        writer = ShuffledFiles(columns, buckets, entropy, job.folder, "rows")
        return writer.write(pool, stage(job.progress, 1, 2)), writer.schema()


def _values(job: Job, held: pa.Table) -> FileRecord:
    """How often each value is in each bucket, in the order of the buckets and of the domain."""
    with parquet_writer(job.folder / "values.parquet", held.schema) as writer:
        writer.write_table(held)
    return file_record(job.folder, "values.parquet", len(held))


def _record(job: Job, name: str, kind: pa.DataType) -> ColumnRecord:
    plain = str(published_type(kind))
    if name == BUCKET:
        return ColumnRecord(name=name, role="bucket", type=plain)
    if name == COUNT:
        return ColumnRecord(name=name, role="count", type=plain)
    if name in job.profile.domains:
        return ColumnRecord(name=name, role="apart", type=plain)
    rule = job.spec.columns[name].coarsen
    return ColumnRecord(name=name, role="public", type=plain, coarsened=rule and resolved(rule))
