"""Publishing: the only module that sees raw rows and randomness together.

    read -> encode -> flip coins -> scatter into buckets -> shuffle -> write -> hash -> rename

Batches are read in order and worked on in parallel; what leaves a worker is already perturbed. The release is written into a
folder aside and renamed at the end: it is whole or it is not there.
"""

import base64
import hashlib
import itertools
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from scumble import __version__
from scumble.entropy import Entropy
from scumble.errors import ReleaseError, SchemaError, TableError
from scumble.keyed import Ids, KeyedCoins
from scumble.mechanisms import Plan, Profile
from scumble.mechanisms import plan as make_plan
from scumble.privacy.guarantee import NOT_COVERED
from scumble.release.encode import Column, PublicColumn, SensitiveColumn, decode_table, is_text, published_type
from scumble.release.manifest import (
    NAME,
    ChannelRecord,
    ColumnRecord,
    DomainRecord,
    FileRecord,
    Manifest,
    Randomness,
)
from scumble.release.readme import readme
from scumble.release.shuffle import Buckets, bucket_count, scatter
from scumble.schema import Spec
from scumble.tables import Table

PART_ROWS = 4_000_000
"""Rows of a data file, about: larger releases have several, written side by side."""

WORKERS = max(2, min(8, os.cpu_count() or 2))

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Coinage:
    """Where the coins of this publication come from."""

    entropy: Entropy
    key: bytes | None = None
    id: str | None = None


def profile(table: Table, spec: Spec) -> Profile:
    """The domains of the sensitive columns: declared, or read off the table where the spec says so."""
    kinds = {name: published_type(table.schema.field(name).type) for name in spec.sensitive}
    unknown = [name for name in spec.sensitive if not spec.columns[name].has_domain]
    for name in unknown:
        if not spec.columns[name].from_data:
            raise SchemaError(
                f"column {name!r} has no domain; declare its values in the spec (or domains=), "
                "or take them from the data with --domain-from-data, which the manifest will say"
            )
    seen = distinct_values(table, unknown) if unknown else {}
    filled = {name: spec.columns[name].model_copy(update={"values": values}) for name, values in seen.items()}
    domains = {name: filled.get(name, spec.columns[name]).domain(name, kinds[name]) for name in spec.sensitive}
    return Profile(domains, [name for name in spec.sensitive if spec.columns[name].from_data])


def distinct_values(table: Table, names: list[str]) -> dict[str, list[Any]]:
    """The values that occur, sorted, a missing one last."""
    seen: dict[str, set[Any]] = {name: set() for name in names}
    for batch in table.batches(names):
        for name in names:
            column = batch.column(name)
            seen[name].update(
                (column.dictionary if pa.types.is_dictionary(column.type) else column.unique()).to_pylist()
            )
            if column.null_count:
                seen[name].add(None)
            if len(seen[name]) > 100_000:
                raise SchemaError(
                    f"column {name!r} has over 100,000 different values; declare its domain (a grid for numbers)"
                )
    if not any(seen.values()):
        raise TableError("the table has no rows, so there is nothing to publish")
    return {
        name: sorted(v for v in values if v is not None) + [None] * (None in values) for name, values in seen.items()
    }


def publish_table(
    table: Table, spec: Spec, out: Path, coinage: Coinage, *, overwrite: bool = False, progress: Progress | None = None
) -> Plan:
    """Publishes a table into the folder `out` and returns the plan that it followed."""
    spec = spec.for_schema(table.schema)
    demand_free(out, overwrite)
    found = profile(table, spec)
    plan = make_plan(found, spec)
    with staging(out, overwrite) as folder:
        press = Press(table, spec, found, plan, coinage, folder, progress or (lambda done, of: None))
        files, columns, rows = press.run()
        manifest = Manifest(
            software=f"scumble {__version__}",
            mechanism=plan.mechanism,
            rows=rows,
            columns=columns,
            guarantees=plan.guarantees,
            not_covered=NOT_COVERED,
            depends_on_data=plan.depends_on_data,
            randomness=_randomness(coinage),
            files=files,
        )
        (folder / "README.md").write_text(readme(manifest), encoding="utf-8")
        whole = manifest.model_copy(update={"files": [file_record(folder, "README.md", None), *files]})
        (folder / NAME).write_text(whole.text(), encoding="utf-8")
    return plan


class Press:
    """One run over the table."""

    def __init__(
        self, table: Table, spec: Spec, found: Profile, plan: Plan, coinage: Coinage, folder: Path, progress: Progress
    ) -> None:
        self._table = table
        self._coinage = coinage
        self._folder = folder
        self._progress = progress
        self._plan = plan
        self._found = found
        self._spec = spec
        self._columns: list[Column] = [
            SensitiveColumn(name, found.domains[name], self._perturbation(name))
            if name in plan.coins
            else PublicColumn(name, spec.columns[name])
            for name in spec.published
        ]
        self._buckets: Buckets | None = None
        self._fingerprints: list[Any] = []
        self._salt = coinage.entropy.stream("ids").integers(32, 8).tobytes()

    def run(self) -> tuple[list[FileRecord], list[ColumnRecord], int]:
        """The data files and the columns that they have."""
        with ThreadPoolExecutor(WORKERS) as pool:
            rows = self._gather(pool)
            if not rows or self._buckets is None:
                raise TableError("the table has no rows, so there is nothing to publish")
            self._demand_one_row_each()
            self._buckets.finish()
            sample = decode_table(self._columns, self._buckets.schema.empty_table())
            files = list(pool.map(self._write_part, *zip(*self._parts(rows), strict=True)))
        return files, [self._record(column, sample.schema.field(column.name).type) for column in self._columns], rows

    def _gather(self, pool: ThreadPoolExecutor) -> int:
        names = [column.name for column in self._columns]
        reading = names if self._coinage.id is None or self._coinage.id in names else [*names, self._coinage.id]
        waiting: deque[Future[list[pa.RecordBatch]]] = deque()
        rows = 0
        for index, batch in enumerate(self._table.batches(reading)):
            narrow = pa.record_batch([c.encode(batch.column(c.name)) for c in self._columns], names=names)
            if self._buckets is None:
                self._buckets = Buckets(narrow.schema, bucket_count(self._table.rows), self._folder)
            ids = self._ids(batch)
            waiting.append(pool.submit(self._perturb, narrow, ids, index, len(self._buckets)))
            if len(waiting) > WORKERS + 1:
                self._buckets.add(waiting.popleft().result())
            rows += batch.num_rows
            self._progress(rows, self._table.rows)
        for future in waiting:
            self._buckets.add(future.result())  # type: ignore[union-attr]  # a batch waits, so there are buckets
        return rows

    def _ids(self, batch: pa.RecordBatch) -> Ids | None:
        if self._coinage.id is None:
            return None
        ids = Ids.of(batch.column(self._coinage.id), self._coinage.id)
        self._fingerprints.append(ids.fingerprints(self._salt))
        return ids

    def _demand_one_row_each(self) -> None:
        if not self._fingerprints:
            return
        every = np.concatenate(self._fingerprints)
        every.sort()
        repeated = int((every[1:] == every[:-1]).sum())
        if repeated:
            raise SchemaError(
                f"{repeated} rows repeat an id of {self._coinage.id!r}; keyed coins need one row a person: "
                "aggregate the table, or use an id of the row"
            )

    def _perturbation(self, name: str) -> Callable[[Any, Any], Any]:
        coins = self._plan.coins[name]
        if self._coinage.key is None:
            return coins.flip
        return KeyedCoins(self._coinage.key, name, self._found.domains[name], coins).flip

    def _perturb(self, batch: pa.RecordBatch, ids: Ids | None, index: int, buckets: int) -> list[pa.RecordBatch]:
        arrays = list(batch.columns)
        for place, column in enumerate(self._columns):
            if isinstance(column, SensitiveColumn):
                source = ids if ids is not None else self._coinage.entropy.stream("coins", column.name, index)
                arrays[place] = pa.array(column.perturb(arrays[place].to_numpy(), source))
        published = pa.record_batch(arrays, schema=batch.schema)
        return scatter(published, buckets, self._coinage.entropy.stream("bucket", index))

    def _parts(self, rows: int) -> list[tuple[str, range]]:
        buckets = len(self._buckets or ())
        count = min(buckets, 1 << (rows // PART_ROWS).bit_length())
        if count == 1:
            return [("data.parquet", range(buckets))]
        (self._folder / "data").mkdir()
        edges = [round(i * buckets / count) for i in range(count + 1)]
        return [(f"data/part-{i:03d}.parquet", range(a, b)) for i, (a, b) in enumerate(itertools.pairwise(edges))]

    def _write_part(self, path: str, buckets: range) -> FileRecord:
        writer: pq.ParquetWriter | None = None
        rows = 0
        for index in buckets:
            shuffled = self._buckets.shuffled(index, self._coinage.entropy.stream("order", index))  # type: ignore[union-attr]
            table = decode_table(self._columns, shuffled)
            if writer is None:
                writer = _writer(self._folder / path, table.schema)
            writer.write_table(table, row_group_size=1 << 20)
            rows += table.num_rows
        if writer is not None:
            writer.close()
        return file_record(self._folder, path, rows)

    def _record(self, column: Column, kind: pa.DataType) -> ColumnRecord:
        plain = str(published_type(kind))
        if isinstance(column, PublicColumn):
            return ColumnRecord(
                name=column.name, role="public", type=plain, coarsened=self._spec.columns[column.name].coarsen
            )
        return ColumnRecord(
            name=column.name,
            role="sensitive",
            type=plain,
            domain=DomainRecord.of(column.domain, column.name in self._found.from_data),
            channel=ChannelRecord.of(self._plan.coins[column.name]),
        )


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """No statistics (a shuffled table cannot use them), no pandas index, no path: of metadata only the types that came in."""
    worth = [f.name for f in schema if not pa.types.is_floating(f.type) and not is_text(f.type)]
    writer = pq.ParquetWriter(
        path, schema, compression="snappy", use_dictionary=worth, write_statistics=False, store_schema=False
    )
    plain = pa.schema([pa.field(f.name, published_type(f.type)) for f in schema])
    writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(plain.serialize().to_pybytes()).decode()})
    return writer


def file_record(folder: Path, path: str, rows: int | None) -> FileRecord:
    """A file's size and hash."""
    with (folder / path).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileRecord(path=path, sha256=digest, bytes=(folder / path).stat().st_size, rows=rows)


def _randomness(coinage: Coinage) -> Randomness:
    keyed = coinage.key is not None
    if coinage.entropy.secure:
        return Randomness(source="operating system, AES-256-CTR", secure=True, keyed=keyed)
    return Randomness(source="seeded: INSECURE, for tests only", secure=False, keyed=keyed)


def demand_free(out: Path, overwrite: bool) -> None:
    """An existing folder is kept, unless it is a release and the caller said so."""
    if not out.exists():
        if not out.absolute().parent.is_dir():
            raise ReleaseError(f"there is no folder {str(out.absolute().parent)!r} to write the release into")
        return
    if not overwrite:
        raise ReleaseError(f"{str(out)!r} exists and is kept; choose another name, or say --overwrite")
    if not (out / NAME).exists():
        raise ReleaseError(f"{str(out)!r} exists and is not a release, so it is kept; choose another name")


@contextmanager
def staging(out: Path, overwrite: bool) -> Iterator[Path]:
    """A folder beside `out` that takes its name when all went well and is gone when not."""
    folder = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.absolute().parent))
    try:
        yield folder
        folder.chmod(0o755)
        if overwrite and out.exists():
            shutil.rmtree(out)
        folder.rename(out)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
