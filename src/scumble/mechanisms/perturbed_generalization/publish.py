"""Publishing by perturbed generalization: one row for each group, with its box, its size and one perturbed value.

    age_low, age_high    the smallest and the largest of a group's numbers or dates
    region               the set of its values, where they are text or truth values
    group_rows           how many rows the group has

Groups are made of all rows, so the table is held in memory in its narrow form.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import is_text, published_type
from scumble.core.domain import Codes
from scumble.core.errors import SchemaError, TableError
from scumble.forms.boxes.record import HIGH, LOW, SIZE, BoxesRecord
from scumble.forms.records import DomainRecord
from scumble.mechanisms.perturbed_generalization.plan import BoxPlan, Generalized, generalize
from scumble.publishing.copies import write_copies
from scumble.publishing.encode import PublicColumn
from scumble.publishing.row_pipeline import Job, Written
from scumble.release.records import ChannelRecord, ColumnRecord
from scumble.spec.coarsening import resolved

ORDERED = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_date,
    pa.types.is_timestamp,
)
"""Kinds of values that make a range; text and truth values make a set."""

Published = list[tuple[ColumnRecord, pa.Array]]


def publish(job: Job) -> Written:
    """The rows of the release, in random order."""
    (name,) = job.profile.domains
    sides, codes = _read(job, name)
    entropy, coins, k = job.coin_source.entropy, job.plan.replacing[name], job.plan_as(BoxPlan).k
    ranks = np.column_stack([side.ranks for side in sides.values()])
    made = generalize(ranks, codes, coins, k, entropy.stream("groups"))
    columns: Published = []
    for column in job.spec.published:
        columns += [_sensitive(job, name, made)] if column == name else sides[column].published(made)
    columns.append((ColumnRecord(name=SIZE, role="size", type="int64"), pa.array(made.sizes, pa.int64())))
    table = pa.table([array for _, array in columns], names=[record.name for record, _ in columns])
    shuffled = table.take(pa.array(entropy.stream("order").permutation(len(table))))
    files = write_copies(shuffled, np.ones(len(table), np.int64), job.folder, "data")
    return Written(files, [record for record, _ in columns], len(table), BoxesRecord(k=k))


def _read(job: Job, name: str) -> tuple[dict[str, "Side"], Codes]:
    """The public columns, ranked, and the true codes of all rows."""
    public = {n: PublicColumn(n, job.spec.columns[n]) for n in job.spec.published if n != name}
    parts: dict[str, list[pa.Array]] = {n: [] for n in public}
    codes, rows = [], 0
    for batch in job.table.batches(job.spec.published):
        for n, column in public.items():
            parts[n].append(_narrow(column.plain(batch.column(n))))
        codes.append(job.profile.domains[name].encode(batch.column(name), name))
        rows += batch.num_rows
        job.progress(rows, job.table.rows)
    if not rows:
        raise TableError("the table has no rows, so there is nothing to publish")
    return {n: _side(n, pa.chunked_array(part), job) for n, part in parts.items()}, np.concatenate(codes)


def _narrow(column: pa.Array) -> pa.Array:
    return column.dictionary_encode() if is_text(column.type) else column


@dataclass(frozen=True)
class Side:
    """A public column: the different values in order, and the place of each row's among them."""

    name: str
    values: pa.Array
    ranks: npt.NDArray[np.int32]
    record: ColumnRecord

    def published(self, made: Generalized) -> Published:
        """What the release has of it, for each group."""
        ranks = self.ranks[made.rows]
        return [self._set(made, ranks)] if self.record.role == "set" else self._ends(made, ranks)

    def _ends(self, made: Generalized, ranks: npt.NDArray[np.int32]) -> Published:
        low, high = (reduce.reduceat(ranks, made.begin) for reduce in (np.minimum, np.maximum))
        return [
            (
                self.record.model_copy(update={"name": self.name + end, "role": role, "of": self.name}),
                self.values.take(pa.array(at)),
            )
            for end, role, at in ((LOW, "low", low), (HIGH, "high", high))
        ]

    def _set(self, made: Generalized, ranks: npt.NDArray[np.int32]) -> tuple[ColumnRecord, pa.Array]:
        group = np.repeat(np.arange(len(made.sizes)), made.sizes)
        group, member = np.divmod(np.unique(group * len(self.values) + ranks), len(self.values))
        ends = np.concatenate([[0], np.cumsum(np.bincount(group))]).astype(np.int32)
        kind = pa.list_(pa.field("element", self.values.type))
        return self.record, pa.ListArray.from_arrays(ends, self.values.take(pa.array(member)), type=kind)


def _side(name: str, column: pa.ChunkedArray, job: Job) -> Side:
    rule = job.spec.columns[name].coarsen
    kind = published_type(column.type)
    ordered = any(test(kind) for test in ORDERED)
    if not ordered and not is_text(kind) and not pa.types.is_boolean(kind):
        raise SchemaError(f"column {name!r} has values of type {kind}, of which no box is made; drop it")
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode("encode")
    coded = coded.unify_dictionaries().combine_chunks()
    values, places = coded.dictionary, coded.indices
    if ordered:
        _demand_ordered(name, values, column)
    if places.null_count:
        values, places = pa.concat_arrays([values, pa.nulls(1, values.type)]), places.fill_null(len(values))
    order = pc.sort_indices(values).to_numpy()  # a missing value comes last
    rank = np.empty(len(values), dtype=np.int32)
    rank[order] = np.arange(len(values), dtype=np.int32)
    shown = str(kind) if ordered else f"list<element: {kind}>"
    record = ColumnRecord(name=name, role="low" if ordered else "set", type=shown, coarsened=rule and resolved(rule))
    return Side(name, values.take(pa.array(order)), rank[places.to_numpy(zero_copy_only=False)], record)


def _demand_ordered(name: str, values: pa.Array, column: pa.ChunkedArray) -> None:
    """A range has two ends: what is missing, infinite or no number lies nowhere in it."""
    wrong = column.null_count
    if pa.types.is_floating(values.type):
        wrong += pc.sum(pc.invert(pc.is_finite(column.drop_null()))).as_py() or 0
    if wrong:
        raise SchemaError(
            f"column {name!r} has {wrong:,} rows without a finite value, and perturbed_generalization makes ranges of it; leave these rows out, drop the column, "
            "or coarsen it into groups"
        )


def _sensitive(job: Job, name: str, made: Generalized) -> tuple[ColumnRecord, pa.Array]:
    domain = job.profile.domains[name]
    record = ColumnRecord(
        name=name,
        role="sensitive",
        type=str(domain.type),
        domain=DomainRecord.of(domain, name in job.profile.from_data),
        channel=ChannelRecord.of(job.plan.replacing[name]),
    )
    return record, domain.values.take(pa.array(made.value))
