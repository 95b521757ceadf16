"""Personal groups: the records that agree on every public column, as counts of their sensitive values.

One GROUP BY of the engine, whatever the number of rows; what is held in memory are the groups.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import published_type
from scumble.core.domain import Domain, Grid
from scumble.core.errors import SchemaError, TableError
from scumble.sources.parquet import ParquetSource
from scumble.sources.source import Source
from scumble.spec.coarsening import coarsen
from scumble.spec.spec import Coarsen

Counts = npt.NDArray[np.int64]

MOST_LINES = 30_000_000
"""Combinations of a group and a sensitive value, at most."""

CELLS = 1 << 22
"""Counts of groups by values that are held at a time."""


@dataclass(frozen=True, eq=False)
class PersonalGroups:
    """Groups of one table, and the counts of their values in sparse form, in the order of the groups."""

    keys: pa.Table
    """The public values of each group."""
    group: Counts
    code: Counts
    records: Counts
    """Line by line: the group, the code of the sensitive value, and how many records have it."""
    values: int
    """m, the size of the sensitive domain."""

    def __len__(self) -> int:
        return int(self.keys.num_rows)

    @property
    def size(self) -> Counts:
        """The records of each group."""
        return np.bincount(self.group, weights=self.records, minlength=len(self)).astype(np.int64)

    @property
    def most(self) -> Counts:
        """The records of each group's most frequent value."""
        return np.asarray(np.maximum.reduceat(self.records, np.searchsorted(self.group, np.arange(len(self)))))

    def chunks(self) -> Iterator[tuple[int, Counts]]:
        """Dense counts of some groups at a time, with the number of the first of them."""
        step = max(1, CELLS // self.values)
        for start in range(0, len(self), step):
            yield start, self.dense(start, min(len(self), start + step))

    def dense(self, start: int = 0, stop: int | None = None) -> Counts:
        """The counts of the groups from start to stop: a row for each, a column for each value."""
        stop = len(self) if stop is None else stop
        first, last = np.searchsorted(self.group, [start, stop])
        counts = np.zeros((stop - start, self.values), dtype=np.int64)
        counts[self.group[first:last] - start, self.code[first:last]] = self.records[first:last]
        return counts


def personal_groups(
    table: Source, public: Mapping[str, Coarsen | None], sensitive: str, domain: Domain
) -> PersonalGroups:
    """The groups of a table, in one scan."""
    lines, kinds = _lines(table, public, sensitive, domain)
    if not lines.num_rows:
        raise TableError("the table has no rows, so there is nothing to publish")
    if lines.num_rows > MOST_LINES:
        raise SchemaError(
            f"the public columns and {sensitive!r} have over {MOST_LINES:,} combinations of values; {_remedy(lines, list(public))}"
        )
    column = lines.column(sensitive).combine_chunks()
    codes = column.to_numpy() if sensitive in kinds else domain.encode(column.cast(_kind(table, sensitive)), sensitive)
    keys = pa.table(
        {n: lines.column(n).combine_chunks().cast(kinds.get(n, _kind(table, n))) for n in public}
        or {"": pa.nulls(lines.num_rows)}
    )
    records = lines.column("scumble n").to_numpy().astype(np.int64)
    groups = regrouped(keys, codes.astype(np.int64), records, domain.size)
    return (
        groups
        if public
        else PersonalGroups(groups.keys.select([]), groups.group, groups.code, groups.records, groups.values)
    )


def regrouped(keys: pa.Table, code: Counts, records: Counts, values: int) -> PersonalGroups:
    """Lines of public values, a sensitive code and a count, put together into groups."""
    first, inverse = distinct_rows(keys)
    cells = inverse * values + code
    line, place = numbered(cells, len(first) * values)
    total = np.bincount(place, weights=records).astype(np.int64)
    return PersonalGroups(keys.take(pa.array(first)), inverse[line], code[line], total, values)


def distinct_rows(keys: pa.Table) -> tuple[Counts, Counts]:
    """A line of each combination of values, in the order of the values, and the number of each line's combination."""
    return distinct_lines(keys.columns, keys.num_rows)


def distinct_lines(columns: Iterable[pa.ChunkedArray], rows: int) -> tuple[Counts, Counts]:
    """The same of columns that are made one at a time. Words that are coded already are taken to be different."""
    codes, bound = np.zeros(rows, dtype=np.int64), 1
    for column in columns:
        whole = column.combine_chunks()
        coded = pa.types.is_dictionary(whole.type) and not whole.null_count
        encoded = whole if coded else whole.dictionary_encode(null_encoding="encode")
        rank = np.empty(len(encoded.dictionary), dtype=np.int64)
        rank[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(rank))
        if bound * len(rank) > 1 << 40:
            first, codes = numbered(codes, bound)
            bound = len(first)
        codes = codes * len(rank) + rank[encoded.indices.to_numpy(zero_copy_only=False)]
        bound *= max(1, len(rank))
    return numbered(codes, bound)


def numbered(codes: Counts, bound: int) -> tuple[Counts, Counts]:
    """A place of each code that occurs, in rising order, and the number of each place's code; codes lie below the bound."""
    if bound > 8 * len(codes) + (1 << 20):
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        return first, inverse.astype(np.int64)
    last = np.full(bound, -1, dtype=np.int64)
    last[codes] = np.arange(len(codes))
    present = last >= 0
    return last[present], (np.cumsum(present) - 1)[codes]


def demand_groups(groups: PersonalGroups) -> None:
    """Refuses a table where most people are alone: their group is no crowd, and statistics of it are about them."""
    rows = int(groups.size.sum())
    if 2 * len(groups) > rows:
        raise SchemaError(
            f"the public columns make {len(groups):,} groups of {rows:,} rows, fewer than 2 rows each; "
            + _remedy(groups.keys, groups.keys.column_names)
        )


def _remedy(lines: pa.Table, public: list[str]) -> str:
    different = {name: len(lines.column(name).unique()) for name in public}
    worst = max(different, key=lambda name: different[name], default="")
    return f"coarsen or drop {worst!r}, which has {different.get(worst, 0):,} different values"


def _kind(table: Source, name: str) -> pa.DataType:
    return published_type(table.schema.field(name).type)


def _lines(
    table: Source, public: Mapping[str, Coarsen | None], sensitive: str, domain: Domain
) -> tuple[pa.Table, dict[str, pa.DataType]]:
    """The GROUP BY, and the types of columns that were made coarser on the way (or encoded, for the sensitive one)."""
    from scumble.engines.duckdb.counting import grouped

    names = [*public, sensitive]
    between = isinstance(domain, Grid) and not pa.types.is_integer(domain.type)  # numbers that the grid rounds
    if isinstance(table, ParquetSource) and table.countable(names) and not between and not any(public.values()):
        return grouped(table.files, names, MOST_LINES), {}
    batches = (_coarser(batch, public, sensitive, domain) for batch in table.batches(names))
    first = next(batches, None)
    if first is None:
        raise TableError("the table has no rows, so there is nothing to publish")
    made = {n for n, how in public.items() if how is not None} | {sensitive}
    kinds = {n: published_type(first.schema.field(n).type) for n in made}
    said: list[Exception] = []
    reader = pa.RecordBatchReader.from_batches(first.schema, _again(first, batches, said))
    try:
        return grouped(reader, names, MOST_LINES), kinds
    except TableError:
        raise said[0] if said else TableError("the table cannot be read to its end") from None


def _coarser(
    batch: pa.RecordBatch, public: Mapping[str, Coarsen | None], sensitive: str, domain: Domain
) -> pa.RecordBatch:
    columns = {n: batch.column(n) if how is None else coarsen(batch.column(n), how, n) for n, how in public.items()}
    columns[sensitive] = pa.array(domain.encode(batch.column(sensitive), sensitive))
    return pa.record_batch(list(columns.values()), names=list(columns))


def _again(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch], said: list[Exception]) -> Iterator[pa.RecordBatch]:
    """All batches; what went wrong is kept, because the engine passes on no more than its text."""
    yield first
    try:
        yield from rest
    except Exception as error:
        said.append(error)
        raise
