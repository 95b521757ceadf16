"""Counts of rows by group, as forms compare them: of the published table, and of tables of all that there could be."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from scumble.core.domain import Domain
from scumble.core.errors import NotEstimable, QueryError
from scumble.engines.engine import TABLE, Engine
from scumble.engines.expressions import count, select
from scumble.query.model import Group, Query
from scumble.query.normalize import conjuncts

MOST = 10_000_000
"""Combinations of the columns of a question, at most."""

Keys = dict[str, exp.Expression]
Cell = tuple[tuple[str, Any], ...]
"""The values of some groups, each under the name of its key."""


def keys_of(query: Query) -> Keys:
    """The expressions that are grouped by, each under a name of its own."""
    return {f"g{i}": group.expression for i, group in enumerate(query.groups)}


def parts_of(query: Query) -> list[exp.Expression]:
    """What is grouped by, and the conditions that all have to hold."""
    return [*(group.expression for group in query.groups), *conjuncts(query.where)]


def named(parts: Sequence[exp.Expression]) -> set[str]:
    """The columns that expressions are about."""
    return {column.name for part in parts for column in part.find_all(exp.Column)}


def demand_counts(query: Query, what: str) -> None:
    """Refuses all but COUNT(*)."""
    if query.derived is not None and query.derived.distinct:
        raise QueryError(
            f"SELECT DISTINCT cannot be answered by a release of {what}; ask for COUNT(*) by these columns"
        )
    for aggregate in query.aggregates:
        if aggregate.kind != "count" or aggregate.value is not None:
            raise QueryError(f"a release of {what} answers COUNT(*), and not {aggregate.name!r}")


def cell_counts(
    engine: Engine, keys: Keys, conditions: Sequence[exp.Expression], table: str = TABLE
) -> dict[Cell, int]:
    """How many rows of each group satisfy all conditions."""
    lines = ordered(engine.run(select({**keys, "n": count()}, table, conditions, len(keys))), list(keys))
    return {cell_of(line, keys): int(line["n"]) for line in lines.to_pylist()}


def cell_of(line: Mapping[str, Any], keys: Keys) -> Cell:
    """The cell of a line of a result."""
    return tuple((name, _comparable(line[name])) for name in keys)


def _comparable(value: Any) -> Any:
    """A value that equals itself: what is not a number does not, and is one group."""
    return np.nan if value != value else value


def ordered(lines: pa.Table, names: Sequence[str]) -> pa.Table:
    """Lines in the order of some columns, what is missing last."""
    if not names or lines.num_rows < 2:
        return lines
    return lines.take(pc.sort_indices(lines, sort_keys=[(name, "ascending") for name in names]))


def cell_columns(query: Query, cells: Sequence[Cell]) -> pa.Table:
    """The group columns of an answer."""
    places = {group.expression: name for name, group in zip(keys_of(query), query.groups, strict=True)}
    lines = [dict(cell) for cell in cells]
    outputs = [o for o in query.outputs if isinstance(o, Group)]
    return pa.table({o.name: pa.array([line[places[o.expression]] for line in lines]) for o in outputs})


def line_columns(query: Query, lines: pa.Table) -> pa.Table:
    """The same from a result that has the keys as columns."""
    places = {group.expression: name for name, group in zip(keys_of(query), query.groups, strict=True)}
    return pa.table({o.name: lines.column(places[o.expression]) for o in query.outputs if isinstance(o, Group)})


def combinations(domains: Mapping[str, Domain], way_out: str) -> pa.Table:
    """Each combination of values once."""
    shape = [domain.size for domain in domains.values()]
    size = int(np.prod(np.array(shape, dtype=object)))
    if size > MOST:
        raise NotEstimable(f"{', '.join(domains)} have {size:,} combinations, more than {MOST:,}; {way_out}")
    places = np.unravel_index(np.arange(size), shape)
    taken = zip(domains.items(), places, strict=True)
    return pa.table({name: domain.values.take(pa.array(place)) for (name, domain), place in taken})
