"""What an audit has before it: the published rows, the raw table where there is one, and other publications of the same people."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from scumble.audit.exhibit import Codes, Exhibit, together, whole_table
from scumble.audit.recode import recoded
from scumble.errors import ParameterError
from scumble.tables import Table


@dataclass(frozen=True, eq=False)
class Groups:
    """People who agree on every quasi-identifier: the group of each published row, and of each person of the raw table."""

    published: Codes
    raw: Codes
    count: int

    @cached_property
    def rows(self) -> Codes:
        """How many published rows each group has."""
        return np.bincount(self.published, minlength=self.count)

    @cached_property
    def people(self) -> Codes:
        """How many people of the raw table each group has."""
        return np.bincount(self.raw, minlength=self.count)


@dataclass(frozen=True, eq=False)
class Case:
    """One audit."""

    exhibit: Exhibit
    source: Table | None = None
    """The raw table."""
    others: list[Exhibit] = field(default_factory=list)

    @cached_property
    def raw(self) -> pa.Table | None:
        """The raw table's columns that were published, in the form in which they were published, in the order of its rows."""
        if self.source is None:
            return None
        names = [n for n in self.source.schema.names if n in self._published_names]
        missing = [n for n in (*self.exhibit.quasi, *self.exhibit.sensitive) if n not in names]
        if missing:
            raise ParameterError(f"the raw table has no column {missing[0]!r}; is it the table that was published?")
        whole = whole_table(self.source, names)
        return whole if self.exhibit.manifest is None else recoded(whole, self.exhibit.manifest)

    @property
    def _published_names(self) -> list[str]:
        manifest = self.exhibit.manifest
        if manifest is not None:
            return [column.name for column in manifest.columns]
        return list(self.exhibit.table.column_names)

    @cached_property
    def groups(self) -> Groups:
        """By the quasi-identifiers."""
        quasi, table = self.exhibit.quasi, self.exhibit.table
        if self.raw is None:
            (published,), count = together(quasi, table)
            return Groups(published, np.zeros(0, dtype=np.int64), count)
        (published, raw), count = together(quasi, table, self.raw)
        found = Groups(published, raw, count)
        if self.exhibit.perturbed and np.any(found.people[found.rows > 0] == 0):
            raise ParameterError("the raw table has not the groups of the release; is it the table that was published?")
        return found

    @cached_property
    def scored(self) -> bool:
        """Whether the raw table can score: it is there, and most published rows have public values of it, not labels that stand for some."""
        if self.raw is None:
            return False
        groups = self.groups
        return bool((groups.people[groups.published] > 0).mean() > 0.5) if len(groups.published) else False
