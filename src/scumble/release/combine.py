"""Releases of several owners, asked as one.

    stacked   each owner has some of the rows, with the same columns and domains: the rows are put below each other, each with the channel of its owner
    joined    each owner has some of the columns of the same rows and published them with a shared row id: the rows are put together

Coins of different owners are independent, so the weights of joined columns multiply as those of one release do. What the whole promises is
derived in combined_terms.py.
"""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from sqlglot import exp

from scumble.core.errors import ReleaseError
from scumble.engines import open_engine
from scumble.engines.engine import TABLE, Engine
from scumble.engines.expressions import column, count, number, select, table
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.facts import Terms
from scumble.release.combined_terms import joined_terms, persons_of, stacked_terms
from scumble.release.manifest import Manifest
from scumble.release.records import ColumnRecord, Randomness
from scumble.release.release import Release
from scumble.release.terms import records_of

OWNER = "owner"
"""The column of stacked releases that numbers their owners, where these have channels of their own."""


class Combined(Release):
    """Several releases behind one table."""

    def __init__(self, parts: Sequence[Release], manifest: Manifest, terms: Terms, on: str | None) -> None:
        stated = manifest.model_copy(update=records_of(terms))
        super().__init__(parts[0].path, stated, parts[0].choice, parts[0].timeout, parts[0].memory)
        self.parts = list(parts)
        self.terms = terms
        self.on = on

    def demand_same(self) -> None:
        """Of all of them."""
        for part in self.parts:
            part.demand_same()

    @property
    def doubts(self) -> list[str]:
        """Those of the parts: what the whole promises is derived."""
        return [f"{part.path.name}: {doubt}" for part in self.parts for doubt in part.doubts]

    @property
    def title(self) -> str:
        """What a reader calls it."""
        how = f"joined on {self.on}" if self.on is not None else "stacked"
        return f"{' and '.join(part.path.name for part in self.parts)}, {how}"

    def table(self, name: str | None = None, *, words: bool = False) -> pa.Table:
        """The rows of all, as they are asked."""
        return self.engine.run(select({c.name: column(c.name) for c in self.manifest.columns}, TABLE))

    def _make_engine(self) -> Engine:
        files = [[part.file(path) for path in part.manifest.data] for part in self.parts]
        if self.on is None and self.manifest.role("stratum") is None:
            return open_engine({TABLE: [file for own in files for file in own]}, self.choice)
        parts = {f"part{i}": file for i, file in enumerate(files)}
        return open_engine(
            {**parts, TABLE: self._numbered() if self.on is None else self._joined(self.on)}, self.choice
        )

    def _numbered(self) -> exp.Expression:
        """The rows of all parts, each with the number of its owner."""
        owner = self.manifest.role("stratum")
        names = [c.name for c in self.manifest.columns if c.name != owner]
        rows = [
            select({**{name: column(name) for name in names}, str(owner): number(i)}, table(f"part{i}"))
            for i in range(len(self.parts))
        ]
        return exp.union(*rows, distinct=False) if len(rows) > 1 else rows[0]

    def _joined(self, on: str) -> exp.Select:
        """The columns of all parts, the row id once."""
        held = [(f"part{i}", part.manifest.columns) for i, part in enumerate(self.parts)]
        names = {c.name: column(c.name, place) for place, records in reversed(held) for c in records}
        statement = select(names, table("part0"))
        for place, _ in held[1:]:
            statement = statement.join(table(place), on=exp.EQ(this=column(on, "part0"), expression=column(on, place)))
        return statement


def stack(parts: Sequence[Release]) -> Combined:
    """The rows of all, which must have been published with the same columns and domains."""
    first = parts[0].manifest
    for part in parts[1:]:
        _demand_same(parts[0].path, first, part.path, part.manifest)
    if len({part.manifest.digest for part in parts}) < len(parts):
        raise ReleaseError("the same release is named twice; each owner's rows are counted once")
    manifests = [part.manifest for part in parts]
    update = {"rows": sum(manifest.rows for manifest in manifests), "persons": persons_of(manifests)}
    whole = first.model_copy(update={**update, "columns": _columns(manifests), "randomness": _randomness(manifests)})
    return Combined(parts, whole, stacked_terms([(part.manifest, part.terms) for part in parts]), None)


def _columns(manifests: Sequence[Manifest]) -> list[ColumnRecord]:
    """The columns of all; where owners have channels of their own, with all of these and the number of the owner."""
    first = manifests[0].columns
    if all(manifest.columns == first for manifest in manifests):
        return list(first)
    channels = {c.name: [m.column(c.name).channel for m in manifests] for c in first if c.channel is not None}  # type: ignore[union-attr]
    several = [
        c.model_copy(update={"channel": None, "channels": channels[c.name]}) if c.name in channels else c for c in first
    ]
    name = OWNER
    while any(c.name == name for c in first):
        name += "_"
    return [*several, ColumnRecord(name=name, role="stratum", type="int32")]


def _randomness(manifests: Sequence[Manifest]) -> Randomness:
    """As secret as the least secret of them; the streams of keys are those of the parts."""
    weakest = next((m.randomness for m in manifests if not m.randomness.secure), manifests[0].randomness)
    return weakest.model_copy(update={"keyed": all(m.randomness.keyed for m in manifests), "streams": None})


def join(parts: Sequence[Release], on: str) -> Combined:
    """The columns of all, by a row id that each of them has once for every row."""
    columns: dict[str, ColumnRecord] = {}
    for part in parts:
        record = part.manifest.column(on)
        if record is None or record.role != "public":
            raise ReleaseError(
                f"{part.path.name!r} has no public column {on!r} to join on; every owner publishes the shared row id"
            )
        if part.manifest.view.joint or not part.manifest.view.row_by_row:
            raise ReleaseError(f"{part.path.name!r} ({part.manifest.mechanism}) cannot be joined; ask it alone")
        if any(part.manifest.role(role) for role in ("stratum", "weight")):
            raise ReleaseError(f"{part.path.name!r} has sub-tables or row weights and cannot be joined; ask it alone")
        for described in part.manifest.columns:
            if described.name in columns and described.name != on:
                raise ReleaseError(
                    f"column {described.name!r} is in two of the releases; joined releases have different columns"
                )
            columns.setdefault(described.name, described)
    manifests = [part.manifest for part in parts]
    update = {"columns": list(columns.values()), "persons": persons_of(manifests), "randomness": _randomness(manifests)}
    whole = parts[0].manifest.model_copy(update=update)
    combined = Combined(parts, whole, joined_terms([(part.manifest, part.terms) for part in parts]), on)
    _demand_same_rows(combined, on)
    return combined


def _demand_same(path: Path, one: Manifest, other_path: Path, other: Manifest) -> None:
    if one.mechanism != other.mechanism or not find_mechanism(one.mechanism).traits.stackable:
        kinds = one.mechanism if one.mechanism == other.mechanism else f"{one.mechanism} and {other.mechanism}"
        raise ReleaseError(
            f"{path.name!r} and {other_path.name!r} ({kinds}) cannot be asked together; rows are put together where every owner "
            "used mechanism uniform, design or fine_grain with the same columns and domains"
        )
    names, others = ([column.name for column in manifest.columns] for manifest in (one, other))
    if names != others:
        odd = sorted(set(names) ^ set(others)) or ["their order"]
        raise ReleaseError(
            f"{path.name!r} and {other_path.name!r} were published by different specs: they differ in {', '.join(odd)}"
        )
    for pair, same in zip(one.columns, other.columns, strict=True):
        if _without_channel(pair) != _without_channel(same):
            raise ReleaseError(
                f"{path.name!r} and {other_path.name!r} were published by different specs: column {pair.name!r} has another domain, "
                "type or coarsening"
            )


def _without_channel(record: ColumnRecord) -> ColumnRecord:
    """A column as all owners must have it; how strongly each perturbed it is its own."""
    return record.model_copy(update={"channel": None})


def _demand_same_rows(combined: Combined, on: str) -> None:
    """Each id once in every part, and the same ids in all."""
    rows = {part.path.name: part.manifest.rows for part in combined.parts}
    counted = combined.engine.run(
        select({"n": count(), "d": exp.Count(this=exp.Distinct(expressions=[column(on)]))}, TABLE)
    ).to_pylist()[0]
    if len(set(rows.values())) != 1 or counted["n"] != counted["d"] or counted["n"] != combined.manifest.rows:
        sentence = ", ".join(f"{name!r}: {count:,} rows" for name, count in rows.items())
        raise ReleaseError(
            f"the row ids in {on!r} do not pair the rows one to one ({sentence}; {counted['n']:,} pairs); joined releases share them"
        )
