"""What the query layer has to know of a release of counted tuples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scumble.core.domain import Domain
from scumble.engines.engine import TABLE
from scumble.forms.form import PART
from scumble.forms.tuples.record import Exact, Full, Midpoints, Practical, SchemaRecord, TuplesRecord
from scumble.mechanisms.kept_columns import KeptColumn
from scumble.mechanisms.noisy_count_matrix import ClampedCounts


@dataclass(frozen=True)
class CountedTable:
    """A published table: its attributes (columns, or items of transactions), and what the engine calls it."""

    name: str
    attributes: Sequence[Any]
    place: str
    noise: ClampedCounts | None
    """None: counts are exact."""
    rows: int = 0


@dataclass(frozen=True)
class CountedRelease:
    """The tables of a release, and what was done to their counts."""

    columns: Sequence[str]
    tables: Sequence[CountedTable]
    total: int | None
    transactions: dict[str, str] | None
    domains: dict[str, Domain] | None
    """Where every tuple of the domain was counted."""
    c_star: int
    complete: bool = False
    """Whether every row was published, as boxes are."""
    declared: Mapping[str, Domain] = field(default_factory=dict)
    """What values columns can have, where that was declared and not every tuple of them was counted."""
    kept: Mapping[str, KeptColumn | None] | None = None
    """Of each table what the cap on columns took away; nothing where it took nothing."""

    @property
    def noisy(self) -> bool:
        """Whether counts have noise; they have it in all tables or in none."""
        return self.tables[0].noise is not None

    @property
    def marginals(self) -> bool:
        """Whether every tuple of several domains was counted, table by table."""
        return self.domains is not None and self.tables[0].place != TABLE


def counted_release(manifest: Any) -> CountedRelease:
    """Its tables, and how their counts are corrected."""
    record: TuplesRecord = manifest.form
    names = [column.name for column in manifest.columns]
    kinds = {column.name: column.type for column in manifest.columns}
    whole = CountedTable("data", names, TABLE, _noise(record.counting_of(0)) if not record.tables else None)
    tables = [
        CountedTable(t.name, t.attributes, PART.format(t.name), _noise(record.counting_of(place)), t.rows)
        for place, t in enumerate(record.tables)
    ]
    every = record.all_declared or {}
    return CountedRelease(
        names,
        tables or [whole],
        record.total,
        record.transactions,
        {n: d.domain(kinds[n]) for n, d in every.items()} or None,
        1 if record.schema_ is None else record.schema_.c_star,
        isinstance(record.counting, Midpoints),
        {n: d.domain(kinds[n]) for n, d in (record.declared or {}).items()},
        _kept(record.schema_),
    )


def _kept(schema: SchemaRecord | None) -> dict[str, KeptColumn | None] | None:
    if schema is None or not schema.capped:
        return None
    size, kept = len(schema.tables), schema.kept
    if kept is None:
        return {table.name: None for table in schema.tables}
    return {
        table.name: KeptColumn.of(counts, schema.c_star, size, kept.epsilon)
        for table, counts in zip(schema.tables, kept.counts, strict=True)
    }


def _noise(counting: Exact | Practical | Full | Midpoints) -> ClampedCounts | None:
    if isinstance(counting, Full):
        return ClampedCounts.full(counting.epsilon)
    return ClampedCounts(counting.k, counting.epsilon / 2) if isinstance(counting, Practical) else None
