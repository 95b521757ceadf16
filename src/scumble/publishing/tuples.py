"""The tuples of a table as they would be published, and how often each occurs.

Values are recoded on the way, by the spec's rules and to the declared domains; what no rule has a place for is refused by name. A Parquet
table that needs no recoding is counted where it lies.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.arrow_types import decoded, in_calendar, one_zero, published_type
from scumble.core.domain import Domain
from scumble.core.errors import InputError, ParameterError, SchemaError
from scumble.engines.duckdb.counting import COUNT, count_tuples
from scumble.forms.records import DomainRecord
from scumble.publishing.row_pipeline import Job
from scumble.release.records import ColumnRecord
from scumble.sources.parquet import ParquetSource
from scumble.spec.coarsening import coarsen, resolved

Counts = npt.NDArray[np.int64]
Mask = Callable[[int, pa.RecordBatch], pa.Array | None]
"""Which rows of the batch that begins at a row number are counted; None: all."""


class Recoder:
    """A table's columns in the form in which they are published."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.kinds = {name: self.column(name, job.table.schema.field(name).type).type for name in job.spec.published}

    @property
    def recodes(self) -> bool:
        """Whether any value may change, or has to be looked at."""
        columns = self._job.spec.columns
        canonical = any(
            pa.types.is_floating(kind) or pa.types.is_temporal(kind) for kind in self.kinds.values()
        )  # bits are made those of the value, and dates are of a calendar
        return canonical or any(columns[n].coarsen is not None or n in self._job.profile.domains for n in self.kinds)

    def column(self, name: str, values: pa.Array | pa.DataType) -> pa.Array:
        """Some values of a column, or none of a type."""
        column = pa.array([], values) if isinstance(values, pa.DataType) else values
        column = decoded(column)
        if pa.types.is_nested(column.type):
            raise SchemaError(
                f"column {name!r} is of type {column.type}, which has no order; drop it, or take it apart"
            )
        rule = self._job.spec.columns[name].coarsen
        if rule is not None:
            column = coarsen(column, rule, name)
        domain = self._job.profile.domains.get(name)
        if domain is not None:
            return domain.values.take(pa.array(domain.encode(column, name)))
        return one_zero(in_calendar(column.cast(published_type(column.type))))

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """All its columns."""
        names = batch.schema.names
        return pa.record_batch([self.column(n, batch.column(n)) for n in names], names=names)

    def records(self, names: Sequence[str]) -> list[ColumnRecord]:
        """What the manifest says of columns."""
        rules = {name: self._job.spec.columns[name].coarsen for name in names}
        return [
            ColumnRecord(name=n, role="counted", type=str(self.kinds[n]), coarsened=rule and resolved(rule))
            for n, rule in rules.items()
        ]

    def declared(self, names: Sequence[str]) -> dict[str, DomainRecord] | None:
        """The domains of columns of numbers that were declared, and not read off the data."""
        profile = self._job.profile
        known = [name for name in names if name in profile.domains and name not in profile.from_data]
        numbers = [n for n in known if pa.types.is_integer(self.kinds[n]) or pa.types.is_floating(self.kinds[n])]
        return {name: DomainRecord.of(profile.domains[name], False) for name in numbers} or None


def counted(
    job: Job, recoder: Recoder, names: Sequence[str], least: int, mask: Mask | None = None, reading: Sequence[str] = ()
) -> tuple[pa.Table, Counts]:
    """The tuples of the named columns that occur at least that often, in sorted order, and their counts."""
    if isinstance(job.table, ParquetSource) and not recoder.recodes and mask is None:
        counted = count_tuples(job.table.files, names, least)
    else:
        counted = _streamed(job, recoder, names, least, mask, reading or names)
    order = [(name, "ascending") for name in names]
    counted = counted.sort_by(order) if len(counted) else counted
    tuples = pa.table({n: counted.column(n).cast(recoder.kinds[n]) for n in names})
    return tuples, counted.column(COUNT).to_numpy().astype(np.int64)


def _streamed(
    job: Job, recoder: Recoder, names: Sequence[str], least: int, mask: Mask | None, reading: Sequence[str]
) -> pa.Table:
    failed: list[Exception] = []

    def recoded() -> Iterator[pa.RecordBatch]:
        try:
            start = 0
            for batch in job.table.batches(list(reading)):
                chosen = None if mask is None else mask(start, batch)
                start += batch.num_rows
                job.progress(start, job.table.rows)
                part = recoder.batch(batch.select(list(names)))
                yield part if chosen is None else part.filter(chosen)
        except Exception as error:  # it passes through the engine, which would keep its text only
            failed.append(error)
            raise

    schema = pa.schema([pa.field(name, recoder.kinds[name]) for name in names])
    try:
        return count_tuples(pa.RecordBatchReader.from_batches(schema, recoded()), names, least)
    except InputError:
        if failed:
            raise failed[0] from None
        raise


def shown_of(counts: Counts, domains: Mapping[str, Domain]) -> tuple[pa.Table, Counts]:
    """Of all tuples of some domains, in the order of their codes, those that are published, and how often each is."""
    kept = np.flatnonzero(counts)
    codes = np.unravel_index(kept, tuple(domain.size for domain in domains.values()))
    values = {n: d.values.take(pa.array(c)) for (n, d), c in zip(domains.items(), codes, strict=True)}
    return pa.table(values), counts[kept]


def demand_total(job: Job, total: int | None, rows: int | None = None) -> None:
    """A stated total is the true one: a wrong one would make wrong bounds."""
    if total is None:
        return
    if rows is None:
        rows = job.table.rows
    if rows is None:
        name = job.table.schema.names[0]
        rows = sum(batch.num_rows for batch in job.table.batches([name]))
    if rows != total:
        raise ParameterError(
            f"total says that there are {total:,} tuples, and the table has {rows:,}; correct it or leave it out"
        )
