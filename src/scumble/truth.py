"""The raw table as a release would show it if no coin were flipped: what answers are compared with, and what attacks try to find.

Made coarser by the same rules, with the same values merged and numbers on the same grid; nowhere else is a raw table brought into that form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import decoded, named_type
from scumble.core.domain import Domain
from scumble.core.errors import ParameterError, ReleaseError, SchemaError, did_you_mean
from scumble.engines import open_engine
from scumble.engines.engine import TABLE
from scumble.mechanisms.declared_table import spec_table
from scumble.publishing.encode import prepared
from scumble.publishing.expected_rows import coarse_columns, part_columns
from scumble.publishing.publish import profile
from scumble.publishing.roles import decided
from scumble.query.coarse import Coarse
from scumble.query.middle import at_middles
from scumble.query.parse import parse
from scumble.query.part_columns import Parts, of_wholes
from scumble.query.plain import columns_of, plain
from scumble.query.rewrites import Recoding
from scumble.release.manifest import Manifest
from scumble.release.records import ColumnRecord, representative
from scumble.release.release import Release
from scumble.sources.combined import CombinedSource
from scumble.sources.source import Source, read
from scumble.spec.coarsening import coarsen
from scumble.spec.spec import DEFAULT, ColumnSpec, Spec, read_spec

Key = tuple[Any, ...]
"""The group values of a line of an answer."""

ROWS = "scumble rows"

KEPT = ("public", "sensitive", "counted", "apart", "tuple")
"""Roles of columns that the raw table has too."""


@dataclass(frozen=True, eq=False)
class Truth:
    """The columns to be published, public ones coarsened and numbers on their grid, with their true values."""

    table: pa.Table
    public: Sequence[str]
    sensitive: Sequence[str]
    domains: Mapping[str, Domain]
    coarse: Mapping[str, Coarse] = field(default_factory=dict)
    """The columns that were made coarser."""
    parts: Parts = field(default_factory=dict)
    """The columns of the table that are taken as one with others."""

    @classmethod
    def of(cls, raw: Any, against: "Spec | Release | Truth | str | Path | None" = None) -> "Truth":
        """The truth about a raw table (a path, a data frame, or a spec that names it), for a spec or a release."""
        if isinstance(raw, Truth):
            return raw
        if isinstance(against, Truth):
            return against
        if isinstance(raw, str | Path) and Path(raw).suffix == ".toml":
            spec = read_spec(raw)
            table = spec_table(spec)
            return cls.of_spec(table, spec) if not isinstance(against, Release) else cls.of_release(table, against)
        table = raw if hasattr(raw, "batches") else read(raw)
        if isinstance(against, Release):
            return cls.of_release(table, against)
        if against is None:
            raise ParameterError("say which columns are sensitive: give the spec or the release beside the raw table")
        return cls.of_spec(table, against if isinstance(against, Spec) else read_spec(against))

    @classmethod
    def of_spec(cls, table: Source, spec: Spec) -> "Truth":
        """By what a spec says of the columns, whatever its mechanism."""
        plain = decided(spec, table).model_copy(update={"mechanism": DEFAULT}).for_schema(table.schema)
        return cls.of_domains(table, plain, profile(table, plain).domains)

    @classmethod
    def of_domains(cls, table: Source, spec: Spec, domains: dict[str, Domain]) -> "Truth":
        """By a spec, where the domains of its columns are known."""
        public = [name for name in spec.published if name not in domains]
        coarse, parts = coarse_columns(table, spec), part_columns(table)
        rows = prepared(table, spec, domains)
        if parts:  # published again, it has the same parts
            kept = [table.schema.field(f.name).metadata if f.name in domains else None for f in rows.schema]
            rows = rows.cast(pa.schema([f.with_metadata(own) for f, own in zip(rows.schema, kept, strict=True)]))
        return cls(rows, public, spec.sensitive, domains, coarse, parts)

    @classmethod
    def of_release(cls, table: Source, release: Release) -> "Truth":
        """By what the manifest of a release says of the columns."""
        domains, table = release.manifest.domains, as_published(table, release.manifest)
        records = [c for c in release.manifest.columns if c.name in table.schema.names]
        kept = {c.name: ColumnSpec.model_validate({"role": "public", "coarsen": c.coarsened}) for c in records}
        sensitive = [c.name for c in records if c.role in ("sensitive", "apart")] or list(domains)
        public = [c.name for c in records if c.name not in sensitive]
        rows, parts = prepared(table, Spec(columns=kept), domains), release.manifest.parts
        return cls(rows, public, sensitive, domains, release.coarse, parts)

    @property
    def types(self) -> dict[str, pa.DataType]:
        """The columns that a question may name, with their types."""
        own = dict(zip(self.table.schema.names, self.table.schema.types, strict=True))
        return own | {name: part.type for name, part in self.parts.items()}

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int(self.table.num_rows)

    def counts(self, name: str) -> npt.NDArray[np.int64]:
        """How often each value of the domain of a sensitive column occurs."""
        domain = self.domains[name]
        codes = domain.encode(self.table.column(name).combine_chunks(), name)
        return np.bincount(codes, minlength=domain.size)

    def answer(self, sql: str) -> dict[Key, tuple[float, list[float]]]:
        """The true answer to a question: for each line its rows, and its numbers in the order of the aggregates.

        ORDER BY and LIMIT are left out, so that every line of an answer finds its truth. Columns in steps are summed at the middles of these.
        """
        asked = of_wholes(parse(sql, list(self.types)), self.parts)
        query = at_middles(asked, Recoding(self.coarse).spreads)
        counted = open_engine({TABLE: self.table}).run(plain(query))
        *columns, rows = [column.to_pylist() for column in counted.columns]
        grouped = [group for _, _, group in columns_of(query)]
        groups = [c for c, group in zip(columns, grouped, strict=True) if group]
        numbers = [c for c, group in zip(columns, grouped, strict=True) if not group]
        return {
            tuple(c[i] for c in groups): (float(n), [np.nan if c[i] is None else float(c[i]) for c in numbers])
            for i, n in enumerate(rows)
        }


def as_published(raw: Source, manifest: Manifest) -> Source:
    """The raw table with the columns as one that the release has so."""
    made = {c.name: [part.name for part in c.parts] for c in manifest.columns if c.parts}
    made = {name: parts for name, parts in made.items() if name not in raw.schema.names}
    return CombinedSource(raw, made) if made else raw


def true_table(raw: Source, release: Release) -> pa.Table:
    """The columns of the release with their true values, coarsened and merged as they were."""
    manifest = release.manifest
    raw = as_published(raw, manifest)
    for name in kept(manifest):
        if name not in raw.schema.names:
            hint = did_you_mean(name, raw.schema.names)
            raise SchemaError(f"the raw table has no column {name!r}, which the release has{hint}")
    table = Truth.of_release(raw, release).table
    if manifest.view.row_by_row and manifest.view.sampling is None and table.num_rows != manifest.rows:
        if manifest.persons is not None and manifest.persons.how == "capped":
            raise ReleaseError(
                f"the release has at most {manifest.persons.most} rows of a person, and coins that are forgotten chose them: the raw table "
                "cannot be put beside it row by row; leave --raw out, or audit the spec"
            )
        raise ReleaseError(
            f"the raw table has {table.num_rows:,} rows and the release {manifest.rows:,}; give the table that it was made from"
        )
    for column in manifest.columns:
        if column.merged:
            place = table.column_names.index(column.name)
            table = table.set_column(place, column.name, merged(table.column(column.name), column))
    return table


def kept(manifest: Manifest) -> list[str]:
    """The columns of the release that the raw table has; users of transactions are numbered anew."""
    invented = manifest.view.invented
    return [c.name for c in manifest.columns if c.role in KEPT and c.name not in invented]


def recoded(raw: pa.Table, manifest: Manifest) -> pa.Table:
    """Columns of a raw table in memory as the release has them: coarsened and merged, counted numbers on their grid; perturbed ones are left as they are."""
    records = {column.of or column.name: column for column in manifest.columns}
    table = {name: _as_published(raw.column(name), records[name]) for name in raw.column_names}
    grids = {name: record for name, record in manifest.form.declared_domains.items() if name in table}
    placed = {name: _placed(table[name], record.domain(records[name].type)) for name, record in grids.items()}
    return pa.table(table | placed)


def _placed(column: pa.ChunkedArray, domain: Domain) -> pa.ChunkedArray:
    """Values on the points of a domain; those outside are left as they are, for no published one is theirs."""
    plain = decoded(column).combine_chunks()
    held = domain.holds(plain)
    points = domain.values.take(pa.array(domain.encode(plain.filter(held), "")))
    return pa.chunked_array([pc.replace_with_mask(plain.cast(domain.type), held, points)])


def _as_published(column: pa.ChunkedArray, record: ColumnRecord) -> pa.ChunkedArray:
    if record.coarsened is None and not record.merged:
        return column
    plain = decoded(column)
    if record.coarsened is not None:
        plain = pa.chunked_array([coarsen(chunk, record.coarsened, record.name) for chunk in plain.chunks])
    return merged(plain, record) if record.merged else plain


def merged(column: pa.ChunkedArray, record: ColumnRecord) -> pa.ChunkedArray:
    """Each value as the one that it was merged into."""
    words = column.combine_chunks().dictionary_encode()
    stands = [v if v is None else representative(record.merged or [], _plain(v)) for v in words.dictionary.to_pylist()]
    kind = named_type(record.type)
    made = pa.array(stands) if pa.types.is_string(kind) else pa.array(stands).cast(kind)
    return pa.chunked_array([pc.take(made, words.indices)])


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else str(value)
