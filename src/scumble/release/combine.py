"""Releases of several owners, asked as one.

    stacked   each owner has some of the rows and published them with the same spec: the rows are put below each other
    joined    each owner has some of the columns of the same rows and published them with a shared row id: the rows are put together

Coins of different owners are independent, so the weights of joined columns multiply as those of one release do, and the
amplifications of what is said about one person multiply too.
"""

from collections.abc import Sequence
from pathlib import Path

from sqlglot import exp

from scumble.core.errors import ReleaseError
from scumble.engines import open_engine
from scumble.engines.engine import TABLE, Engine
from scumble.engines.expressions import column, count, select, table
from scumble.mechanisms import find_mechanism
from scumble.release.manifest import Manifest
from scumble.release.records import ColumnRecord
from scumble.release.release import Release


class Combined(Release):
    """Several releases behind one table."""

    def __init__(self, parts: Sequence[Release], manifest: Manifest, on: str | None) -> None:
        super().__init__(parts[0].path, manifest, parts[0].choice, parts[0].timeout)
        self.parts = list(parts)
        self._on = on

    def demand_same(self) -> None:
        """Of all of them."""
        for part in self.parts:
            part.demand_same()

    def _make_engine(self) -> Engine:
        files = [[part.file(path) for path in part.manifest.data] for part in self.parts]
        if self._on is None:
            return open_engine({TABLE: [file for own in files for file in own]}, self.choice)
        parts = {f"part{i}": file for i, file in enumerate(files)}
        return open_engine({**parts, TABLE: self._joined(self._on)}, self.choice)

    def _joined(self, on: str) -> exp.Select:
        """The columns of all parts, the row id once."""
        held = [(f"part{i}", part.manifest.columns) for i, part in enumerate(self.parts)]
        names = {c.name: column(c.name, place) for place, records in reversed(held) for c in records}
        statement = select(names, table("part0"))
        for place, _ in held[1:]:
            statement = statement.join(table(place), on=exp.EQ(this=column(on, "part0"), expression=column(on, place)))
        return statement


def stack(parts: Sequence[Release]) -> Combined:
    """The rows of all, which must have been published by one spec."""
    first = parts[0].manifest
    for part in parts[1:]:
        _demand_same(parts[0].path, first, part.path, part.manifest)
    if len({part.manifest.digest for part in parts}) < len(parts):
        raise ReleaseError("the same release is named twice; each owner's rows are counted once")
    rows = sum(part.manifest.rows for part in parts)
    return Combined(parts, first.model_copy(update={"rows": rows}), None)


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
    whole = parts[0].manifest.model_copy(update={"columns": list(columns.values())})
    combined = Combined(parts, whole, on)
    _demand_same_rows(combined, on)
    return combined


def _demand_same(path: Path, one: Manifest, other_path: Path, other: Manifest) -> None:
    if one.mechanism != other.mechanism or not find_mechanism(one.mechanism).traits.stackable:
        kinds = one.mechanism if one.mechanism == other.mechanism else f"{one.mechanism} and {other.mechanism}"
        raise ReleaseError(
            f"{path.name!r} and {other_path.name!r} ({kinds}) cannot be asked together; rows are put together where every owner "
            "used mechanism uniform, design or fine_grain with the same spec"
        )
    names, others = ([column.name for column in manifest.columns] for manifest in (one, other))
    if names != others:
        odd = sorted(set(names) ^ set(others)) or ["their order"]
        raise ReleaseError(
            f"{path.name!r} and {other_path.name!r} were published by different specs: they differ in {', '.join(odd)}"
        )
    for pair, same in zip(one.columns, other.columns, strict=True):
        if pair != same:
            raise ReleaseError(
                f"{path.name!r} and {other_path.name!r} were published by different specs: column {pair.name!r} has another domain, "
                "type, coarsening or retention"
            )


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
