"""A release, opened: its manifest, its table, and the answers it gives. Nothing here needs a secret."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from scumble.core.arrow_types import named_type
from scumble.core.atomic import complete
from scumble.core.channel_base import BaseChannel
from scumble.core.deferred import deferred
from scumble.core.display import Card, Shown
from scumble.core.domain import Domain
from scumble.core.errors import ChangedRelease, ReleaseError
from scumble.core.memory import memory_of, within_given
from scumble.core.once import once
from scumble.core.readable import readable
from scumble.core.stopping import Running, running, seconds_of
from scumble.engines import demand_engine, open_engine
from scumble.engines.engine import TABLE, Engine
from scumble.engines.expressions import column as exp_column
from scumble.engines.expressions import number, select
from scumble.engines.lone_rows import lone_rows
from scumble.engines.sql import rows_drawn
from scumble.forms import find_form
from scumble.forms.files import table_of
from scumble.forms.form import PART, Form
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.facts import Terms
from scumble.query.ask import ask, demand_text
from scumble.query.borrowing import borrowing_of
from scumble.query.coarse import Coarse
from scumble.query.compile import Published
from scumble.query.estimates import Estimates
from scumble.query.form_answer import Answer
from scumble.query.gated import gated
from scumble.query.model import Query
from scumble.query.rewrites import Recoding
from scumble.release import describe
from scumble.release.check import Check
from scumble.release.code_lists import code_lists
from scumble.release.gate import AGAIN, demand_described
from scumble.release.handles import Handles
from scumble.release.manifest import Manifest, read_manifest
from scumble.release.recoding import coarse_columns, recoding_of
from scumble.release.records import FileRecord
from scumble.release.terms import compared, terms_of
from scumble.sources.address import is_url

TRIES = 100
"""How often a release is opened anew that was replaced meanwhile."""

open_database = deferred("scumble.release.database", "open_database")
"""What opens one that lives in a database."""

DOUBTFUL = "DO NOT TRUST this release, its manifest claims what does not follow from it:"

if TYPE_CHECKING:
    from scumble.engines import Choice
    from scumble.query.reconstruction import Reconstruction
    from scumble.release.synthetic import Synthetic

Told = TypeVar("Told", bound="Estimates | Reconstruction")
"""What a question gives: an answer, or the counts that a model is fitted on."""


class Release(Shown):
    """A published table that answers questions."""

    in_folder = True
    """Whether it lives in a folder, which others may put something into."""
    parts: "Sequence[Release]" = ()
    """The releases that it is put together from, where there are several."""
    on: str | None = None
    """The row id by which they are, where they have columns of the same rows."""

    def __init__(
        self, path: Path, manifest: Manifest, engine: "Choice" = None, timeout: Any = None, memory: Any = None
    ) -> None:
        demand_engine(engine)
        self.timeout = seconds_of(timeout)
        self.memory = None if memory is None else memory_of(memory)
        self._running: set[Running] = set()
        self._path = path
        self.manifest = manifest
        self.prepared: dict[Any, Any] = {}
        """What its form made of the tables for earlier questions."""
        self.choice = engine
        self._hold()

    def _hold(self) -> None:
        """Keeps its files open from now on."""
        if self.in_folder:
            _ = self._handles

    @once
    def _handles(self) -> Handles:
        return Handles(self.path, [file.path for file in self.manifest.files])

    @property
    def path(self) -> Path:
        """The folder that its files are in."""
        return self._path

    def home_checks(self) -> list[Check]:
        """What is to be checked where it lives, its folder apart."""
        return []

    @property
    def title(self) -> str:
        """What a reader calls it."""
        return self._path.name

    def file(self, name: str) -> Path:
        """By which path a file of the release is read: that of the version that was opened, whoever has its name now."""
        return self._handles.path(name)

    def demand_same(self) -> None:
        """Refuses to go on where a file was changed since."""
        self._handles.demand_same()

    def query(
        self,
        sql: str,
        *,
        level: Any = 0.95,
        method: str = "unbiased",
        tables: Mapping[str, Any] | None = None,
        simultaneous: bool = False,
        cut: bool = False,
        model: Sequence[str] | None = None,
        timeout: Any = None,
    ) -> Estimates:
        """The answer to a SELECT over the table `release`, each aggregate with its standard error and interval.

        level    how often an interval holds the truth
        method   "unbiased"; "likelihood": the non-negative estimate that explains the published rows best; "small_area": public groups borrow strength from
                 each other, and intervals hold on average over them; "fab": intervals that hold for each line, and are shorter on average
        tables   code lists that the release may be joined with: name -> a data frame, or the path of a file
        simultaneous  whether the intervals of all lines are to hold together; so they do anyway where lines are chosen by their estimates
        cut      whether estimates too are cut to what public group sizes, numbers and domains allow, as intervals always are
        model    of small_area and fab: the public columns of GROUP BY that tell what groups have in common; all of them where it is not given
        timeout  the seconds that it may take; what the release was opened with where it is not given, and 600 where that was not
        """
        borrowing = borrowing_of(method, model)
        plain = method if borrowing is None else "unbiased"
        way = partial(ask, simultaneous=simultaneous, cut=cut, borrowing=borrowing)
        return self._run(sql, timeout, partial(self._answer, way, sql, level, plain, code_lists(tables or {})))

    def test(
        self,
        sql: str,
        *,
        independence: bool = False,
        level: Any = 0.95,
        tables: Mapping[str, Any] | None = None,
        timeout: Any = None,
    ) -> Estimates:
        """Whether the lines of an answer differ: for all pairs the difference, its interval and an adjusted p-value, which hold together.

        Where the answer has one line, its columns are compared. All other arguments are those of `query`.

        independence   instead, whether the two columns of SELECT a, b, COUNT(*) FROM release GROUP BY a, b are independent
        """
        from scumble.query.compared import compare
        from scumble.query.independence import independence as independent

        way = independent if independence else compare
        return self._run(sql, timeout, partial(self._answer, way, sql, level, "unbiased", code_lists(tables or {})))

    def reconstruct(self, sql: str, *, timeout: Any = None) -> "Reconstruction":
        """The true rows behind the published ones, counted by the groups of SELECT groups, COUNT(*) FROM release GROUP BY groups.

        What is fitted on a release is fitted on these: estimated counts, and the covariance of whatever is added up over them.
        """
        from scumble.query.reconstruction import reconstruct

        if not self.manifest.view.row_by_row:
            raise ReleaseError(
                f"a release by {self.manifest.mechanism} has no perturbed rows to reconstruct from; take one that perturbs columns"
            )

        def way(sql: str, columns: Sequence[str], recoding: Recoding, _: Any, *more: Any) -> "Reconstruction":
            return reconstruct(sql, columns, recoding, self.published, self.engine, *more)

        return self._run(sql, timeout, partial(self._answer, way, sql, 0.95, "unbiased", {}))

    def synthesize(
        self,
        rows: int | None = None,
        *,
        columns: Sequence[str] | None = None,
        seed: int | None = None,
        timeout: Any = None,
    ) -> "Synthetic":
        """Synthetic rows, drawn from the joint of some columns as it can be estimated. They are made from the release alone.

        rows     how many to draw; as many as the release has where it is not given
        columns  which ones; all where they are not named
        seed     the same draws again
        timeout  as of `query`
        """
        from scumble.release.synthetic import synthesize

        with running(self.timeout if timeout is None else seconds_of(timeout)):
            return synthesize(self, rows, columns, seed)

    def _run(self, sql: object, timeout: Any, answered: Callable[[], Told]) -> Told:
        """A question that can be stopped, of files that nobody changes meanwhile."""
        demand_text(sql)
        with running(self.timeout if timeout is None else seconds_of(timeout)) as question:
            self._running.add(question)
            try:
                self.demand_same()
                answer = answered()
                self.demand_same()
                return answer
            finally:
                self._running.discard(question)

    def _answer(
        self, way: Callable[..., Told], sql: str, level: Any, method: str, tables: Mapping[str, pa.Table]
    ) -> Told:
        own = find_form(self.manifest.form.kind)
        columns = [*own.columns(self), *self.recoding.parts]

        def answered() -> Told:
            answers = partial(self._of_form, own, level, method)
            return way(sql, columns, self.recoding, answers, own.beside, self.name, tables)

        types = {TABLE: self._types(columns), self.name: self._types(columns)}
        listed = {name: {field.name: field.type for field in rows.schema} for name, rows in tables.items()}
        answer = gated(sql, {**types, **listed}, answered)
        answer.notes[:0] = [f"this is the answer for {rows}" for rows in self.manifest.answers_for]
        answer.notes[:0] = [f"{DOUBTFUL} {doubt}" for doubt in self.doubts[:1]]
        return answer

    def _of_form(self, own: Form, level: Any, method: str, query: Query) -> Answer:
        return own.answer(self, query, level, method)

    @property
    def name(self) -> str:
        """What a question may call its table besides `release`: the name of its folder."""
        return self._path.name.removesuffix(".release") or TABLE

    def _types(self, columns: Sequence[str]) -> dict[str, pa.DataType]:
        """What the columns that a question may name hold; where sets of values or codes are published, the values of these."""
        coded = {c.name: c.domain.type for c in self.manifest.columns if c.domain is not None and c.domain.type}
        listed = {c.of or c.name: coded.get(c.name, c.type) for c in self.manifest.columns}
        listed |= {part.name: part.type for column in self.manifest.columns for part in column.parts or ()}
        named = {name: re.sub(r"^list<\w+: (.*)>$", r"\1", kind) for name, kind in listed.items()}
        return {name: named_type(named[name]) for name in columns if name in named}

    def cancel(self) -> None:
        """Ends the questions that other threads are asking at the moment: there they raise QuestionStopped."""
        for question in list(self._running):
            question.cancel()

    @once
    def terms(self) -> Terms:
        """What it promises: derived from its mechanism, coins, form and numbers, never read; refused where nothing follows."""
        return terms_of(self.manifest)

    @once
    def doubts(self) -> list[str]:
        """Where the manifest claims something else than what follows from it, in sentences."""
        try:
            return compared(self.manifest, self.terms).problems
        except ReleaseError as error:
            return [str(error)]

    @once
    def coarse(self) -> dict[str, Coarse]:
        """The columns whose values stand for several of the table."""
        return coarse_columns(self.manifest)

    @once
    def recoding(self) -> Recoding:
        """What became of the values of columns before publishing, coins apart."""
        return recoding_of(self.manifest)

    def counted_files(self, name: str) -> list[Path]:
        """The files of one of several tables."""
        tables = {table.name: table for table in self.manifest.form.tables}
        return [self.file(path) for path in tables[name].files]

    def table_files(self, name: str | None = None) -> list[Path]:
        """The data files; of a release with several tables, those of the one that is named."""
        return [self.file(path) for path in self.manifest.data] if name is None else self.counted_files(name)

    def table(self, name: str | None = None, *, words: bool = False) -> pa.Table:
        """The published rows; of a release with several tables, those of the one that is named. With `words`, text is left as places of words, in less memory."""
        tables = {table.name: table for table in self.manifest.form.tables}
        if tables:
            if name not in tables:
                sentence = f"there is no table {name!r} in it" if name else "it has several tables"
                raise ReleaseError(f"{sentence}; name one of {', '.join(tables)}")
            return self._rows(tables[name].files, words)
        return self._rows(self.manifest.data, words)

    def _rows(self, files: list[str], words: bool) -> pa.Table:
        if not words:
            return table_of([self.file(file) for file in files])
        fields = pq.read_schema(self.file(files[0]))
        text = [field.name for field in fields if pa.types.is_string(field.type)]
        with readable():
            return pa.concat_tables([pq.read_table(self.file(file), read_dictionary=text) for file in files])

    def unique_rows(self) -> int:
        """How many rows are alone with the values of their public columns, and so can be singled out by them."""
        if not self.manifest.public:
            return int(self.manifest.rows == 1)
        with within_given(self.memory):
            return lone_rows(self.engine, self.manifest.public, self.manifest.rows)

    @once
    def engine(self) -> Engine:
        """What runs statements over the published rows."""
        with within_given(self.memory):
            return self._make_engine()

    def _make_engine(self) -> Engine:
        return open_engine(self.tables, self.choice)

    @property
    def tables(self) -> dict[str, list[Path]]:
        """The files of each table that an engine is opened on: the rows, and where there are several tables each of them."""
        several = self.manifest.form.tables
        rows = several[0].files if several else self.manifest.data
        named = {TABLE: rows, **{PART.format(table.name): table.files for table in several}}
        return {name: [self.file(file) for file in files] for name, files in named.items()}

    @once
    def strata(self) -> list[dict[str, BaseChannel]]:
        """The channel of each perturbed column, for each stratum."""
        own = [c.name for c in self.manifest.columns if any(record.own for record in c.records)]
        counts = {name: self.published_counts(name).sum(axis=0) for name in own}
        return self.manifest.strata_with({name: count / count.sum() for name, count in counts.items()})

    @once
    def shown(self) -> dict[str, Domain]:
        """What is published of each perturbed column, worked out once."""
        return self.manifest.shown

    def published_counts(self, name: str) -> npt.NDArray[np.int64]:
        """How often each value, or code, of a perturbed column is published, in each stratum."""
        domain, stratum = self.shown[name], self.manifest.role("stratum")
        column = self.manifest.column(name)
        keys = {"y": exp_column(name), "z": exp_column(stratum) if stratum else number(0)}
        lines = self.engine.run(select({**keys, "n": rows_drawn(self.manifest.role("copies"))}, TABLE, (), 2))
        codes = domain.encode(lines.column("y").combine_chunks(), name)
        counts = np.zeros((len(column.records) if column else 1, domain.size), dtype=np.int64)
        places = _places(lines.column("z"), len(counts))
        counts[places, codes] = np.rint(lines.column("n").to_numpy())
        return counts

    @once
    def published(self) -> Published:
        """What the query layer has to know of it."""
        manifest = self.manifest
        names, sampling = [column.name for column in manifest.columns], manifest.view.sampling
        weight = manifest.role("weight")
        return Published(
            names,
            manifest.domains,
            self.strata,
            manifest.role("stratum"),
            weight,
            manifest.role("copies"),
            sampling.least if sampling is not None else None,
            whole=manifest.rows if any(r.own for c in manifest.columns for r in c.records) else 0,
            permuted=find_mechanism(manifest.mechanism).traits.permuted,
            joint=tuple(manifest.view.joint),
            drawn=manifest.persons.drawn(exp_column(weight)) if manifest.persons is not None and weight else None,
        )

    def card(self) -> Card:
        """Its columns, what is guaranteed, and the fine print."""
        summary = describe.summary(self.title, self.manifest, self.terms, self.doubts)
        return Card(
            summary.title,
            [
                *summary.parts,
                *describe.merged(self.manifest),
                *describe.coded(self.manifest),
                *describe.fine_print(self.terms),
            ],
        )

    def __str__(self) -> str:
        return self.card().text()

    def __repr__(self) -> str:
        perturbed = ", ".join(self.manifest.sensitive) or "nothing, tuples are counted"
        return f"<Release {self._path.name}: {self.manifest.rows:,} rows, {self.manifest.mechanism}, perturbed: {perturbed}>"


def _places(column: pa.ChunkedArray, strata: int) -> npt.NDArray[np.intp]:
    """The sub-tables of lines, each of which is one of those that have a channel."""
    if column.null_count or not all(0 <= place < strata for place in column.unique().to_pylist()):
        raise ChangedRelease(f"a row is in a sub-table that the manifest does not have; {AGAIN}")
    return np.asarray(column.combine_chunks().to_numpy(zero_copy_only=False).astype(np.intp))


def open_release(path: str | Path, engine: "Choice" = None, timeout: Any = None, memory: Any = None) -> Release:
    """The release in a folder; its manifest and every file are checked against their hashes. Or the one that lives in a database."""
    demand_engine(engine)
    if is_url(path):
        lives_there: Release = open_database(str(path), engine, timeout, memory)
        return lives_there
    if not isinstance(path, str | Path):
        raise ReleaseError(
            f"a release is opened by the path of its folder, not by {type(path).__name__}; several: open(a, b)"
        )
    release = release_in(Path(path), engine, timeout, memory)
    with ThreadPoolExecutor() as pool:
        for problem in pool.map(lambda file: _problem(release, file), release.manifest.files):
            if problem:
                raise ChangedRelease(problem)
    demand_described(release.file, release.manifest)
    return release


def release_in(folder: Path, engine: "Choice" = None, timeout: Any = None, memory: Any = None) -> Release:
    """The release in a folder, all of it of one version, though another may take its name in this moment. Its hashes are not looked at."""
    complete(folder)
    for _ in range(TRIES):
        before = _identity(folder)
        try:
            release = Release(folder, read_manifest(folder), engine, timeout, memory)
        except ReleaseError:
            if before == _identity(folder):
                raise
            continue
        if before == _identity(folder):
            return release
    raise ReleaseError(f"{str(folder)!r} is replaced all the time; wait until its publisher is done, and open it again")


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _problem(release: Release, file: FileRecord) -> str | None:
    return changed(release.path, file, release.file(file.path))


def changed(folder: Path, file: FileRecord, path: Path | None = None) -> str | None:
    """What is wrong with a file, if anything; it is read by a path of its own where there is one."""
    path = path or folder / file.path
    again = "get the release again from its publisher"
    if not path.is_file():
        return f"{file.path} is missing from {folder.name!r}; {again}"
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    return (
        None if digest == file.sha256 else f"{file.path} of {folder.name!r} was changed after it was written; {again}"
    )
