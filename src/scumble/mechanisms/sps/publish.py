"""Publishing by counts: what happens to the records of a personal group is drawn as a few numbers, so cost follows groups x values.

    GROUP BY -> (merge public values) -> sizes -> sample -> perturb -> rows with weights, or duplicates -> shuffle

The sample is published once, each row with the weight n/s of its group. With duplicates a row stands n/s times instead, rounded
down or up so that a group has its n rows again, and the column `copies` says how often, so that intervals count sampled rows.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.arrow_types import published_type
from scumble.core.channel import replacement_of
from scumble.core.draws import hypergeometric_split, perturb
from scumble.core.errors import SchemaError
from scumble.core.progress import stage
from scumble.forms.records import DomainRecord
from scumble.forms.rows.record import RowsRecord, SamplingRecord
from scumble.mechanisms.sps.personal_groups import Counts, PersonalGroups
from scumble.mechanisms.sps.plan import SamplePlan
from scumble.mechanisms.sps.samples import samples_of
from scumble.mechanisms.sps.sampling import rounded_split
from scumble.mechanisms.sps.settings import Settings
from scumble.mechanisms.sps.sizes import Sampling
from scumble.publishing.encode import Column, NumberColumn, PublicColumn, SensitiveColumn
from scumble.publishing.row_pipeline import WORKERS, Job, Written
from scumble.publishing.shuffle import Buckets, bucket_count, scatter
from scumble.publishing.write import ShuffledFiles
from scumble.release.records import ChannelRecord, ColumnRecord, MergedRecord
from scumble.spec.coarsening import resolved
from scumble.spec.spec import ColumnSpec

AS_IT_IS = ColumnSpec.model_validate({"role": "public"})

ROWS = 1 << 19
"""Published rows of a batch, about."""


def publish(job: Job) -> Written:
    """The whole publication of an sps plan."""
    plan = job.plan_as(SamplePlan)
    settings, sampling = plan.settings, plan.sampling
    added = "copies" if settings.duplicates else "weight"
    _demand_possible(job, added)
    ((name, domain),) = job.profile.domains.items()
    samples = samples_of(job.table, job.spec, job.profile, plan)
    columns: list[Column] = [
        SensitiveColumn(n, domain) if n == name else PublicColumn(n, AS_IT_IS) for n in job.spec.published
    ]
    columns.append(NumberColumn(added))
    buckets = _fill(job, samples.groups, samples.sizes, settings, columns)
    with ThreadPoolExecutor(WORKERS) as pool:
        writer = ShuffledFiles(columns, buckets, job.coin_source.entropy, job.folder)
        files, schema = writer.write(pool, stage(job.progress, 1, 2)), writer.schema()
    records = [_record(job, column, schema.field(column.name).type, samples.merged) for column in columns]
    return Written(files, records, int(buckets.rows.sum()), RowsRecord(sampling=_sampling_record(sampling)))


def _demand_possible(job: Job, added: str) -> None:
    if added in job.spec.published:
        raise SchemaError(f"the release gets a column {added!r} of its own; rename or drop the table's {added!r}")


def _fill(job: Job, groups: PersonalGroups, sizes: Counts, settings: Settings, columns: list[Column]) -> Buckets:
    """Draws the counts of every group and puts their rows into buckets."""
    encoded = {
        c.name: c.encode(groups.keys.column(c.name).combine_chunks()) for c in columns if isinstance(c, PublicColumn)
    }
    size, entropy, (coins,) = groups.size, job.coin_source.entropy, job.plan.coins.values()
    retain = float(replacement_of(coins.channel()).retain)
    count = bucket_count(int((size if settings.duplicates else sizes).sum()))
    buckets: Buckets | None = None
    done = 0
    for start, counts in groups.chunks():
        stream = entropy.stream("sps", start)
        part = slice(start, start + len(counts))
        drawn = perturb(stream, rounded_split(stream, counts, sizes[part]), retain)
        for number, (group, code, factor) in enumerate(
            _rows(drawn, size[part], sizes[part], settings.duplicates, stream)
        ):
            arrays = [_column(column, encoded, pa.array(group + start), code, factor) for column in columns]
            batch = pa.record_batch(arrays, names=[column.name for column in columns])
            parts = scatter(batch, count, entropy.stream("bucket", start, number))
            buckets = buckets or Buckets(parts[0].schema, len(parts), job.scratch)
            buckets.add(parts)
        done += int(size[part].sum())
        stage(job.progress, 0, 2)(done, int(size.sum()))
    assert buckets is not None
    return buckets


def _column(column: Column, encoded: dict[str, pa.Array], group: pa.Array, code: Any, factor: Any) -> pa.Array:
    if isinstance(column, PublicColumn):
        return encoded[column.name].take(group)
    if isinstance(column, SensitiveColumn):
        return pa.array(code.astype(column.domain.code_type))
    return pa.array(factor)


Rows = tuple[Counts, Counts, npt.NDArray[Any]]


def _rows(drawn: Counts, size: Counts, sizes: Counts, duplicates: bool, stream: Any) -> Iterator[Rows]:
    """Group, code and weight (or copies) of published rows, in batches of groups."""
    for part in _batches(size if duplicates else sizes):
        if duplicates:
            yield _duplicated(drawn[part], size[part], sizes[part], part.start, stream)
        else:
            group, code = np.nonzero(drawn[part])
            times = drawn[part][group, code]
            weight = size[part] / sizes[part]
            yield np.repeat(group + part.start, times), np.repeat(code, times), np.repeat(weight[group], times)


def _duplicated(drawn: Counts, size: Counts, sizes: Counts, start: int, stream: Any) -> Rows:
    """Of s sampled rows n mod s, chosen at random, stand once more than the others."""
    whole, rest = np.divmod(size, sizes)
    more = hypergeometric_split(stream, drawn, rest)
    rows: list[Rows] = []
    for chosen, copies in ((drawn - more, whole), (more, whole + 1)):
        group, code = np.nonzero(chosen)
        times = chosen[group, code] * copies[group]
        rows.append((np.repeat(group + start, times), np.repeat(code, times), np.repeat(copies[group], times)))
    first, second, third = (np.concatenate(arrays) for arrays in zip(*rows, strict=True))
    return first, second, third


def _batches(rows: Counts) -> Iterator[slice]:
    """Runs of groups that have about ROWS rows together."""
    ends = np.cumsum(rows)
    start = 0
    while start < len(rows):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + ROWS, side="right")))
        yield slice(start, stop)
        start = stop


def _record(job: Job, column: Column, kind: pa.DataType, merged: dict[str, list[MergedRecord]]) -> ColumnRecord:
    plain = str(published_type(kind))
    if isinstance(column, NumberColumn):
        return ColumnRecord(name=column.name, role="copies" if column.name == "copies" else "weight", type=plain)
    if isinstance(column, PublicColumn):
        rule = job.spec.columns[column.name].coarsen
        how = rule and resolved(rule)
        return ColumnRecord(name=column.name, role="public", type=plain, coarsened=how, merged=merged.get(column.name))
    domain = DomainRecord.of(column.domain, column.name in job.profile.from_data)
    channel = ChannelRecord.of(job.plan.replacing[column.name])
    return ColumnRecord(name=column.name, role="sensitive", type=plain, domain=domain, channel=channel)


def _sampling_record(sampling: Sampling) -> SamplingRecord:
    return SamplingRecord(**sampling.model_dump(include=set(SamplingRecord.model_fields)))
