"""A publication: published rows as an attacker holds them, with what each column is. A release says it itself; of any other table it is told, or guessed aloud."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from scumble.auditing.evidence.excerpt import Excerpt
from scumble.core.arrow_types import decoded, published_type
from scumble.core.errors import SchemaError, did_you_mean
from scumble.core.once import once
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.mechanism import Traits
from scumble.mechanisms.sps.personal_groups import distinct_lines
from scumble.release.manifest import Manifest
from scumble.release.release import Release
from scumble.sources.source import Source
from scumble.spec.looks import Kind, look
from scumble.spec.looks.seen import Seen

Codes = npt.NDArray[np.int64]
Narrow = npt.NDArray[np.unsignedinteger[Any]]

CROWD = 5
"""The size of a crowd that a table of which nothing is said is held to."""


@dataclass(frozen=True, eq=False)
class Publication:
    """The published tables of one release, or of one file."""

    name: str
    tables: list[pa.Table]
    """Most have one; a columnized release has one for each column of its schema."""
    quasi: list[str]
    """The columns by which a person may be recognised."""
    sensitive: list[str]
    """The columns that are to be protected."""
    files: list[Path]
    release: Release | None = None
    k: int = CROWD
    guesses: list[str] = field(default_factory=list)
    """What had to be guessed, in sentences."""
    excerpt: Excerpt = field(default_factory=lambda: Excerpt([]))
    """Which rows of it are looked at."""
    places: list[Codes] = field(default_factory=list)
    """Of each table the places of these rows among all."""
    lengths: list[int] = field(default_factory=list)
    """Of each table how many rows there are."""

    @property
    def looked_at(self) -> str:
        """How much of it is looked at, in words; nothing where all is."""
        if self.excerpt.whole:
            return ""
        rows, every = sum(table.num_rows for table in self.tables), sum(self.lengths)
        return f"{rows:,} of {every:,} rows are looked at: all of one in {1 << self.excerpt.bits} groups that are alike in {_listed(self.excerpt.names)}, by lot"

    @property
    def table(self) -> pa.Table:
        """The table with the rows of people."""
        return self.tables[0]

    @property
    def manifest(self) -> Manifest | None:
        """What the release says of itself, where it is one."""
        return self.release.manifest if self.release is not None else None

    @property
    def mechanism(self) -> str:
        """How it was made, as far as it says."""
        return self.manifest.mechanism if self.manifest is not None else ""

    @property
    def form(self) -> str:
        """What it looks like, a name of the registry of forms; nothing of a table that is no release."""
        return self.manifest.form.kind if self.manifest is not None else ""

    @property
    def traits(self) -> Traits:
        """What its mechanism declares; of a table that is no release, nothing."""
        return find_mechanism(self.mechanism).traits if self.manifest is not None else Traits()

    @property
    def sampled(self) -> bool:
        """Whether rows are samples of groups, and stand for others."""
        return self.manifest is not None and self.manifest.view.sampling is not None

    @property
    def of_nobody(self) -> bool:
        """Whether every tuple of a declared domain may be published, by counts with noise: no row points at a person, and no k is promised."""
        return self.release is not None and any(g.kind == "full_counts" for g in self.release.terms.guarantees)

    @property
    def perturbed(self) -> bool:
        """Whether its sensitive columns went through channels that the manifest states."""
        return self.manifest is not None and bool(self.manifest.sensitive) and self.manifest.view.row_by_row

    @property
    def coined(self) -> bool:
        """Whether published values went through coins, for each row or for each box."""
        return self.perturbed or self.generalized

    @property
    def beside(self) -> list[str]:
        """Columns of true values that are published apart from the rows."""
        return [] if self.manifest is None else [c.name for c in self.manifest.columns if c.role == "apart"]

    @property
    def generalized(self) -> bool:
        """Whether its rows are boxes of people, each with the perturbed value of one of them."""
        return self.form == "boxes"

    def says(self, *codes: str) -> str:
        """What follows that the release does not protect from, by its code, as a sentence; nothing where that does not follow."""
        if self.release is None:
            return ""
        said = {clause.code: clause for clause in self.release.terms.clauses}
        return next((said[code].sentence for code in codes if code in said), "")

    @once
    def weights(self) -> npt.NDArray[np.float64]:
        """What each row counts: 1, or where rows stand several times on purpose, its share of them."""
        copies = self.manifest.role("copies") if self.manifest is not None else None
        if copies is None:
            return np.ones(self.table.num_rows)
        return np.asarray(1 / self.table.column(copies).to_numpy())

    @once
    def stratum(self) -> Codes:
        """The sub-table of each row."""
        name = self.manifest.role("stratum") if self.manifest is not None else None
        if name is None:
            return np.zeros(self.table.num_rows, dtype=np.int64)
        return np.asarray(self.table.column(name).to_numpy().astype(np.int64))

    def codes(self, name: str) -> Codes:
        """A perturbed column of the published rows as places in its declared domain, or as its codes."""
        assert self.manifest is not None
        if name not in self._narrow:
            shown = self.manifest.shown[name]
            self._narrow[name] = np.concatenate([shown.encode(chunk, name) for chunk in self.table.column(name).chunks])
        return self._narrow[name].astype(np.int64)

    def encoded(self, name: str, column: pa.Array) -> Narrow:
        """Values of a perturbed column as places in its declared domain, in the narrowest type."""
        assert self.manifest is not None
        return self.manifest.domains[name].encode(column, name)

    @once
    def _narrow(self) -> dict[str, Narrow]:
        return {}


def of_release(release: Release, excerpt: Excerpt | None = None, salt: int | None = None) -> Publication:
    """The publication of a release; of large ones an excerpt."""
    manifest, view = release.manifest, release.manifest.view
    counted = [column.name for column in manifest.columns if column.role == "counted"]
    quasi = manifest.public or ([] if view.invented else counted)
    if manifest.form.kind == "boxes":  # which people lie in a box is told by all of them
        excerpt = Excerpt([])
    chosen = excerpt or Excerpt.of(quasi, manifest.rows, salt)
    bits, read = chosen.bits, [_excerpt_of(release, name, chosen) for name in view.people]
    if chosen.bits > bits:  # one was too large: those before it are thinned as it was
        read = [(*chosen.by(table.column_names).thinner(table, at), length) for table, at, length in read]
    tables, places, lengths = (list(each) for each in zip(*read, strict=True))
    files = [release.path / path for path in manifest.data]
    return Publication(
        release.path.name,
        tables,
        quasi,
        manifest.sensitive,
        files,
        release,
        view.k,
        [],
        chosen,
        places,
        lengths,
    )


def _excerpt_of(release: Release, name: str | None, excerpt: Excerpt) -> tuple[pa.Table, Codes, int]:
    """The rows of one of its tables; of a table that has some of the columns, by those. Where they are too many, the excerpt becomes smaller."""
    if excerpt.whole:
        table = release.table(name, words=True)
        return table, np.arange(table.num_rows), table.num_rows
    files = release.table_files(name)
    schema = pq.read_schema(files[0])
    text = [f.name for f in schema if pa.types.is_string(f.type)]
    own = excerpt.by(schema.names)
    parts = (
        pa.Table.from_batches([batch])
        for path in files
        for batch in pq.ParquetFile(path, read_dictionary=text).iter_batches(1 << 18)
    )
    table, places, length = own.taken(parts)
    excerpt.bits = own.bits
    assert table is not None
    return table.unify_dictionaries(), places, length


def of_table(
    table: Source,
    name: str,
    files: Sequence[Path],
    quasi: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    k: int,
    excerpt: Excerpt | None = None,
    salt: int | None = None,
) -> Publication:
    """The publication of a table that any other tool made; roles that are not given are guessed by names and values."""
    for given in (*(quasi or ()), *(sensitive or ())):
        if given not in table.schema.names:
            raise SchemaError(f"column {given!r} is not in {name!r}{did_you_mean(given, table.schema.names)}")
    guesses: list[str] = []
    if quasi is None or sensitive is None:
        first = next(iter(batches_of(table, table.schema.names)), None)
        looks = {n: None if first is None else _look(n, first.column(n)) for n in table.schema.names}
        free = [n for n in looks if n not in (*(quasi or ()), *(sensitive or ()))]
        if sensitive is None:
            sensitive = [n for n in free if looks[n] == "secret"]
            guesses.append(f"guessed as sensitive: {_listed(sensitive)} (--sensitive NAME says otherwise)")
        if quasi is None:
            quasi = [n for n in free if looks[n] not in ("person", "text", "secret") and n not in sensitive]
            guesses.append(f"guessed as known to an attacker: {_listed(quasi)} (--quasi NAMES says otherwise)")
    chosen = excerpt or Excerpt.of(quasi, 0, salt)
    whole, places, length = chosen.taken(pa.Table.from_batches([b]) for b in batches_of(table, table.schema.names))
    if whole is None:
        whole = table.schema.empty_table()
    return Publication(
        name, [whole], list(quasi), list(sensitive), list(files), None, k, guesses, chosen, [places], [length]
    )


def _look(name: str, column: pa.Array) -> Kind:
    """What the column looks like, by the first rows."""
    seen = Seen(name, published_type(column.type))
    seen.add(column)
    return look(seen).kind


def whole_table(table: Source, names: Sequence[str]) -> pa.Table:
    """Some columns of a table in memory, in the order of its rows."""
    batches = list(batches_of(table, names))
    if batches:
        return pa.Table.from_batches(batches)
    return pa.schema([table.schema.field(n) for n in names]).empty_table()


def batches_of(table: Source, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Some columns of a table, with text in the kinds that Arrow computes with (Polars has another one)."""
    for batch in table.batches(list(names)):
        columns = [_computable(column) for column in batch.columns]
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _computable(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_string_view(kind):
        return column.cast(pa.string())
    if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
        return pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pa.string()))
    return column


def together(names: Sequence[str], *tables: pa.Table) -> tuple[list[Codes], int]:
    """The rows of several tables numbered by their values in the named columns: the same number, the same values; and how many numbers there are.

    >>> (a, b), count = together(["x"], pa.table({"x": [3, 1]}), pa.table({"x": ["1"]}))
    >>> a.tolist(), b.tolist(), count
    ([1, 0], [0], 2)
    """
    if not names:
        return [np.zeros(table.num_rows, dtype=np.int64) for table in tables], 1
    joined = (_joined([table.column(name) for table in tables]) for name in names)
    first, number = distinct_lines(joined, sum(table.num_rows for table in tables))
    ends = np.cumsum([table.num_rows for table in tables])[:-1]
    return [np.asarray(part) for part in np.split(number, ends)], len(first)


def _joined(columns: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    if words := _of_words(columns):
        return words
    plain = [decoded(c) for c in columns]
    plain = [_flat(c) for c in plain]
    kinds = {c.type for c in plain}
    if len(kinds) > 1:
        numbers = all(pa.types.is_integer(k) or pa.types.is_floating(k) for k in kinds)
        truths = any(pa.types.is_boolean(k) for k in kinds)
        plain = [c.cast(pa.float64() if numbers else pa.string()) for c in plain]
        plain = [pc.utf8_lower(c) for c in plain] if truths else plain  # a source may write True, and another one true
    return pa.chunked_array([chunk for c in plain for chunk in c.chunks], plain[0].type)


def _of_words(columns: list[pa.ChunkedArray]) -> pa.ChunkedArray | None:
    """Columns that hold the places of words already, as one with all words, each of them once; the rows are then not read as text."""
    kind = columns[0].type
    if not pa.types.is_dictionary(kind) or any(column.type != kind or column.null_count for column in columns):
        return None
    whole = pa.chunked_array([chunk for column in columns for chunk in column.chunks], kind).unify_dictionaries()
    words = whole.chunk(0).dictionary if whole.num_chunks else None
    return whole if words is not None and not words.null_count and len(words.unique()) == len(words) else None


def _flat(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lists and structures as text: all that matters is which are alike."""
    if not pa.types.is_nested(column.type):
        return column
    return pa.chunked_array([[None if value is None else str(value) for value in column.to_pylist()]], pa.string())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def parquet_files(files: Sequence[Path]) -> list[tuple[Path, Any]]:
    """Those of the files that are Parquet, opened."""
    return [(path, pq.ParquetFile(path)) for path in files if path.suffix in (".parquet", ".pq")]
