"""Functions of perturbed columns, asked of all values that these can have: the published table is not touched."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from scumble.core.arrow_types import is_text
from scumble.core.domain import Domain
from scumble.core.errors import QueryError
from scumble.engines.engine import Engine, registered
from scumble.engines.expressions import column, select
from scumble.query.groups import combinations
from scumble.query.model import Group, written
from scumble.query.terms import OfColumns

PLACE = "scumble place"
DOMAIN = "scumble_values"
WAY_OUT = "ask about fewer columns at once"


@dataclass(frozen=True)
class Key:
    """A function of perturbed columns that is grouped by."""

    group: Group
    columns: list[str]
    codes: npt.NDArray[np.intp]
    """Which of its values it has, for each combination of values of the columns."""
    values: pa.Array


def hidden(expression: exp.Expression, domains: Mapping[str, Domain]) -> list[str]:
    """The perturbed columns of an expression, in the order of their names."""
    return sorted({c.name for c in expression.find_all(exp.Column) if c.name in domains})


def fill(functions: Iterable[OfColumns], domains: Mapping[str, Domain], engine: Engine) -> None:
    """What functions are for each combination of values, in one statement for all of the same columns."""
    by_columns: dict[tuple[str, ...], list[OfColumns]] = {}
    for function in functions:
        by_columns.setdefault(tuple(function.columns), []).append(function)
    for columns, alike in by_columns.items():
        by_place = asked(columns, [f.expression for f in alike], domains, engine)
        for function, values in zip(alike, by_place, strict=True):
            function.values = _numbers(values, function.expression)


def key_of(group: Group, domains: Mapping[str, Domain], engine: Engine) -> Key:
    """A group of perturbed columns: the columns themselves in the order of their domains, functions in the order of their values."""
    names, expression = hidden(group.expression, domains), group.expression.unnest()
    others = sorted({c.name for c in expression.find_all(exp.Column)} - set(names))
    if others:
        raise QueryError(
            f"GROUP BY {written(expression)} mixes the perturbed column {names[0]!r} with {others[0]!r}; group by an expression of each apart"
        )
    if isinstance(expression, exp.Column):
        domain = domains[expression.name]
        return Key(group, names, np.arange(domain.size), domain.values)
    (values,) = asked(names, [expression], domains, engine)
    listed = values.dictionary_encode(null_encoding="encode")
    order = pc.sort_indices(listed.dictionary).to_numpy()
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    return Key(group, names, places[listed.indices.to_numpy()], listed.dictionary.take(pa.array(order)))


def asked(
    columns: Sequence[str], expressions: Sequence[exp.Expression], domains: Mapping[str, Domain], engine: Engine
) -> list[pa.Array]:
    """Expressions of some columns for each combination of their values, in the order of these."""
    table = combinations({name: domains[name] for name in columns}, WAY_OUT)
    table = table.append_column(PLACE, pa.array(np.arange(table.num_rows)))
    wanted = {"place": column(PLACE), **{f"f{i}": e for i, e in enumerate(expressions)}}
    with registered(engine, {DOMAIN: table}):
        rows = engine.run(select(wanted, DOMAIN))
    order = pa.array(np.argsort(rows.column("place").to_numpy()))
    return [rows.column(f"f{i}").combine_chunks().take(order) for i in range(len(expressions))]


def _numbers(values: pa.Array, expression: exp.Expression) -> npt.NDArray[np.float64]:
    """NaN where a value is missing."""
    kind = values.type
    if is_text(kind) or pa.types.is_temporal(kind):
        raise QueryError(f"{written(expression)} needs numbers to be summed or averaged, but has values of type {kind}")
    plain = values.cast(pa.int8()) if pa.types.is_boolean(kind) else values
    numbers = np.asarray(plain.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    if np.isinf(numbers).any():
        raise QueryError(f"{written(expression)} is infinite for some values; exclude them by NULLIF or CASE")
    return numbers
