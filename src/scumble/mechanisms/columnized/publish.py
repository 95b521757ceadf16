"""Publishing a columnized table: one table for each column of the schema, each by noisy counts.

A tuple stays in at most c* columns, chosen at random; which, is drawn once for the whole publication. Transactions stay triples: no matrix of users
and items is made.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from scumble.core.errors import SchemaError, TableError
from scumble.forms.records import DomainRecord, TableRecord
from scumble.forms.tuples.record import KeptRecord, Practical, SchemaRecord, TuplesRecord
from scumble.mechanisms.columnized.histogram import kept_by_columns, noisy_histogram
from scumble.mechanisms.columnized.noisy_schema import demand_cells, noisy_contingency, noisy_similarity
from scumble.mechanisms.columnized.patterns import Patterns, frequent_patterns, ragged
from scumble.mechanisms.columnized.plan import SchemaPlan
from scumble.mechanisms.columnized.schema import choose_columns, covered, group
from scumble.mechanisms.columnized.settings import Settings
from scumble.mechanisms.columnized.transactions import Transactions, read_transactions
from scumble.publishing.copies import write_copies
from scumble.publishing.row_pipeline import Job, Written
from scumble.publishing.tuples import Mask, Recoder, counted, demand_total
from scumble.release.records import ColumnRecord, FileRecord

PATTERN = "pattern"
"""The column of published transactions that numbers the patterns: users with the same number are copies of one tuple."""


def publish(job: Job) -> Written:
    """One table for each column of the schema."""
    settings = job.plan_as(SchemaPlan).settings
    return _publish_rows(job, settings) if settings.user is None else _publish_transactions(job, settings)


def _publish_rows(job: Job, settings: Settings) -> Written:
    recoder = Recoder(job)
    demand_total(job, settings.total)
    schema = settings.schema_ or _row_schema(job, recoder, settings)
    matrix, choice = job.plan_as(SchemaPlan).matrix, _Choice(job, schema)
    tables: list[TableRecord] = []
    files: list[FileRecord] = []
    for place, names in enumerate(schema):
        tuples, counts = counted(job, recoder, names, matrix.k, choice.mask(place), choice.reading(names))
        some = np.logical_or.reduce([pc.is_valid(c).to_numpy(zero_copy_only=False) for c in tuples.columns])
        drawn = matrix.draw(job.coin_source.entropy.stream("counts", place), np.where(some, counts, 0))
        kept = drawn > 0
        written = write_copies(tuples.filter(pa.array(kept)), drawn[kept], job.folder, _name(place))
        tables.append(_table(place, list(names), written))
        files += written
    used = dict.fromkeys(name for names in schema for name in names)
    histogram = _histogram(job, choice.histogram)
    return _written(job, settings, recoder.records(list(used)), tables, files, histogram, recoder.declared(list(used)))


def _histogram(job: Job, counts: npt.NDArray[np.int64] | None) -> KeptRecord | None:
    """How many columns kept tuples had, with noise, where a part of epsilon is for it."""
    plan = job.plan_as(SchemaPlan)
    if counts is None or not plan.epsilon_histogram:
        return None
    stream = job.coin_source.entropy.stream("histogram")
    noisy = noisy_histogram(stream, counts, plan.c_star, plan.epsilon_histogram)
    return KeptRecord(epsilon=plan.epsilon_histogram, counts=noisy)


class _Choice:
    """Which columns of the schema each row stays in: drawn once, in the order of the rows, one bit for each row and column."""

    def __init__(self, job: Job, schema: Sequence[Sequence[str]]) -> None:
        self._all = list(dict.fromkeys(name for names in schema for name in names))
        self._bits: npt.NDArray[np.bool_] | None = None
        self.histogram: npt.NDArray[np.int64] | None = None
        """How many columns the rows had that stayed in each."""
        c_star, entropy = job.plan_as(SchemaPlan).c_star, job.coin_source.entropy
        if c_star < len(schema):
            stream, rounding = entropy.stream("columns"), entropy.stream("rounding")
            parts, counts = [], []
            for batch in job.table.batches(self._all):
                covers = _covers(batch, schema)
                kept = choose_columns(stream, covers, c_star)
                parts.append(kept.toarray())
                counts.append(kept_by_columns(rounding, np.diff(covers.indptr), kept, c_star))
            nothing = sparse.csr_array((0, len(schema)), dtype=np.bool_)
            counts.append(kept_by_columns(rounding, np.zeros(0, np.int64), nothing, c_star))
            self.histogram = np.sum(counts, axis=0)
            self._bits = np.concatenate([*parts, np.zeros((0, len(schema)), np.bool_)])

    def reading(self, names: Sequence[str]) -> Sequence[str]:
        """The columns to read; the same for each column of the schema, so that rows come alike, where there is a choice."""
        return names if self._bits is None else self._all

    def mask(self, place: int) -> Mask | None:
        """The rows that stay in a column of the schema."""
        bits = self._bits
        if bits is None:
            return None
        return lambda start, batch: pa.array(bits[start : start + batch.num_rows, place])


def _covers(batch: pa.RecordBatch, schema: Sequence[Sequence[str]]) -> sparse.csr_array:
    valid = {n: pc.is_valid(batch.column(n)).to_numpy(zero_copy_only=False) for n in batch.schema.names}
    return sparse.csr_array(np.stack([np.logical_or.reduce([valid[n] for n in names]) for names in schema], axis=1))


def _row_schema(job: Job, recoder: Recoder, settings: Settings) -> list[list[str]]:
    """The schema under its share of the budget."""
    names, domains = job.spec.published, job.profile.domains
    demand_cells(sum(domains[a].size * domains[b].size for a, b in combinations(names, 2)))
    contingency = []
    for a, b in combinations(names, 2):
        tuples, counts = counted(job, recoder, [a, b], 1)
        cells = np.zeros((domains[a].size, domains[b].size), np.int64)
        cells[tuple(domains[n].encode(tuples.column(n).combine_chunks(), n) for n in (a, b))] = counts
        contingency.append(cells)
    stream = job.coin_source.entropy.stream("schema")
    alike = noisy_contingency(stream, contingency, len(names), job.plan_as(SchemaPlan).epsilon_schema)
    return [[names[i] for i in members] for members in group(alike, settings.numbers)]


def _publish_transactions(job: Job, settings: Settings) -> Written:
    given = read_transactions(job, settings)
    demand_total(job, settings.total, given.people)
    schema = _item_schema(job, settings, given)
    entropy, matrix, c_star = job.coin_source.entropy, job.plan_as(SchemaPlan).matrix, job.plan_as(SchemaPlan).c_star
    memberships = covered(given.users, given.items, schema, given.people)
    chosen = choose_columns(entropy.stream("columns"), memberships, c_star)
    kept = chosen.tocsc()
    tables: list[TableRecord] = []
    files: list[FileRecord] = []
    for place, members in enumerate(schema):
        inside = given.inside(members, kept.indices[kept.indptr[place] : kept.indptr[place + 1]])
        press_transactions = frequent_patterns(*inside, matrix.k)
        drawn = matrix.draw(entropy.stream("counts", place), press_transactions.counts)
        rows = _triples(press_transactions.take(np.flatnonzero(drawn)), drawn[drawn > 0], given, settings)
        written = write_copies(rows, np.ones(len(rows), np.int64), job.folder, _name(place))
        tables.append(_table(place, given.labels(members), written))
        files += written
    columns = [ColumnRecord(name=f.name, role="counted", type=str(f.type)) for f in rows.schema]
    counts = None
    if c_star < len(schema):
        had = np.diff(memberships.indptr)
        counts = kept_by_columns(entropy.stream("rounding"), had, chosen, c_star)
    return _written(job, settings, columns, tables, files, _histogram(job, counts))


def _item_schema(job: Job, settings: Settings, given: Transactions) -> list[list[int]]:
    if settings.schema_ is not None:
        return [given.places(members, f"column {i} of the schema") for i, members in enumerate(settings.schema_, 1)]
    if settings.items is None:
        raise SchemaError(
            "a schema under a budget needs noise on every pair of items there are; list them in the setting items, "
            "or give the schema yourself"
        )
    listed = given.places(settings.items, "items")
    numbers = np.full(given.item_values_count, -1, np.int64)
    numbers[listed] = np.arange(len(listed))
    known = numbers[given.items] >= 0
    alike = noisy_similarity(
        job.coin_source.entropy.stream("schema"),
        given.users[known],
        numbers[given.items[known]],
        given.values[known],
        len(listed),
        settings.schema_ratings,
        job.plan_as(SchemaPlan).epsilon_schema,
    )
    return [[listed[i] for i in members] for members in group(alike, settings.numbers)]


def _triples(patterns: Patterns, copies: Any, given: Transactions, settings: Settings) -> pa.Table:
    """The transactions of published users, who are numbered anew: each pattern as many users as its noisy count."""
    pattern = np.repeat(np.arange(len(patterns)), copies)
    lengths = np.diff(patterns.starts)[pattern]
    pairs = ragged(patterns.starts[pattern], lengths)
    columns = {
        settings.user: pa.array(np.repeat(np.arange(len(pattern)), lengths)),
        settings.item: given.item_values.take(pa.array(patterns.items[pairs])),
    }
    if settings.value is not None:
        columns[settings.value] = given.value_values.take(pa.array(patterns.values[pairs]))
    return pa.table({**columns, PATTERN: pa.array(np.repeat(pattern, lengths))})


def _name(place: int) -> str:
    return f"column-{place + 1:02d}"


def _table(place: int, attributes: list[Any], files: list[FileRecord]) -> TableRecord:
    rows = sum(file.rows or 0 for file in files)
    return TableRecord(name=_name(place), attributes=attributes, rows=rows, files=[file.path for file in files])


def _written(
    job: Job,
    settings: Settings,
    columns: list[ColumnRecord],
    tables: list[TableRecord],
    files: list[FileRecord],
    kept: KeptRecord | None,
    declared: dict[str, DomainRecord] | None = None,
) -> Written:
    matrix = job.plan_as(SchemaPlan).matrix
    if not files:
        raise TableError("the schema has no columns, so there is nothing to publish")
    roles = (("user", settings.user), ("item", settings.item), ("value", settings.value), ("pattern", PATTERN))
    schema = SchemaRecord(
        tables=tables,
        schema_from="given" if settings.schema_ is not None else "budget",
        c_star=job.plan_as(SchemaPlan).c_star,
        transactions={role: name for role, name in roles if name is not None} if settings.user else None,
        kept=kept,
    )
    counting = Practical(k=matrix.k, epsilon=matrix.epsilon, delta=matrix.delta)
    record = TuplesRecord(counting=counting, total=settings.total, declared=declared, schema=schema)
    return Written(files, columns, sum(table.rows for table in tables), record)
