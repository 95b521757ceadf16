"""Transactions (user, item, value) as numbers: read once, and never made into a matrix of users and items."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.errors import SchemaError
from scumble.core.once import once
from scumble.mechanisms.columnized.patterns import ragged
from scumble.mechanisms.columnized.settings import Settings
from scumble.publishing.row_pipeline import Job
from scumble.publishing.tuples import Recoder

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Transactions:
    """Places of users, items and values, sorted by item; items and values are numbered in the order of their values."""

    users: Ints
    items: Ints
    values: Ints
    people: int
    item_values: pa.Array
    value_values: pa.Array

    @property
    def item_values_count(self) -> int:
        """How many items there are."""
        return len(self.item_values)

    @once
    def _starts(self) -> npt.NDArray[np.int64]:
        return np.searchsorted(self.items, np.arange(self.item_values_count + 1))

    def inside(self, members: Sequence[int], people: Any) -> tuple[Ints, Ints, Ints]:
        """The transactions of some users with some items."""
        places = np.asarray(members, np.int64)
        rows = ragged(self._starts[places], self._starts[places + 1] - self._starts[places])
        chosen = np.zeros(self.people, np.bool_)
        chosen[people] = True
        rows = rows[chosen[self.users[rows]]]
        return self.users[rows], self.items[rows], self.values[rows]

    def places(self, wanted: Sequence[Any], where: str) -> list[int]:
        """The numbers of items."""
        try:
            listed = pa.array(wanted).cast(self.item_values.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            raise SchemaError(
                f"{where}: items are of type {self.item_values.type}, and not all that it lists are"
            ) from None
        if len(pc.unique(listed)) != len(listed):
            raise SchemaError(f"{where} lists an item twice")
        return [int(place) for place in pc.index_in(listed, value_set=self.item_values).to_pylist()]

    def labels(self, members: Sequence[int]) -> list[Any]:
        """The items of some numbers."""
        values: list[Any] = self.item_values.take(pa.array(members, pa.int64())).to_pylist()
        return values


def read_transactions(job: Job, settings: Settings) -> Transactions:
    """The table's transactions, in one reading of whatever source it is, a stream too. Of an item that a user has twice, the least value is taken."""
    names = [name for name in (settings.user, settings.item, settings.value) if name is not None]
    recoder = Recoder(job)
    nothing = {name: recoder.column(name, job.table.schema.field(name).type) for name in names}
    parts = {name: [empty.dictionary_encode()] for name, empty in nothing.items()}
    for batch in job.table.batches(names):
        for name in names:  # whole columns of text would not fit
            parts[name].append(recoder.column(name, batch.column(name)).dictionary_encode())
    if settings.item is not None:
        parts[settings.item].append(_listed(settings, nothing[settings.item].type))
    (users, people), (items, item_values), *value = [_ranked(parts.pop(name)) for name in names]
    values, value_values = value[0] if value else (np.zeros(len(users), np.int32), pa.array([0]))
    order = _once(users, items, values, len(people))
    return Transactions(users[order], items[order], values[order], len(people), item_values, value_values)


def _once(users: Ints, items: Ints, values: Ints, people: int) -> npt.NDArray[np.intp]:
    """Places in the order of items and users, each pair once: refusing a second one would tell of a single row."""
    pairs = items.astype(np.int64) * max(1, people) + users
    order = np.argsort(pairs, kind="stable")
    again = np.diff(pairs[order], prepend=-1) == 0
    if not again.any():
        return order
    order = np.lexsort((values, pairs))
    return np.asarray(order[np.diff(pairs[order], prepend=-1) != 0])


def _listed(settings: Settings, kind: pa.DataType) -> pa.DictionaryArray:
    """No rows, and all items that the settings list: one that is in no transaction is an item like others, for that it is in none would tell of single rows."""
    wanted = settings.items if settings.schema_ is None else [item for members in settings.schema_ for item in members]
    try:
        values = pc.unique(pa.array(wanted or []).cast(kind))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        values = pa.array([], kind)  # refused by name, where they are looked up
    return pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), values)


def _ranked(parts: Sequence[pa.DictionaryArray]) -> tuple[Ints, pa.Array]:
    """A column as places among its values, which are in sorted order: the order in which they came would tell of the rows'."""
    coded = pa.chunked_array(parts).unify_dictionaries().combine_chunks()
    distinct = coded.dictionary
    ranks = np.empty(len(distinct), np.int32)
    order = pc.sort_indices(distinct)
    ranks[order.to_numpy()] = np.arange(len(distinct), dtype=np.int32)
    return ranks[coded.indices.to_numpy()], distinct.take(order)
