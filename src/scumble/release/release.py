"""A release, opened: its manifest, its table, and the answers it gives. Nothing here needs a secret."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from scumble.channel import Channel
from scumble.engines.engine import TABLE, Engine
from scumble.errors import ReleaseError
from scumble.estimate import Estimates
from scumble.query.compile import Published
from scumble.release.manifest import FileRecord, Manifest, read_manifest


class Release:
    """A published table that answers questions."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    def query(self, sql: str, *, level: Any = 0.95, method: str = "unbiased") -> Estimates:
        """The answer to a SELECT over the table `release`, each aggregate with its standard error and interval.

        level   how often an interval holds the truth
        method  "unbiased", or "likelihood": the non-negative estimate that explains the published rows best
        """
        from scumble.query.answer import ask

        return ask(sql, self.published, self.engine, level, method)

    def table(self) -> pa.Table:
        """The published rows."""
        return pa.concat_tables([pq.read_table(self.path / path) for path in self.manifest.data])

    def unique_rows(self) -> int:
        """How many rows are alone with the values of their public columns, and so can be singled out by them."""
        columns = [exp.column(name, quoted=True) for name in self.manifest.public]
        if not columns:
            return int(self.manifest.rows == 1)
        alone = exp.select("1").from_(TABLE).group_by(*columns).having("COUNT(*) = 1")
        counted = self.engine.run(exp.select("COUNT(*) AS n").from_(alone.subquery("alone")))
        return int(counted.column("n")[0].as_py())

    @cached_property
    def engine(self) -> Engine:
        """What runs statements over the published rows."""
        from scumble.engines.duckdb import DuckDB

        return DuckDB([self.path / path for path in self.manifest.data])

    @cached_property
    def strata(self) -> list[dict[str, Channel]]:
        """The channel of each perturbed column, for each stratum."""
        own = [c.name for c in self.manifest.columns if any(record.replace == "published" for record in c.records)]
        counts = {name: self.published_counts(name).sum(axis=0) for name in own}
        return self.manifest.strata_with({name: each / each.sum() for name, each in counts.items()})

    def published_counts(self, name: str) -> npt.NDArray[np.int64]:
        """How often each value of a perturbed column is published, in each stratum."""
        domain, stratum = self.manifest.domains[name], self.manifest.role("stratum")
        column = self.manifest.column(name)
        keys = [exp.column(name, quoted=True).as_("y")]
        keys.append(exp.column(stratum, quoted=True).as_("z") if stratum else exp.Literal.number(0).as_("z"))
        lines = self.engine.run(exp.select(*keys, exp.Count(this=exp.Star()).as_("n")).from_(TABLE).group_by("1", "2"))
        codes = domain.encode(lines.column("y").combine_chunks(), name)
        counts = np.zeros((len(column.records) if column else 1, domain.size), dtype=np.int64)
        places = lines.column("z").combine_chunks().to_numpy(zero_copy_only=False).astype(np.intp)
        counts[places, codes] = lines.column("n").combine_chunks().cast(pa.int64()).to_numpy(zero_copy_only=False)
        return counts

    @cached_property
    def published(self) -> Published:
        """What the query layer has to know of it."""
        manifest = self.manifest
        names = [column.name for column in manifest.columns]
        return Published(names, manifest.domains, self.strata, manifest.role("stratum"), manifest.role("weight"))

    def __repr__(self) -> str:
        perturbed = ", ".join(self.manifest.sensitive)
        return f"<Release {self.path.name}: {self.manifest.rows:,} rows, {self.manifest.mechanism}, perturbed: {perturbed}>"


def open_release(path: str | Path) -> Release:
    """The release in a folder; its manifest and every file are checked against their hashes."""
    folder = Path(path)
    manifest = read_manifest(folder)
    with ThreadPoolExecutor() as pool:
        for problem in pool.map(lambda file: changed(folder, file), manifest.files):
            if problem:
                raise ReleaseError(problem)
    return Release(folder, manifest)


def changed(folder: Path, file: FileRecord) -> str | None:
    """What is wrong with a file, if anything."""
    path = folder / file.path
    again = "get the release again from its publisher"
    if not path.is_file():
        return f"{file.path} is missing from {folder.name!r}; {again}"
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    return (
        None if digest == file.sha256 else f"{file.path} of {folder.name!r} was changed after it was written; {again}"
    )
