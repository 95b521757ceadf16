"""A release, opened: its manifest, its table, and the answers it gives. Nothing here needs a secret."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from scumble.core.channel import Channel
from scumble.core.display import Card, Shown
from scumble.core.errors import ChangedRelease, ParameterError, ReleaseError
from scumble.engines.duckdb.engine import DuckDB
from scumble.engines.engine import TABLE, Engine
from scumble.engines.sql import rows_drawn
from scumble.forms.tuples.opened import counted_release
from scumble.forms.tuples.totals import CountedRelease, ask_counts
from scumble.query.answer import ask
from scumble.query.coarse import Coarse, ask_coarse
from scumble.query.compile import Published
from scumble.query.estimates import Estimates
from scumble.release import describe
from scumble.release.manifest import Manifest, read_manifest
from scumble.release.records import FileRecord, number_ends, representative


class Release(Shown):
    """A published table that answers questions."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    def query(self, sql: str, *, level: Any = 0.95, method: str = "unbiased") -> Estimates:
        """The answer to a SELECT over the table `release`, each aggregate with its standard error and interval.

        level   how often an interval holds the truth
        method  "unbiased", or "likelihood": the non-negative estimate that explains the published rows best
        """
        merged = {c.name: ends for c in self.manifest.columns if c.merged and (ends := number_ends(c.merged))}
        return ask_coarse(sql, self._asked, self.coarse, partial(self._ask, level=level, method=method), merged)

    def _ask(self, sql: str, level: Any, method: str) -> Estimates:
        if self.manifest.counted is not None:
            return self._count(sql, level, method)
        if self.manifest.joint:
            from scumble.forms.rows.joint import ask_joint

            return ask_joint(sql, self.published, self.engine, level, method)
        return ask(sql, self.published, self.engine, level, method)

    @property
    def _asked(self) -> list[str]:
        """The columns that a question may name: of groups, those that they are made of."""
        return list(dict.fromkeys(column.of or column.name for column in self.manifest.columns))

    @cached_property
    def coarse(self) -> dict[str, Coarse]:
        """The columns whose values stand for several of the table."""
        named = {column.of or column.name: column for column in self.manifest.columns}
        return {name: Coarse(name, c.coarsened, c.type) for name, c in named.items() if c.coarsened is not None}

    def _count(self, sql: str, level: Any, method: str) -> Estimates:
        assert self.manifest.counted is not None
        baselines = {
            "anatomy": self._ask_anatomy,
            "generalized": self._ask_generalized,
            "alpha_beta": self._ask_alpha_beta,
        }
        baseline = baselines.get(self.manifest.counted.matrix)
        if method != "unbiased":
            told = "counted tuples" if baseline is None else self.manifest.mechanism
            raise ParameterError(f"a release of {told} is asked by the method unbiased, not by {method!r}")
        return ask_counts(sql, self._counted, level) if baseline is None else baseline(sql, level)

    @cached_property
    def _counted(self) -> CountedRelease:
        return counted_release(self.path, self.manifest)

    def _ask_anatomy(self, sql: str, level: Any) -> Estimates:
        from scumble.forms.buckets.totals import ask_anatomy

        return ask_anatomy(sql, self._buckets, level)

    @cached_property
    def _buckets(self) -> Any:
        from scumble.engines.duckdb.buckets import Buckets

        rows, values = (self.counted_files(name) for name in ("rows", "values"))
        return Buckets(rows, values, [*self.manifest.public, str(self.manifest.role("apart"))])

    def _ask_generalized(self, sql: str, level: Any) -> Estimates:
        from scumble.forms.boxes.opened import boxes_of
        from scumble.forms.boxes.totals import ask_generalized

        return ask_generalized(sql, boxes_of(self.path, self.manifest), level)

    def _ask_alpha_beta(self, sql: str, level: Any) -> Estimates:
        from scumble.forms.tuple_set.totals import ask_alpha_beta

        record = self.manifest.counted
        if record is None or record.alpha is None or record.beta is None:
            raise ReleaseError("the manifest does not say alpha and beta; get the release again from its publisher")
        kinds = {column.name: column.type for column in self.manifest.columns}
        domains = {name: each.domain(kinds[name]) for name, each in (record.domains or {}).items()}
        return ask_alpha_beta(sql, domains, record.alpha, record.beta, self.engine, level)

    def counted_files(self, name: str) -> list[Path]:
        """The files of one of several tables."""
        tables = self.manifest.counted.tables if self.manifest.counted is not None else None
        found = {table.name: table for table in tables or ()}
        return [self.path / path for path in found[name].files]

    def table(self, name: str | None = None, *, words: bool = False) -> pa.Table:
        """The published rows; of a release with several tables, those of the one that is named. With `words`, text is left as places of words, in less memory."""
        tables = self.manifest.counted.tables if self.manifest.counted is not None else None
        if tables is not None:
            found = {table.name: table for table in tables}
            if name not in found:
                told = f"there is no table {name!r} in it" if name else "it has several tables"
                raise ReleaseError(f"{told}; name one of {', '.join(found)}")
            return self._rows(found[name].files, words)
        return self._rows(self.manifest.data, words)

    def _rows(self, files: list[str], words: bool) -> pa.Table:
        if not words:
            return pa.concat_tables([pq.read_table(self.path / file) for file in files])
        fields = pq.read_schema(self.path / files[0])
        text = [field.name for field in fields if pa.types.is_string(field.type)]
        return pa.concat_tables([pq.read_table(self.path / file, read_dictionary=text) for file in files])

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
        return self._make_engine()

    def _make_engine(self) -> Engine:
        return DuckDB([self.path / path for path in self.manifest.rows_in])

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
        drawn = rows_drawn(self.manifest.role("copies")).as_("n")
        lines = self.engine.run(exp.select(*keys, drawn).from_(TABLE).group_by("1", "2"))
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
        return Published(
            names,
            manifest.domains,
            self.strata,
            manifest.role("stratum"),
            manifest.role("weight"),
            manifest.role("copies"),
            manifest.sampling.least if manifest.sampling is not None else None,
            {c.name: partial(representative, c.merged) for c in manifest.columns if c.merged},
            whole=manifest.rows if any(r.replace == "published" for c in manifest.columns for r in c.records) else 0,
            permuted=manifest.mechanism == "swapped",
        )

    def card(self) -> Card:
        """Its columns, what is guaranteed, and the fine print."""
        told = describe.summary(self.path.name, self.manifest)
        return Card(told.title, [*told.parts, *describe.merged(self.manifest), *describe.fine_print(self.manifest)])

    def __str__(self) -> str:
        return self.card().text()

    def __repr__(self) -> str:
        perturbed = ", ".join(self.manifest.sensitive) or "nothing, tuples are counted"
        return f"<Release {self.path.name}: {self.manifest.rows:,} rows, {self.manifest.mechanism}, perturbed: {perturbed}>"


def open_release(path: str | Path) -> Release:
    """The release in a folder; its manifest and every file are checked against their hashes."""
    folder = Path(path)
    manifest = read_manifest(folder)
    with ThreadPoolExecutor() as pool:
        for problem in pool.map(lambda file: changed(folder, file), manifest.files):
            if problem:
                raise ChangedRelease(problem)
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
