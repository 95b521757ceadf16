"""What the query layer has to know of a release of counted tuples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scumble.core.domain import Domain
from scumble.engines.engine import TABLE
from scumble.forms.form import PART
from scumble.mechanisms.noisy_count_matrix import ClampedCounts


@dataclass(frozen=True)
class CountedTable:
    """A published table: its attributes (columns, or items of transactions), and what the engine calls it."""

    name: str
    attributes: Sequence[Any]
    place: str
    rows: int = 0


@dataclass(frozen=True)
class CountedRelease:
    """The tables of a release, and what was done to their counts."""

    columns: Sequence[str]
    tables: Sequence[CountedTable]
    noise: ClampedCounts | None
    """None: counts are exact."""
    total: int | None
    transactions: dict[str, str] | None
    domains: dict[str, Domain] | None
    """Where every tuple of the domain was counted."""
    c_star: int
    complete: bool = False
    """Whether every row was published, as boxes are."""
    declared: Mapping[str, Domain] = field(default_factory=dict)
    """What values columns can have, where that was declared and not every tuple of them was counted."""


def counted_release(manifest: Any) -> CountedRelease:
    """Its tables, and how their counts are corrected."""
    record = manifest.counted
    names = [column.name for column in manifest.columns]
    noise = None
    if record.matrix == "full":
        noise = ClampedCounts.full(record.epsilon)
    elif record.matrix == "practical" and record.k is not None and record.epsilon is not None:
        noise = ClampedCounts(record.k, record.epsilon / 2)
    whole = CountedTable("data", names, TABLE)
    tables = [CountedTable(t.name, t.attributes, PART.format(t.name), t.rows) for t in record.tables or ()]
    kinds = {column.name: column.type for column in manifest.columns}
    domains = {n: d.domain(kinds[n]) for n, d in (record.domains or {}).items()} if record.domains else None
    return CountedRelease(
        names,
        tables or [whole],
        noise,
        record.total,
        record.transactions,
        domains,
        record.c_star or 1,
        record.matrix == "boxes",
        {n: d.domain(kinds[n]) for n, d in (record.declared or {}).items()},
    )
