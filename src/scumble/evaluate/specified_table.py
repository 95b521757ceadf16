"""A table with its spec, read once: what comparing and advising start from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError
from scumble.mechanisms.declared_table import spec_table
from scumble.mechanisms.plan import Profile
from scumble.publishing.persons import persons_of
from scumble.publishing.roles import decided
from scumble.sources.source import Source, read
from scumble.spec.spec import Spec, read_spec
from scumble.truth import Truth


@dataclass(frozen=True, eq=False)
class SpecifiedTable:
    """The spec in the order of the table's columns, the truth, and what a planner sees of it."""

    spec: Spec
    truth: Truth
    profile: Profile

    @classmethod
    def of(cls, table: Any, spec: Any = None) -> "SpecifiedTable":
        """From a spec that names its table, or from a table and a spec for it."""
        if isinstance(table, SpecifiedTable):
            return table
        given, source = _read(table, spec)
        ordered = decided(given, source)
        source = persons_of(source, ordered, Entropy.system()).table
        truth = Truth.of_spec(source, ordered)
        from_data = [name for name in truth.sensitive if ordered.columns[name].from_data]
        counts = {name: truth.counts(name) for name in truth.sensitive}
        return cls(ordered, truth, Profile(dict(truth.domains), from_data, counts))


def _read(table: Any, spec: Any) -> tuple[Spec, Source]:
    if spec is None:
        if not isinstance(table, str | Path) and not isinstance(table, Spec):
            raise ParameterError("say which columns are sensitive: give a spec (.toml), or a spec beside the table")
        given = table if isinstance(table, Spec) else read_spec(table)
        return given, spec_table(given)
    return (spec if isinstance(spec, Spec) else read_spec(spec)), (table if hasattr(table, "batches") else read(table))
