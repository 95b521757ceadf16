"""Rows that have a place in what was declared, where a mechanism promises that no single row shows in any output.

To refuse a table for a value outside of its domain would tell of a single row that it is there. So such a row is left out, by a rule that looks at the row
alone and was fixed before: tables that differ in one row differ in one row after it, or in none, and what is promised of the rest holds.
What is left out is told to nobody.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial, reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.domain import Domain
from scumble.mechanisms import find_mechanism
from scumble.sources.source import Source
from scumble.spec.coarsening import has_place
from scumble.spec.spec import Coarsen, Spec

Rule = Callable[[pa.Array], pa.Array]
"""Which values of a column have a place, as booleans without a missing one."""


def admitted(table: Source, spec: Spec, domains: Mapping[str, Domain]) -> Source:
    """The rows that are counted: all of them, where nothing was declared that could leave one out."""
    rules = rules_of(spec, domains)
    return AdmittedRows(table, rules) if rules else table


def rules_of(spec: Spec, domains: Mapping[str, Domain]) -> dict[str, Rule]:
    """What is asked of columns: a value in the domain, a place in the recoding; and of the parts of a transaction, that there is a value."""
    chosen = find_mechanism(spec.mechanism)
    if not chosen.traits.every_output:
        return {}
    named = [str(spec.settings[part]) for part in chosen.column_settings if spec.settings.get(part) is not None]
    parts = [name for name in named if name in spec.columns]  # its plan refuses others
    rules = {
        name: partial(_admits, spec.columns[name].coarsen, domains.get(name), name in parts) for name in spec.columns
    }
    used = {*spec.published, *parts}
    bare = {name for name in used if spec.columns[name].coarsen is None and name not in domains and name not in parts}
    return {name: rules[name] for name in spec.columns if name in used - bare}


def _admits(how: Coarsen | None, domain: Domain | None, needed: bool, column: pa.Array) -> pa.Array:
    asked = [pc.is_valid(column)] if needed else []
    asked += [] if how is None else [has_place(column, how)]
    asked += [] if domain is None else [domain.holds(column)]
    return reduce(pc.and_, asked)


class AdmittedRows:
    """The rows of a table whose values all have their place."""

    def __init__(self, table: Source, rules: Mapping[str, Rule]) -> None:
        self._table, self._rules = table, rules
        self.name, self.schema, self.stable = table.name, table.schema, table.stable
        self.rows: int | None = None

    @property
    def files(self) -> Sequence[Path]:
        """The files of the table."""
        return self._table.files

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns."""
        names = list(dict.fromkeys([*columns, *self._rules]))
        for batch in self._table.batches(names):
            kept = reduce(pc.and_, [rule(batch.column(name)) for name, rule in self._rules.items()])
            yield batch.select(list(columns)).filter(kept)
