"""Public values that the sensitive column does not tell apart become one: text is put together, numbers become intervals.

A merged text is published as "a | b | c"; of merged numbers and dates the smallest is published, and the interval goes to the next.
Missing values stay apart.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from scumble.core.arrow_types import is_text
from scumble.core.errors import SchemaError, did_you_mean
from scumble.core.parameters import number
from scumble.mechanisms.sps.generalize import Labels, merge
from scumble.mechanisms.sps.personal_groups import PersonalGroups, regrouped
from scumble.mechanisms.sps.settings import Settings
from scumble.release.records import MergedRecord

MOST_VALUES = 5000
"""Of a column that is merged: every pair of texts is compared."""
MOST_AGGLOMERATED = 1000
"""Of one that is merged pair by pair."""


def merge_columns(groups: PersonalGroups, settings: Settings) -> tuple[PersonalGroups, dict[str, list[MergedRecord]]]:
    """The groups with the columns merged that the settings name (True: all), and what stands for what."""
    names = groups.keys.column_names if settings.generalize is True else list(settings.generalize or ())
    for name in names:
        if name not in groups.keys.column_names:
            raise SchemaError(
                f"column {name!r} is to be generalised, but is not public{did_you_mean(name, groups.keys.column_names)}"
            )
    merged = {name: _merge(groups, name, settings) for name in names}
    keys = groups.keys
    for name, (column, _) in merged.items():
        keys = keys.set_column(keys.column_names.index(name), name, column)
    if not merged:
        return groups, {}
    lines = keys.take(pa.array(groups.group))
    return regrouped(lines, groups.code, groups.records, groups.values), {
        n: record for n, (_, record) in merged.items()
    }


def _merge(groups: PersonalGroups, name: str, settings: Settings) -> tuple[pa.Array, list[MergedRecord]]:
    """The column with merged values, and the record of them."""
    column = groups.keys.column(name).combine_chunks()
    values = column.unique().drop_null().sort()
    if len(values) > (most := MOST_VALUES if settings.merging == "connected" else MOST_AGGLOMERATED):
        raise SchemaError(
            f"column {name!r} has {len(values):,} values, and {most:,} are merged at most; coarsen it first"
        )
    places = pa.compute.index_in(column, value_set=values)
    known = places.fill_null(len(values)).to_numpy().astype(np.int64)
    counts = np.zeros((len(values) + 1, groups.values), dtype=np.int64)
    np.add.at(counts, (known[groups.group], groups.code), groups.records)
    if not len(values):
        return column, []
    level = number(settings.significance, "significance")
    labels = merge(counts[:-1], ordered=not is_text(values.type), significance=level, merging=settings.merging)
    published = pa.array(_published(values, labels), type=values.type)
    return published.take(places), _records(values, labels, published)


def _published(values: pa.Array, labels: Labels) -> list[Any]:
    """What each value is published as."""
    members = _members(values, labels)
    if is_text(values.type):
        return [" | ".join(members[label]) for label in labels.tolist()]
    return [members[label][0] for label in labels.tolist()]


def _records(values: pa.Array, labels: Labels, published: pa.Array) -> list[MergedRecord]:
    first = {label: place for place, label in reversed(list(enumerate(labels.tolist())))}
    return [
        MergedRecord(published=_plain(published[first[label]].as_py()), values=[_plain(v) for v in members])
        for label, members in sorted(_members(values, labels).items())
    ]


def _members(values: pa.Array, labels: Labels) -> dict[int, list[Any]]:
    members: dict[int, list[Any]] = {}
    for value, label in zip(values.to_pylist(), labels.tolist(), strict=True):
        members.setdefault(label, []).append(value)
    return members


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else str(value)
