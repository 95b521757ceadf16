"""What an audit has before it: the published rows, the raw table where there is one, and other publications of the same people."""

from collections.abc import Container
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.auditing.evidence.boxes import box_of
from scumble.auditing.evidence.excerpt import Excerpt
from scumble.auditing.evidence.publication import Codes, Narrow, Publication, batches_of, together, whole_table
from scumble.core.errors import ParameterError
from scumble.core.once import once
from scumble.publishing.ledger import Ledger
from scumble.sources.source import Source
from scumble.truth import recoded

NEAR = 0.01
"""How far numbers may lie from those of the raw table, as a share of their range, to be taken for them."""


@dataclass(frozen=True, eq=False)
class Crowds:
    """People who agree on every quasi-identifier: the group of each published row, and of each person of the raw table."""

    published: Codes
    raw: Codes
    count: int

    @once
    def rows(self) -> Codes:
        """How many published rows each group has."""
        return np.bincount(self.published, minlength=self.count)

    @once
    def people(self) -> Codes:
        """How many people of the raw table each group has."""
        return np.bincount(self.raw, minlength=self.count)

    @property
    def strangers(self) -> npt.NDArray[np.bool_]:
        """Published rows of groups that nobody of the raw table is in."""
        return np.asarray(self.people[self.published] == 0)


STRANGE = "the raw table has not the groups of the release; is it the table that was published?"


@dataclass(frozen=True, eq=False)
class Case:
    """One audit."""

    publication: Publication
    source: Source | None = None
    """The raw table."""
    others: list[Publication] = field(default_factory=list)
    ledger: Ledger | None = None
    """What its publisher noted of whom was published."""
    beyond: Source | None = None
    """People like those of the raw table who are not in it."""

    @property
    def raw(self) -> pa.Table | None:
        """The raw table's columns that were published, in the form in which they were published, in the order of its rows; perturbed ones are in `truth`."""
        return self._read[0] if self.source is not None else None

    @once
    def people(self) -> pa.Table:
        """The raw table's columns as they are, for what compares values and not codes."""
        assert self.source is not None
        every = [self.publication, *self.others]
        names = {name for one in every for name in (*one.quasi, *one.sensitive, *one.beside)}
        if self.publication.manifest is None:
            names |= set(self.publication.table.column_names)
        return self.excerpt([name for name in self.source.schema.names if name in names])

    def excerpt(self, names: list[str], of: Excerpt | None = None) -> pa.Table:
        """Some columns of the raw table as they are, of the people who are looked at."""
        assert self.source is not None
        chosen = of or self.publication.excerpt
        if chosen.whole:
            return whole_table(self.source, names)
        parts, manifest = [], self.publication.manifest
        for batch in batches_of(self.source, list(dict.fromkeys([*names, *chosen.names]))):
            part = pa.Table.from_batches([batch])
            shown = part.select(chosen.names) if manifest is None else recoded(part.select(chosen.names), manifest)
            parts.append(part.select(names).take(pa.array(chosen.rows(shown))))
        return pa.concat_tables(parts, promote_options="permissive")

    @once
    def control(self) -> pa.Table | None:
        """People who are not in the table, with the columns of `people`."""
        if self.beyond is None:
            return None
        missing = [name for name in self.people.column_names if name not in self.beyond.schema.names]
        if missing:
            raise ParameterError(
                f"the control table has no column {missing[0]!r}; give people with the columns of the raw table"
            )
        return whole_table(self.beyond, self.people.column_names)

    @property
    def length(self) -> int:
        """How many rows the raw table has."""
        return self._read[3] if self.source is not None else 0

    @property
    def place(self) -> Codes:
        """The places in the raw table of the people who are looked at."""
        return self._read[2]

    def truth(self, name: str) -> Codes:
        """The true values of a perturbed column as places in its domain, in the order of the raw table's rows."""
        return self._read[1][name].astype(np.int64)

    @once
    def _read(self) -> tuple[pa.Table, dict[str, Narrow], Codes, int]:
        """One reading of the raw table: its public columns, the codes of perturbed ones, of which nothing else is ever whole in memory, the places of the rows, and how many there are."""
        assert self.source is not None
        names = [n for n in self.source.schema.names if n in self._published_names]
        missing = [n for n in (*self.publication.quasi, *self.publication.sensitive) if n not in names]
        if missing:
            raise ParameterError(f"the raw table has no column {missing[0]!r}; is it the table that was published?")
        manifest, excerpt = self.publication.manifest, self.publication.excerpt
        sensitive = self.publication.sensitive if manifest is not None and self.publication.coined else []
        coded: dict[str, list[Narrow]] = {n: [] for n in sensitive}
        parts, places, start = list[pa.Table](), [np.zeros(0, np.int64)], 0
        for batch in batches_of(self.source, names):
            part = pa.Table.from_batches([batch])
            part = part if manifest is None else recoded(part, manifest)
            rows = excerpt.rows(part)
            places.append(rows + start)
            start += part.num_rows
            part = part if excerpt.whole else part.take(pa.array(rows))
            for name, codes in coded.items():
                codes += [self.publication.encoded(name, chunk) for chunk in part.column(name).chunks]
            parts.append(_without(coded, part))
        whole = pa.concat_tables(parts, promote_options="permissive") if parts else whole_table(self.source, names)
        codes_of = {name: np.concatenate([*codes, np.zeros(0, np.uint8)]) for name, codes in coded.items()}
        return whole, codes_of, np.concatenate(places), start

    @property
    def _published_names(self) -> list[str]:
        manifest = self.publication.manifest
        if manifest is not None:
            return [column.of or column.name for column in manifest.columns]
        return list(self.publication.table.column_names)

    @once
    def groups(self) -> Crowds:
        """By the quasi-identifiers, as far as they were published unaltered; of a generalised release, by its boxes."""
        if self.publication.generalized and self.raw is not None:
            rows, boxes = self.publication.table.num_rows, self.boxes
            return Crowds(np.arange(rows), np.where(boxes < 0, rows, boxes), rows + 1)
        groups = self.groups_by([name for name in self.publication.quasi if name not in self.altered])
        if self.raw is not None and self.publication.perturbed and groups.strangers.any():
            raise ParameterError(STRANGE)
        return groups

    @once
    def boxes(self) -> Codes:
        """The box of each person of the raw table, -1 for whoever lies in none."""
        assert self.raw is not None
        boxes = box_of(self.publication, self.raw)
        if not (boxes >= 0).any() or (boxes < 0).mean() > 0.5:
            raise ParameterError(STRANGE)
        return boxes

    @once
    def known(self) -> tuple[Codes, Codes]:
        """People whose row is known, being the only one with their public values, and their rows: places in the raw table and among the published rows."""
        groups = self.groups
        alone = (groups.rows == 1) & (groups.people == 1)
        rows = np.flatnonzero(alone[groups.published])
        place = np.zeros(groups.count, dtype=np.int64)
        place[groups.raw] = np.arange(len(groups.raw))
        return place[groups.published[rows]], rows

    @once
    def altered(self) -> dict[str, npt.NDArray[np.bool_]]:
        """The public columns of a perturbed release with values that the raw table does not have, and in which rows; refused where it is another table."""
        quasi = self.publication.quasi
        if self.raw is None or not self.publication.perturbed or not self.groups_by(quasi).strangers.any():
            return {}
        strangers = {name: self.groups_by([name]).strangers for name in quasi}
        altered = {name: rows for name, rows in strangers.items() if rows.any()}
        for name, rows in altered.items():
            if not alike(self.publication.table.column(name), self.raw.column(name), rows):
                raise ParameterError(STRANGE)
        return altered

    def groups_by(self, names: list[str]) -> Crowds:
        """By some columns."""
        if self.raw is None:
            (published,), count = together(names, self.publication.table)
            return Crowds(published, np.zeros(0, dtype=np.int64), count)
        (published, raw), count = together(names, self.publication.table, self.raw)
        return Crowds(published, raw, count)

    @once
    def scored(self) -> bool:
        """Whether the raw table can score: it is there, and most published rows have public values of it, not labels that stand for some."""
        if self.raw is None:
            return False
        groups = self.groups
        return bool((groups.people[groups.published] > 0).mean() > 0.5) if len(groups.published) else False


def _without(names: Container[str], table: pa.Table) -> pa.Table:
    """A table without some columns; where none is left it still has its rows."""
    left = [name for name in table.column_names if name not in names]
    return table.select(left) if left else pa.table({"": pa.nulls(table.num_rows)})


def alike(published: pa.ChunkedArray, raw: pa.ChunkedArray, strangers: npt.NDArray[np.bool_]) -> bool:
    """Whether a column is that of the raw table but for details: as many rows, and most values there, or numbers that lie where its numbers do."""
    if len(published) != len(raw):
        return False
    if strangers.mean() < 0.5:
        return True
    if not all(pa.types.is_integer(c.type) or pa.types.is_floating(c.type) for c in (published, raw)):
        return False
    a, b = (np.sort(c.to_numpy().astype(np.float64)) for c in (published, raw))  # missing ones last
    there = np.isfinite(a) & np.isfinite(b)
    if (np.isnan(a) != np.isnan(b)).any() or not there.any():
        return False
    return bool(np.abs(a - b)[there].max() <= NEAR * np.ptp(b[there]))
