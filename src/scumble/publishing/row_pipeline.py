"""One run over the rows of a table: read, encode, flip coins, scatter into buckets, shuffle, write.

Batches are read in order and worked on in parallel; what leaves a worker is already perturbed.
"""

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from scumble.core.arrow_types import published_type
from scumble.core.entropy import Entropy
from scumble.core.errors import SchemaError, TableError
from scumble.core.progress import Progress, stage
from scumble.forms.records import DomainRecord, FormRecord
from scumble.forms.rows.record import RowsRecord
from scumble.mechanisms.plan import Plan, Profile
from scumble.publishing.encode import Column, NumberColumn, PublicColumn, SensitiveColumn
from scumble.publishing.keyed import Ids
from scumble.publishing.perturb import Perturbation
from scumble.publishing.shuffle import Buckets, bucket_count, scatter
from scumble.publishing.write import ShuffledFiles
from scumble.release.records import ColumnRecord, FileRecord, record_of
from scumble.sources.source import Source
from scumble.spec.coarsening import resolved
from scumble.spec.spec import Spec

P = TypeVar("P", bound=Plan)

ROWS = RowsRecord()
"""Rows with coins of their own, and nothing beside."""

WORKERS = max(2, min(8, os.cpu_count() or 2))


@dataclass(frozen=True)
class CoinSource:
    """Where the coins of a publication come from."""

    entropy: Entropy
    key: bytes | None = None
    id: str | None = None
    occurrence: str | None = None
    """The column that tells the rows of a person apart, where a person may have several."""

    keyed: bool = True
    """Whether coins come from the key, where there is one; else it is for the ledger alone."""

    @property
    def by_key(self) -> bool:
        """Whether coins come from a key."""
        return self.key is not None and self.keyed

    @property
    def reading(self) -> list[str]:
        """The columns that the coins depend on beside the sensitive ones."""
        return [name for name in (self.id, self.occurrence) if name is not None] if self.keyed else []


@dataclass(frozen=True)
class Job:
    """Everything that a publisher works with."""

    table: Source
    spec: Spec
    profile: Profile
    plan: Plan
    coin_source: CoinSource
    folder: Path
    progress: Progress

    @property
    def scratch(self) -> Path:
        """Where rows wait that do not fit into memory: the private folder around the one that is written."""
        return self.folder.parent

    def plan_as(self, kind: type[P]) -> P:
        """The plan as the type of its mechanism's own."""
        assert isinstance(self.plan, kind), f"{type(self.plan).__name__} is no {kind.__name__}"
        return self.plan


@dataclass(frozen=True)
class Written:
    """What a publisher made: data files, the columns that they have, and how many rows."""

    files: list[FileRecord]
    columns: list[ColumnRecord]
    rows: int
    form: FormRecord


class RowPipeline:
    """Publishes row by row, each row through its coins."""

    def __init__(self, job: Job, perturbation: Perturbation) -> None:
        self._job = job
        self._perturbation = perturbation
        self._entropy = job.coin_source.entropy
        self._own: list[PublicColumn | SensitiveColumn] = [
            SensitiveColumn(name, job.profile.domains[name], job.plan.strata[0][name].codes is not None)
            if name in job.profile.domains
            else PublicColumn(name, job.spec.columns[name])
            for name in job.spec.published
        ]
        self._columns: list[Column] = [*self._own, *(NumberColumn(name) for name in perturbation.extra)]
        self._buckets: Buckets | None = None
        self._fingerprints: list[Any] = []
        self._salt = self._entropy.stream("ids").integers(32, 8).tobytes()

    def run(self, form: RowsRecord = ROWS) -> Written:
        """The data files and the columns that they have."""
        with ThreadPoolExecutor(WORKERS) as pool:
            rows = self._gather(pool)
            if not rows or self._buckets is None:
                raise TableError("the table has no rows, so there is nothing to publish")
            self._demand_one_row_each()
            writer = ShuffledFiles(self._columns, self._buckets, self._entropy, self._job.folder)
            files, schema = writer.write(pool, stage(self._job.progress, 1, 2)), writer.schema()
        return Written(files, [self._record(c, schema.field(c.name).type) for c in self._columns], rows, form)

    def _gather(self, pool: ThreadPoolExecutor) -> int:
        names = [column.name for column in self._own]
        reading = [*names, *(name for name in self._job.coin_source.reading if name not in names)]
        waiting: deque[Future[list[pa.RecordBatch]]] = deque()
        rows, table, progress = 0, self._job.table, stage(self._job.progress, 0, 2)
        for index, batch in enumerate(table.batches(reading)):
            arrays = {column.name: column.encode(batch.column(column.name)) for column in self._own}
            state = self._perturbation.prepare(index, _codes(arrays, self._job.profile))
            if len(waiting) > WORKERS + 1:
                self._collect(waiting.popleft().result())
            waiting.append(pool.submit(self._perturb, arrays, self._ids(batch), index, state))
            rows += batch.num_rows
            progress(rows, table.rows)
        for future in waiting:
            self._collect(future.result())
        return rows

    def _perturb(self, arrays: dict[str, pa.Array], ids: Ids | None, index: int, state: Any) -> list[pa.RecordBatch]:
        published = self._perturbation.apply(index, _codes(arrays, self._job.profile), ids, state)
        whole = arrays | {name: pa.array(codes) for name, codes in published.items()}
        batch = pa.record_batch([whole[column.name] for column in self._columns], names=[c.name for c in self._columns])
        return scatter(batch, bucket_count(self._job.table.rows), self._entropy.stream("bucket", index))

    def _collect(self, parts: list[pa.RecordBatch]) -> None:
        if self._buckets is None:
            self._buckets = Buckets(parts[0].schema, len(parts), self._job.scratch)
        self._buckets.add(parts)

    def _ids(self, batch: pa.RecordBatch) -> Ids | None:
        name, which = self._job.coin_source.id, self._job.coin_source.occurrence
        if name is None or not self._job.coin_source.keyed:
            return None
        ids = Ids.of(batch.column(name), name)
        if which is not None:
            ids = ids.row(Ids.of(batch.column(which), which))
        self._fingerprints.append(ids.fingerprints(self._salt))
        return ids

    def _demand_one_row_each(self) -> None:
        if not self._fingerprints:
            return
        every = np.concatenate(self._fingerprints)
        every.sort()
        repeated = int((every[1:] == every[:-1]).sum())
        if repeated:
            named = " and ".join(repr(name) for name in self._job.coin_source.reading)
            raise SchemaError(
                f"{repeated} rows repeat an id of {named}, and keyed coins belong to one row: aggregate the table, or name a column "
                "that tells the rows of a person apart and stays the same in every release, such as a visit's number (--occurrence, occurrence=)"
            )

    def _record(self, column: Column, kind: pa.DataType) -> ColumnRecord:
        plain = str(published_type(kind))
        if isinstance(column, NumberColumn):
            return ColumnRecord(name=column.name, role="stratum", type=plain)
        if isinstance(column, PublicColumn):
            rule = self._job.spec.columns[column.name].coarsen
            return ColumnRecord(name=column.name, role="public", type=plain, coarsened=rule and resolved(rule))
        records = [record_of(stratum[column.name]) for stratum in self._job.plan.strata]
        return ColumnRecord(
            name=column.name,
            role="sensitive",
            type=plain,
            domain=DomainRecord.of(column.domain, column.name in self._job.profile.from_data, coded=column.coded),
            channel=records[0] if len(records) == 1 else None,
            channels=records if len(records) > 1 else None,
        )


def _codes(arrays: dict[str, pa.Array], profile: Profile) -> dict[str, Any]:
    return {name: arrays[name].to_numpy() for name in profile.domains}
