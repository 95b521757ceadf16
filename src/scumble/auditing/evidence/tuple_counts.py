"""The tables of a counted release beside the raw table: how often each tuple truly occurs, and how often it is published; and the law in between."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import binom

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.column_law import Numbers
from scumble.auditing.evidence.publication import Codes, together
from scumble.core.arrow_types import decoded
from scumble.core.domain import Domain
from scumble.core.once import once
from scumble.forms.tuples.marginals import domain_table
from scumble.forms.tuples.record import Exact, Full, Midpoints, Practical, TuplesRecord
from scumble.mechanisms.noisy_count_matrix import ClampedCounts, NoisyCountMatrix, listed_domain
from scumble.truth import recoded

MOST_ROWS = 200_000
"""People of a tuple up to which the law of a tuple that stayed in some columns is computed."""


@dataclass(frozen=True, eq=False)
class TupleCounts:
    """One table: its tuples, in the order of their values."""

    name: str
    tuples: pa.Table
    true: Codes
    shown: Codes
    """How often each is published, 0 where it is not."""
    absent: int
    """Tuples of a declared domain that nobody has and that were not published."""
    stayed: float
    """The probability with which a person's tuple stayed in this table."""
    counting: Exact | Practical | Full | Midpoints
    domains: Mapping[str, Domain]
    """Of a full count those of its columns."""

    @once
    def cell(self) -> Codes:
        """Of a full count the place of each tuple among all of its domains, in the order in which noise is drawn; -1 where it has none."""
        columns = [decoded(self.tuples.column(name)).combine_chunks() for name in self.domains]
        held = np.ones(len(self.true), dtype=np.bool_)
        for domain, column in zip(self.domains.values(), columns, strict=True):
            held &= domain.holds(column).to_numpy(zero_copy_only=False)
        codes = [d.encode(c.filter(pa.array(held)), n) for (n, d), c in zip(self.domains.items(), columns, strict=True)]
        place = np.full(len(self.true), -1, np.int64)
        shape = tuple(domain.size for domain in self.domains.values())
        place[held] = np.ravel_multi_index(tuple(code.astype(np.int64) for code in codes), shape)
        return place

    @once
    def law(self) -> ClampedCounts:
        """The law of a count that is published."""
        counting = self.counting
        if isinstance(counting, Full):
            return ClampedCounts.full(counting.epsilon)
        assert isinstance(counting, Practical)
        return self.matrix.counts

    @once
    def matrix(self) -> NoisyCountMatrix:
        """The law with suppression."""
        assert isinstance(self.counting, Practical)
        return NoisyCountMatrix(self.counting.k, self.counting.epsilon, self.counting.delta)

    @once
    def looked_at(self) -> Codes:
        """The tuples that are looked at one by one: those of at least k people; of a full count those of anybody, because of others only those are seen that were published."""
        least = 1 if isinstance(self.counting, Full) or self.stayed < 1 else self.counting.k
        return np.flatnonzero((self.true >= least) & (self.true <= MOST_ROWS))

    def chance(self, count: Codes, low: Codes, high: Codes) -> Numbers:
        """The probability that tuples of so many people are published at least `low` and at most `high` times."""
        if self.stayed == 1:
            return self._chance(count, low, high)
        most, chance = int(count.max(initial=0)), np.zeros(len(count))
        left = np.arange(most + 1)
        for n, a, b in {*zip(count.tolist(), low.tolist(), high.tolist(), strict=True)}:
            some = left[: n + 1]
            one = float(binom.pmf(some, n, self.stayed) @ self._chance(some, np.full(n + 1, a), np.full(n + 1, b)))
            chance[(count == n) & (low == a) & (high == b)] = one
        return chance

    def _chance(self, count: Codes, low: Codes, high: Codes) -> Numbers:
        floor, r = self.law.floor, self.law.r
        kept = np.ones(len(count))
        if isinstance(self.counting, Practical):
            kept = np.where(count >= floor, 1 - self.matrix.probabilities(count, np.zeros_like(count)), 0.0)
        upper = np.where(high >= floor, _below(high - count, r), 0.0)
        lower = np.where(low - 1 >= floor, _below(low - 1 - count, r), 0.0)
        nothing = (low <= 0) * (1 - kept)
        return np.asarray(np.clip(kept * np.maximum(upper - lower, 0) + nothing, 0, 1))


def _below(z: Codes, r: float) -> Numbers:
    """Pr[Z <= z] of two-sided geometric noise."""
    far = np.minimum(np.abs(np.where(z >= 0, z + 1, z)), 10**6).astype(np.float64)
    tail = r**far / (1 + r)
    return np.where(z >= 0, 1 - tail, tail)


def counted_tables(case: Case) -> Iterator[TupleCounts]:
    """The tables of a release of tuples beside the raw table; none where ranges or transactions were published."""
    manifest = case.publication.manifest
    if manifest is None or case.source is None or manifest.view.ranges:
        return
    record = manifest.form
    if not isinstance(record, TuplesRecord) or record.transactions is not None:
        return
    names = [column.name for column in manifest.columns]
    parts = [(table.name, list(table.attributes)) for table in record.tables] or [("", names)]
    excerpt = case.publication.excerpt
    for place, ((name, attributes), published) in enumerate(zip(parts, case.publication.tables, strict=True)):
        own = excerpt.by(attributes)
        wanted = attributes if record.schema_ is None else names
        raw = recoded(case.excerpt(wanted, own), manifest)
        yield _counted(case, name, attributes, published, _with_a_place(case, raw, record), record, place)


def _with_a_place(case: Case, raw: pa.Table, record: TuplesRecord) -> pa.Table:
    """The people who were counted. Where a domain is not written down, a value that nothing was published of may have had no place: it tells nothing."""
    if record.outside is None or case.publication.manifest is None:
        return raw
    shown = {name: table.column(name) for table in case.publication.tables for name in table.column_names}
    held = np.ones(raw.num_rows, dtype=np.bool_)
    for column in case.publication.manifest.columns:
        if column.name not in raw.column_names or column.name not in shown:
            continue
        values, published = decoded(raw.column(column.name)), decoded(shown[column.name])
        declared = record.declared_domains.get(column.name)
        if declared is not None:
            found = declared.domain(column.type).holds(values.combine_chunks())
        else:
            found = pc.is_in(values, value_set=pc.unique(published).cast(values.type))
        held &= found.to_numpy(zero_copy_only=False)
    return raw.filter(pa.array(held))


def _counted(
    case: Case, name: str, attributes: list[str], published: pa.Table, raw: pa.Table, record: TuplesRecord, place: int
) -> TupleCounts:
    (ours, theirs), count = together(attributes, published, raw)
    one = np.zeros(count, dtype=np.int64)
    one[theirs] = np.arange(len(theirs)) + published.num_rows
    one[ours] = np.arange(len(ours))
    both = pa.table({n: pa.chunked_array([*_plain(published, raw, n)]).combine_chunks() for n in attributes}).take(
        pa.array(one)
    )
    shown, true = np.bincount(ours, minlength=count), np.bincount(theirs, minlength=count)
    some = np.logical_or.reduce([pc.is_valid(column).to_numpy(zero_copy_only=False) for column in both.columns])
    true = np.where(some | record.every | (record.schema_ is None), true, 0)
    absent, domains, counting = 0, dict[str, Domain](), record.counting_of(place)
    if isinstance(counting, Full):
        absent, every = declared_tuples(case, counting) - count, _domains(case, counting)
        domains = {n: every[n] for n in attributes}
    return TupleCounts(name, both, true, shown, absent, _stayed(raw, record), counting, domains)


def declared_tuples(case: Case, counting: Full) -> int:
    """How many tuples of the domains are looked at: all, or those of the excerpt."""
    domains, excerpt = _domains(case, counting), case.publication.excerpt
    tuples = listed_domain(domain.size for domain in domains.values())  # a manifest may say anything
    return tuples if excerpt.whole else len(excerpt.by(list(domains)).rows(pa.table(domain_table(domains))))


def _domains(case: Case, counting: Full) -> dict[str, Domain]:
    assert case.publication.manifest is not None
    kinds = {column.name: column.type for column in case.publication.manifest.columns}
    return {name: record.domain(kinds[name]) for name, record in counting.domains.items()}


def _plain(published: pa.Table, raw: pa.Table, name: str) -> Iterator[pa.Array]:
    kind = decoded(published.column(name)).type
    for table in (published, raw):
        yield from decoded(table.column(name)).cast(kind).chunks


def _stayed(raw: pa.Table, record: TuplesRecord) -> float:
    """How probably a tuple stays in a table, where it stays in c* of them; NaN where tuples differ in that."""
    schema = record.schema_
    if schema is None or schema.c_star >= len(schema.tables):
        return 1.0
    missing = any(raw.column(name).null_count for table in schema.tables for name in table.attributes)
    return math.nan if missing else schema.c_star / len(schema.tables)
