"""The tuples of the tables that a question is put to, counted once for all questions, with what each stands for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from scumble.core.domain import Domain
from scumble.engines.engine import Engine
from scumble.forms.tuples.capped_table import PLACE, CappedTable
from scumble.forms.tuples.counting import (
    CountedTuples,
    CountingRule,
    of_items,
    over_domain,
    owned,
    pairs_of,
    patterns_of,
    tuples_of,
)
from scumble.forms.tuples.linear import Noise
from scumble.forms.tuples.marginals import Together
from scumble.forms.tuples.opened import CountedRelease, CountedTable
from scumble.forms.tuples.statement import Summed
from scumble.forms.tuples.sums import Sums
from scumble.forms.tuples.suppressed import AllTuples
from scumble.mechanisms.noisy_count_matrix import ClampedCounts


@dataclass(frozen=True)
class Counting:
    """Counted tuples, and what all of them together count."""

    tuples: CountedTuples
    all: Sums
    noise: Noise | None
    capped: Sequence[CappedTable] | None = None
    """The tables, where a cap took tuples out of them."""

    @classmethod
    def of(cls, release: CountedRelease, tables: Sequence[CountedTable], engine: Engine) -> "Counting":
        """Counts the tuples of the tables."""
        count = _of_rows if release.transactions is None else _of_transactions
        counted, capped = count(release, tables, engine)
        noise = tables[0].noise
        name = " ".join(["scumble counted", *(repr(table.name) for table in tables)])
        several = release.transactions is not None
        return cls._registered(engine, name, counted, several, None if noise is None else Noise.of(noise), capped)

    @classmethod
    def of_cells(cls, together: Together, domains: Mapping[str, Domain], engine: Engine) -> "Counting":
        """The cells of some columns, which marginals were put together for."""
        name = " ".join(["scumble cells of", *map(repr, domains)])
        return cls._registered(engine, name, together.table(domains), False, together.noise, None)

    @classmethod
    def _registered(
        cls,
        engine: Engine,
        name: str,
        counted: pa.Table,
        several: bool,
        noise: Noise | None,
        capped: Sequence[CappedTable] | None,
    ) -> "Counting":
        engine.register(name, counted, everywhere=True)
        tuples = CountedTuples(engine, name, several)
        return cls(tuples, sums_of(tuples.sums({}, None, [Summed()]), Summed(), 0), noise, capped)

    @property
    def rows(self) -> float:
        """The rows behind published tuples."""
        return float(self.all.count.value[0])

    @property
    def corrected(self) -> bool:
        """Whether a cap was put right."""
        return self.capped is not None and all(table.column is not None for table in self.capped)

    def all_tuples(self, release: CountedRelease) -> AllTuples | None:
        """All of them beside the rows there are, where that is public and some may have been suppressed."""
        if release.total is None or release.transactions is not None or release.domains is not None or self.corrected:
            return None
        count = self.all.count
        return AllTuples(release.total, self.rows, float(count.variance[0]), float(count.tuples[0]))


def _of_rows(
    release: CountedRelease, tables: Sequence[CountedTable], engine: Engine
) -> tuple[pa.Table, list[CappedTable] | None]:
    """The tuples of one table."""
    (table,), rule = tables, _rule(tables[0].noise)
    counted = tuples_of(engine, table.place, table.attributes)
    if release.domains is not None:
        counted = over_domain(counted, {name: release.domains[name] for name in table.attributes})
    if release.kept is None:
        return rule.applied(counted), None
    published = rule.published(counted, release.kept[table.name])
    return rule.applied(counted.append_column(PLACE, pa.array(np.zeros(len(counted), np.int64))), published), [
        published
    ]


def _of_transactions(
    release: CountedRelease, tables: Sequence[CountedTable], engine: Engine
) -> tuple[pa.Table, list[CappedTable] | None]:
    """The pairs of all tables."""
    assert release.transactions is not None
    rule, roles, parts, capped = _rule(tables[0].noise), release.transactions, [], []
    for place, (table, own) in enumerate(zip(tables, owned(t.attributes for t in tables), strict=True)):
        pairs = pairs_of(engine, table.place, roles)
        if release.kept is not None:
            capped.append(rule.published(patterns_of(pairs, roles), release.kept[table.name]))
        parts.append(rule.applied(of_items(pairs, place, own, roles), capped[-1] if capped else None))
    return pa.concat_tables(parts), capped or None


def _rule(noise: ClampedCounts | None) -> CountingRule:
    if noise is None:
        return CountingRule()
    values, variances = noise.estimate([noise.floor, noise.floor + 1])
    return CountingRule(noise.floor, float(values[0]), float(variances[0]), float(variances[1]))


def sums_of(table: pa.Table, of: Summed, place: int) -> Sums:
    """The sums of one value; over no tuples they are 0, and no value is the least."""
    names = [name for name in table.schema.names if name.endswith(f"_{place}")]
    sums = {name.rpartition("_")[0]: table.column(name).to_numpy().astype(np.float64) for name in names}
    return Sums(of, {n: x if n in ("least", "most") else np.nan_to_num(x) for n, x in sums.items()})
