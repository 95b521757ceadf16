"""The tuples of a release in DuckDB, and what a question sums over them.

A tuple stands for v rows, give or take noise of variance s. Of the m of them in which a value x is not missing (of a table each tuple has one row, a
pattern of transactions as many as pairs of it match, all with the same noise) a tuple has the sum y of x, and of x less a constant, which keeps
fourth powers small, the sum d. A group has sums of products of these over its tuples: `query/counted_sums.py` says what for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from scumble.core.domain import Domain
from scumble.engines.duckdb.complaint import refusal
from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.counting import COUNT
from scumble.engines.duckdb.interruptible import arrow
from scumble.engines.sql import listed, parquet, quoted

Named = tuple[str, exp.Expression]


@dataclass(frozen=True)
class Summed:
    """What a question sums: rows (no value), rows that have a value, or a value."""

    value: exp.Expression | None = None
    middle: float | None = None
    """What the spread of a value is taken around; None: rows are counted."""

    def of_tuple(self, place: int, several: bool) -> list[str]:
        """m, y and d of each tuple, of one row or of several."""
        if self.value is None:
            return [f"{'COUNT(*)' if several else '1'}::DOUBLE AS m{place}"]
        value = self.value.sql(dialect="duckdb")
        rows = f"{f'COUNT({value})' if several else f'(({value}) IS NOT NULL)'}::DOUBLE AS m{place}"
        if self.middle is None:
            return [rows]
        number = f"CAST({value} AS DOUBLE)"
        sums = (f"SUM({x})" if several else f"({x})" for x in (number, f"{number} - ({self.middle!r})"))
        return [rows, *(f"COALESCE({each}, 0) AS {name}{place}" for each, name in zip(sums, "yd", strict=True))]

    def of_group(self, place: int) -> list[str]:
        """Sums over tuples: of d^a m^b as `p` + a + b, of d^a m^b s as `s` + a + b, and those that are named."""
        m, y, d = f"m{place}", f"y{place}", f"d{place}"
        summed = self.middle is not None
        found = {"tuples": f"SUM({m} > 0)", "rows": f"SUM({m})", "count": f"SUM({m} * v)"}
        if summed:
            found |= {"weight": f"SUM({y})", "sum": f"SUM({y} * v)", "spread": f"SUM({d} * v)"}
            found |= {"least": f"MIN({y} / NULLIF({m}, 0))", "most": f"MAX({y} / NULLIF({m}, 0))"}
        for power in (2, 4):
            for a in range(power + 1 if summed else 1):
                product = " * ".join([d] * a + [m] * (power - a))
                found[f"p{a}{power - a}"] = f"SUM({product})"
                if power == 2:
                    found[f"s{a}{power - a}"] = f"SUM({product} * s)"
        return [f"({formula})::DOUBLE AS {name}_{place}" for name, formula in found.items()]


@dataclass(frozen=True)
class Rule:
    """What a tuple that is published n times counts: n with one variance above the floor, something else at the floor."""

    floor: int = 0
    at_floor: float = 0.0
    variance_at_floor: float = 0.0
    variance_above: float = 0.0


class CountedFiles:
    """The tuples of published tables: one table of rows, or several of transactions, each item asked of one of them."""

    def __init__(
        self,
        tables: Sequence[tuple[Sequence[Path], Sequence[Any]]],
        columns: Sequence[str],
        transactions: dict[str, str] | None,
        domains: dict[str, Domain] | None,
        rule: Rule,
    ) -> None:
        self._connection = connect(file for files, _ in tables for file in files)
        self._several = transactions is not None
        if transactions is not None:
            inner = self._patterns(tables, transactions)
        elif domains is not None:
            inner = self._domain(tables[0][0], columns, domains)
        else:
            inner = _grouped(parquet(tables[0][0]), columns)
        above = f'"{COUNT}" > {rule.floor}' if rule.variance_above else "TRUE"
        self._connection.execute(
            f"""CREATE TEMP TABLE counted AS SELECT *,
            CASE WHEN {above} THEN "{COUNT}" ELSE {rule.at_floor!r} END::DOUBLE AS "scumble v",
            CASE WHEN {above} THEN {rule.variance_above!r} ELSE {rule.variance_at_floor!r} END::DOUBLE AS "scumble s"
            FROM ({inner})"""
        )

    def sums(self, keys: Sequence[Named], where: exp.Expression | None, values: Sequence[Summed]) -> pa.Table:
        """For each group its keys, and the sums of each value, with the value's place after their names."""
        names = [name for name, _ in keys]
        of_tuples = [f"{expression.sql(dialect='duckdb')} AS {name}" for name, expression in keys]
        noisy, together = ['"scumble v" AS v', '"scumble s" AS s'], ""
        if self._several:  # by their places, because a column of the release may have any name
            together = f"GROUP BY {', '.join(str(i + 1) for i in range(len(keys) + 1))}"
            noisy = ['"scumble tuple" AS id', 'ANY_VALUE("scumble v") AS v', 'ANY_VALUE("scumble s") AS s']
        of_tuples += noisy
        of_tuples += [part for place, value in enumerate(values) for part in value.of_tuple(place, self._several)]
        of_groups = [part for place, value in enumerate(values) for part in value.of_group(place)]
        by = f"GROUP BY {', '.join(names)} ORDER BY {', '.join(names)}" if names else ""
        return self._run(
            f"""SELECT {", ".join([*names, *of_groups])} FROM (
            SELECT {", ".join(of_tuples)} FROM counted {_matching(where)} {together}) {by}""",
            [*(e for _, e in keys), where, *(value.value for value in values)],
        )

    def kind(self, value: exp.Expression) -> str:
        """The engine's type of a value."""
        (found,) = self._run(f"DESCRIBE SELECT {value.sql(dialect='duckdb')} FROM counted", [value]).to_pylist()
        return str(found["column_type"])

    def ends(
        self, value: exp.Expression, where: exp.Expression | None, among: Sequence[pa.Table] = ()
    ) -> tuple[float, float] | None:
        """The least and the most of a value in the tuples that match, or in all pairs of other tables; nothing where there is none."""
        number = f"CAST({value.sql(dialect='duckdb')} AS DOUBLE)"
        for i, table in enumerate(among):
            self._connection.register(f"declared_{i}", table)
        place = " CROSS JOIN ".join(f"declared_{i}" for i in range(len(among))) or "counted"
        asked = f"SELECT MIN({number}) AS low, MAX({number}) AS high FROM {place} {_matching(where)}"
        (found,) = self._run(asked, [value, where]).to_pylist()
        return None if found["low"] is None else (found["low"], found["high"])

    def _run(self, statement: str, asked: Sequence[exp.Expression | None]) -> pa.Table:
        try:
            return arrow(self._connection, statement)
        except duckdb.Error as error:
            raise refusal(error, self._connection, ["counted"], asked) from None

    def _domain(self, files: Sequence[Path], columns: Sequence[str], domains: dict[str, Domain]) -> str:
        """Every tuple of the domain, those that were not published with a count of 0."""
        for place, name in enumerate(columns):
            self._connection.register(f"domain_{place}", pa.table({name: domains[name].values}))
        crossed = " CROSS JOIN ".join(f"domain_{place}" for place in range(len(columns)))
        same = " AND ".join(f"d.{quoted(name)} IS NOT DISTINCT FROM c.{quoted(name)}" for name in columns)
        return (
            f'SELECT d.*, COALESCE(c."{COUNT}", 0) AS "{COUNT}" FROM (FROM {crossed}) d '
            f"LEFT JOIN ({_grouped(parquet(files), columns)}) c ON {same}"
        )

    def _patterns(self, tables: Sequence[tuple[Sequence[Path], Sequence[Any]]], roles: dict[str, str]) -> str:
        """The pairs of each pattern; an item that is in several tables is taken from the first that has it."""
        taken: set[Any] = set()
        parts = []
        pairs = [roles[role] for role in ("item", "value") if role in roles]
        for place, (files, items) in enumerate(tables):
            own = [item for item in items if item not in taken]
            taken |= set(own)
            self._connection.register(f"items_{place}", pa.table({"item": pa.array(own)}))
            pair, pattern = listed(pairs), quoted(roles["pattern"])
            parts.append(
                f"""SELECT {pair}, COUNT(*) AS "{COUNT}", {place}::BIGINT << 40 | {pattern} AS "scumble tuple"
                FROM {parquet(files)} WHERE {quoted(roles["item"])} IN (SELECT item FROM items_{place}) GROUP BY {pair}, {pattern}"""
            )
        return " UNION ALL ".join(parts)


def _grouped(place: str, columns: Sequence[str]) -> str:
    tuples = listed(columns)
    return f'SELECT {tuples}, COUNT(*) AS "{COUNT}" FROM {place} GROUP BY {tuples}'


def _matching(where: exp.Expression | None) -> str:
    return f"WHERE {where.sql(dialect='duckdb')}" if where is not None else ""
