"""The tuples of published tables, counted once for all questions, as a table that an engine knows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from scumble.core.domain import Domain
from scumble.engines.engine import Engine, registered
from scumble.engines.expressions import column, count, double, select, table
from scumble.forms.tuples.capped_table import PLACE, CappedTable
from scumble.forms.tuples.linear import Floats
from scumble.forms.tuples.marginals import dense, domain_table
from scumble.forms.tuples.statement import NOISE, NUMBER, TUPLE, Summed, sums_of
from scumble.forms.tuples.suppressed import Span
from scumble.mechanisms.kept_columns import KeptColumn
from scumble.query.groups import Keys, ordered

COUNT = "scumble n"
"""The column that says how often a tuple was published."""

DECLARED = "scumble_declared_{}"
"""Tables of values that columns can have."""


@dataclass(frozen=True)
class CountingRule:
    """What a tuple that is published n times counts: n with one variance above the floor, something else at the floor."""

    floor: int = 0
    at_floor: float = 0.0
    variance_at_floor: float = 0.0
    variance_above: float = 0.0

    def applied(self, tuples: pa.Table, of: CappedTable | None = None) -> pa.Table:
        """The tuples with the rows that each stands for, and how uncertain that is; `of` a table whose tuples were capped."""
        rows, noise = self.estimates(tuples)
        if of is not None:
            rows, noise = of.scaled(rows, noise)
        return tuples.append_column(NUMBER, pa.array(rows)).append_column(NOISE, pa.array(noise))

    def estimates(self, tuples: pa.Table) -> tuple[Floats, Floats]:
        """The rows behind each tuple, and their variances."""
        counts = tuples.column(COUNT).to_numpy().astype(np.float64)
        above = counts > self.floor if self.variance_above else np.ones(len(counts), dtype=np.bool_)
        rows = np.where(above, counts, self.at_floor)
        return rows, np.where(above, self.variance_above, self.variance_at_floor)

    def published(self, tuples: pa.Table, column: KeptColumn | None) -> CappedTable:
        """All tuples of a table that was capped."""
        rows, noise = self.estimates(tuples)
        return CappedTable(column, float(rows.sum()), float(noise.sum()))


@dataclass(frozen=True)
class CountedTuples:
    """A table of counted tuples: of rows, or of transactions, of which a tuple has several."""

    engine: Engine
    table: str
    several: bool

    def sums(self, keys: Keys, where: exp.Expression | None, values: Sequence[Summed]) -> pa.Table:
        """The sums of a question, group by group."""
        return ordered(self.engine.run(sums_of(self.table, self.several, keys, where, values)), list(keys))

    def ends(
        self, values: Sequence[exp.Expression], where: exp.Expression | None
    ) -> list[tuple[pa.DataType, Any, Any]]:
        """The type of each value, and its least and most in the tuples that match."""
        asked = {f"{name}{i}": way(this=v.copy()) for i, v in enumerate(values) for name, way in _ENDS.items()}
        lines = self.engine.run(select(asked, self.table, [where] if where is not None else []))
        pairs = [(lines.column(f"low{i}"), lines.column(f"high{i}")) for i in range(len(values))]
        return [(low.type, low[0].as_py(), high[0].as_py()) for low, high in pairs]

    def ends_among(
        self, value: exp.Expression, where: exp.Expression | None, among: Mapping[str, pa.Array]
    ) -> Span | None:
        """The least and the most of a value for all combinations of what columns can be; nothing where there is none."""
        tables = {DECLARED.format(i): pa.table({name: values}) for i, (name, values) in enumerate(among.items())}
        asked = {name: way(this=double(value)) for name, way in _ENDS.items()}
        first, *others = tables
        statement = select(asked, first, [where] if where is not None else [])
        for other in others:
            statement = statement.join(table(other), join_type="CROSS")
        with registered(self.engine, tables):
            (line,) = self.engine.run(statement).to_pylist()
        return None if line["low"] is None else (line["low"], line["high"])

    def constants(self, values: Sequence[exp.Expression]) -> list[float]:
        """The numbers that expressions without columns are; those that are missing left out."""
        asked = exp.select(*(exp.alias_(double(value), f"c{i}") for i, value in enumerate(values)))
        (line,) = self.engine.run(asked).to_pylist()
        return [value for value in line.values() if value is not None]

    def is_truth(self, value: exp.Expression) -> bool:
        """Whether a value is true, false or missing."""
        return bool(pa.types.is_boolean(self._type(value)))

    def kind(self, name: str) -> pa.DataType:
        """The type of a column."""
        return self._type(column(name))

    def _type(self, value: exp.Expression) -> pa.DataType:
        empty = self.engine.run(select({"v": value}, self.table).limit(exp.Literal.number(0)))
        return empty.schema.field("v").type


_ENDS: dict[str, type[exp.AggFunc]] = {"low": exp.Min, "high": exp.Max}


def tuples_of(engine: Engine, part: str, columns: Sequence[str]) -> pa.Table:
    """The different tuples of a table, and how often each is in it."""
    keys = {name: column(name) for name in columns}
    return engine.run(select({**keys, COUNT: count()}, part, (), len(keys)))


def over_domain(tuples: pa.Table, domains: Mapping[str, Domain]) -> pa.Table:
    """Every tuple of the domain, those that were not published with a count of 0."""
    return pa.table({**domain_table(domains), COUNT: dense(tuples, domains, COUNT).ravel().astype(np.int64)})


def owned(parts: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """The items that each table answers for: one that is in several tables is taken from the first that has it."""
    taken: set[Any] = set()
    own = []
    for items in parts:
        own.append([item for item in items if item not in taken])
        taken |= set(items)
    return own


def pairs_of(engine: Engine, part: str, roles: Mapping[str, str]) -> pa.Table:
    """The pairs of each pattern of a table of transactions."""
    return tuples_of(engine, part, [roles[role] for role in ("item", "value", "pattern") if role in roles])


def of_items(pairs: pa.Table, place: int, own: Sequence[Any], roles: Mapping[str, str]) -> pa.Table:
    """The pairs of some items, with their table, and a number of their pattern that no other table has."""
    known = pa.array(own).cast(pairs.schema.field(roles["item"]).type)
    pairs = pairs.filter(pc.is_in(pairs.column(roles["item"]), value_set=known, skip_nulls=True))
    numbers: npt.NDArray[np.int64] = pairs.column(roles["pattern"]).to_numpy().astype(np.int64)
    pairs = pairs.drop_columns([roles["pattern"]]).append_column(TUPLE, pa.array(np.int64(place) << 40 | numbers))
    return pairs.append_column(PLACE, pa.array(np.full(len(pairs), place)))


def patterns_of(pairs: pa.Table, roles: Mapping[str, str]) -> pa.Table:
    """Each pattern once."""
    first = pairs.group_by(roles["pattern"]).aggregate([(COUNT, "min")])
    return first.select([f"{COUNT}_min"]).rename_columns([COUNT])
