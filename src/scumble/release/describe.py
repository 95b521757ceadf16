"""A release in words: what each column became, what is guaranteed, and what is not."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from scumble.core.channel_base import BaseChannel, CodeSection, Places
from scumble.core.display import Card, Grid, Items, Note, Part
from scumble.forms.records import FormRecord
from scumble.mechanisms.facts import Terms
from scumble.release.manifest import Manifest
from scumble.release.records import ColumnRecord
from scumble.spec.steps import words

BUCKETED = {
    "bucket": "the bucket of the row",
    "apart": "as it is, in a table of its own, by bucket",
    "tuple": "in tuples of the table, and in some that were made up",
    "count": "how often the value is in the bucket",
}
"""What anatomy and alpha_beta publish beside public columns."""

GROUPED = {
    "low": "the smallest {of} of the group",
    "high": "the largest {of} of the group",
    "set": "the values that occur in the group",
    "size": "how many rows of the table the group has",
}
"""What is published of groups, of which a row stands for each."""


def summary(name: str, manifest: Manifest, terms: Terms, doubts: Sequence[str] = ()) -> Card:
    """The columns of the release with that name, and what is guaranteed, as it was derived; with what the manifest claims beyond that."""
    columns = [(column.name, column.type, published(column, manifest.form)) for column in manifest.columns]
    parts: list[Part] = [Grid(("column", "type", "published"), columns, (0, 1, 2))]
    for table in manifest.form.tables:
        shown = ", ".join(map(str, table.attributes[:8])) + (", ..." if len(table.attributes) > 8 else "")
        parts.append(Note(f"{table.name}: {table.rows:,} rows of {shown}"))
    parts += [Note(f"answers are for {rows}") for rows in manifest.answers_for]
    parts += [Note(f"guaranteed: {guarantee.statement}") for guarantee in terms.guarantees]
    if not terms.guarantees:
        parts.append(Note("guaranteed: nothing; no bound holds, or none was asked for", "strong"))
    parts += [Note(f"DO NOT TRUST: {doubt}; what stands here was derived", "strong") for doubt in doubts]
    if not manifest.randomness.secure:
        parts.append(Note("INSECURE: the coins were drawn from a seed, for tests; do not publish this", "strong"))
    return Card(f"{name}: {manifest.rows:,} rows, mechanism {manifest.mechanism}", parts)


def fine_print(terms: Terms) -> list[Items]:
    """The conditions of what is guaranteed, what is not covered, and what the parameters themselves tell."""
    conditions = list(dict.fromkeys(c.sentence for g in terms.guarantees for c in g.conditions))
    sentences = [clause.sentence for clause in terms.depends_on_data]
    return [
        Items("conditions", conditions),
        Items("not covered", [clause.sentence for clause in terms.not_covered]),
        Items("taken from the data", sentences or ["nothing: no parameter was computed from the table"]),
    ]


def merged(manifest: Manifest) -> list[Items]:
    """Which values of the table a published one stands for, for each column that was merged."""
    return [
        Items(
            f"{column.name}, published value: values of the table",
            [f"{m.published}: {', '.join(map(str, m.values))}" for m in column.merged if len(m.values) > 1]
            or ["every value stands for itself"],
        )
        for column in manifest.columns
        if column.merged
    ]


FEW_CODES, FEW_VALUES = 3, 8
"""Codes whose sets are listed, and values of a set."""


def coded(manifest: Manifest) -> list[Items]:
    """Which values a code stands for, for each column that has codes."""
    return [_sets(column) for column in manifest.columns if column.records and column.records[0].coded is not None]


def _sets(column: ColumnRecord) -> Items:
    values, channel = column.values.values, column.records[0].channel(column.values.size)
    if len(channel.sections) == 1:
        lines = [f"{code}: {_listed(values, channel.block(code))}" for code in range(FEW_CODES)]
        lines.append(f"and so on to {channel.codes - 1:,}: `offsets` in the manifest has the rule")
    else:
        lines = [_section(values, channel, section) for section in channel.sections]
    return Items(f"{column.name}, published code: the values that it stands for", lines)


def _section(values: pa.Array, channel: BaseChannel, section: CodeSection) -> str:
    """Some codes of a column, and one of them as an example."""
    middle = (section.start + section.stop) // 2
    codes = f"{section.start:,} to {section.stop - 1:,} ({section.share:.1%} of the rows)"
    return f"{codes}: {section.words}; {middle:,} for {_listed(values, channel.block(middle))}"


def _listed(values: pa.Array, members: Places) -> str:
    """Some values, neighbours as a range."""
    ends = np.flatnonzero(np.diff(members, prepend=-2, append=members[-1:] + 2) != 1)
    runs = [(members[a], members[b - 1]) for a, b in pairwise(ends)]
    shown = [
        str(values[first]) if first == last else f"{values[first]}{' to ' if last > first + 1 else ', '}{values[last]}"
        for first, last in runs[:FEW_VALUES]
    ]
    more = sum(int(last - first) + 1 for first, last in runs[FEW_VALUES:])
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def published(column: ColumnRecord, form: FormRecord) -> str:
    """In a few words, how a column was published."""
    if column.parts:
        plain = published(column.model_copy(update={"parts": None}), form)
        return f"{plain}; {' and '.join(part.name for part in column.parts)} as one"
    if column.rounded is not None:
        plain = published(column.model_copy(update={"rounded": None}), form)
        return f"{plain}; rounded to its grid before, by up to {column.rounded} either way"
    if column.records:
        kept = np.concatenate([record.kept for record in column.records])
        share = f"{kept[0]:.4g}" if kept.min() == kept.max() else f"{kept.min():.4g} to {kept.max():.4g}"
        from_data = ", domain taken from the data" if column.domain and column.domain.from_data else ""
        if (coded := column.records[0].coded) is not None:
            return f"perturbed: one of {coded:,} codes, each for a set of values, which holds the true one with probability {share}{from_data}"
        if column.records[0].own:
            return f"perturbed: kept with probability {share}, else another value of the column{from_data}"
        if column.channels:
            return f"perturbed: kept with probability {share}, else one of the values of its sub-table{from_data}"
        drawn = "" if column.records[0].even else ", common ones more often"
        return (
            f"perturbed: kept with probability {share}, else one of {column.records[0].size:,} values{drawn}{from_data}"
        )
    if column.role == "stratum":
        return "the sub-table of the row"
    if column.role == "weight":
        return "how many rows of the table this one stands for"
    if column.role == "copies":
        return "how many copies of this row there are"
    if column.role in GROUPED:
        return GROUPED[column.role].format(of=column.of)
    if column.role in BUCKETED:
        return BUCKETED[column.role]
    if column.merged:
        return f"merged: {sum(len(m.values) for m in column.merged)} values became {len(column.merged)}"
    if column.coarsened is not None and column.coarsened.groups is not None:
        values = sum(len(members) for members in column.coarsened.groups.values())
        return f"coarsened: {values} values in {len(column.coarsened.groups)} groups"
    if column.coarsened is not None:
        return f"coarsened: {words(column.coarsened, column.type)}"
    if column.role == "counted":
        return form.counted
    return "as it is"
