"""Rows that stand for groups, with DuckDB: which part of each box satisfies the conditions on public columns.

Conditions and groups that share a column belong together; those that share none are independent within a box. For each such part the different sides of
its columns are taken once, every value that they hold is laid out, and the share of those that satisfy the conditions is joined back to the boxes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
from sqlglot import exp

from scumble.engines.duckdb.complaint import refusal
from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.interruptible import arrow
from scumble.engines.sql import parquet, quoted

POINTS = 512
"""Values of a range that are laid out, at most: of a longer one, and of numbers that are not whole, so many in even distances."""


@dataclass(frozen=True)
class Side:
    """A public column of the table: the published columns that have its two ends, or its set of values."""

    name: str
    columns: Sequence[str]
    type: str

    def values(self, *ends: str) -> str:
        """The values of a side as a list, in SQL."""
        if len(ends) == 1:
            return ends[0]
        low, high = ends
        if self.type.startswith("timestamp"):
            return _points(f"epoch_us({high}) - epoch_us({low})", False, f"{low} + to_microseconds(CAST(%s AS BIGINT))")
        if self.type.startswith("date"):
            return _points(f"{high} - {low}", True, f"{low} + CAST(floor(%s) AS INTEGER)")
        if "int" in self.type:
            return _points(f"{high}::HUGEINT - {low}", True, f"CAST({low} + CAST(floor(%s) AS HUGEINT) AS BIGINT)")
        return _points(f"{high}::DOUBLE - {low}", False, f"{low} + %s")


def _points(span: str, whole: bool, value: str) -> str:
    """The middles of equal parts of a range: all of its values, where they are whole and not too many."""
    width = f"({span} + 1)" if whole else f"({span})"
    count = f"CAST(LEAST({width}, {POINTS}) AS BIGINT)" if whole else f"IF(({span}) = 0, 1, {POINTS})"
    return f"list_transform(range({count}), lambda i: {value % f'((i + 0.5) / {count} * {width}::DOUBLE)'})"


@dataclass(frozen=True)
class Part:
    """Conditions and groups that share columns."""

    sides: Sequence[Side]
    keys: dict[str, exp.Expression]
    conditions: Sequence[exp.Expression]

    @property
    def columns(self) -> list[str]:
        """The published columns that it is about."""
        return [name for side in self.sides for name in side.columns]

    def sql(self) -> str:
        """For each combination of sides and each group the share f of their values that satisfies the conditions."""
        places = {name: f'"scumble {i}"' for i, name in enumerate(self.columns)}
        laid = ", ".join(f"{quoted(name)} AS {place}" for name, place in places.items())
        laid = f'SELECT *, 1.0::DOUBLE AS "scumble f" FROM (SELECT DISTINCT {laid} FROM boxes)'
        for side in self.sides:
            values = side.values(*[places[name] for name in side.columns])
            laid = (
                f'SELECT * EXCLUDE ("scumble l", "scumble f"), unnest("scumble l") AS {quoted(side.name)}, "scumble f" / len("scumble l") AS "scumble f" '
                f'FROM (SELECT *, {values} AS "scumble l" FROM ({laid}))'
            )
        keys = [f"{e.sql(dialect='duckdb')} AS {name}" for name, e in self.keys.items()]
        where = " AND ".join(f"({c.sql(dialect='duckdb')})" for c in self.conditions) or "TRUE"
        grouped = ", ".join([*places.values(), *self.keys])
        return f'SELECT {", ".join([*places.values(), *keys])}, SUM("scumble f") AS f FROM ({laid}) WHERE {where} GROUP BY {grouped}'


def box_sums(files: Sequence[Path], size: str, value: str, parts: Sequence[Part]) -> pa.Table:
    """For each group and published value y, over its n boxes, of which a part f is asked for: sums of the rows that they count for.

    w   of size * f
    q   of (size * f)^2
    u   of size * f * (1 - f)
    """
    keys = [name for part in parts for name in part.keys]
    joins = "".join(f" JOIN ({part.sql()}) AS p{i} ON {_same(part, i)}" for i, part in enumerate(parts))
    part = " * ".join(["1.0::DOUBLE", *(f"p{i}.f" for i in range(len(parts)))])
    shown = "".join(f"{name}, " for name in keys)
    statement = f"""WITH boxes AS MATERIALIZED (SELECT * FROM {parquet(files)})
        SELECT {shown} y, SUM(s * f) AS w, SUM(s * s * f * f) AS q, SUM(s * f * GREATEST(0, 1 - f)) AS u, COUNT(*) AS n
        FROM (SELECT {shown} boxes.{quoted(value)} AS y, boxes.{quoted(size)}::DOUBLE AS s, {part} AS f FROM boxes{joins})
        GROUP BY {shown} y ORDER BY ALL"""
    with connect(files) as connection:
        try:
            return arrow(connection, statement)
        except duckdb.Error as error:
            raise refusal(error, connection, [], []) from None


def _same(part: Part, place: int) -> str:
    pairs = enumerate(part.columns)
    return " AND ".join(f'boxes.{quoted(name)} IS NOT DISTINCT FROM p{place}."scumble {i}"' for i, name in pairs)
