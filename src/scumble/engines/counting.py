"""Counting tuples with DuckDB: those of a table that is to be published, and those of a release that is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from scumble.domain import Domain
from scumble.engines.complaint import refusal
from scumble.engines.duckdb import CONFIG
from scumble.engines.interruptible import arrow
from scumble.errors import TableError

COUNT = "scumble n"
"""The column that says how often a tuple occurs."""


def count_tuples(source: Sequence[Path] | pa.RecordBatchReader, names: Sequence[str], least: int) -> pa.Table:
    """Each combination of values that occurs at least that often, with its count; missing values are alike.

    Their order is the engine's and means nothing.
    """
    listed = ", ".join(quoted(name) for name in names)
    with duckdb.connect(config=CONFIG) as connection:
        if isinstance(source, pa.RecordBatchReader):
            connection.register("scumble_rows", source)
            place = "scumble_rows"
        else:
            place = listed_files(source)
        counting = f'SELECT {listed}, COUNT(*) AS "{COUNT}" FROM {place} GROUP BY {listed} HAVING COUNT(*) >= {least}'
        try:
            return arrow(connection, counting)
        except duckdb.Error as error:
            raise TableError(f"the tuples cannot be counted: {str(error).splitlines()[0]}") from None


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
        self._connection = duckdb.connect(config=CONFIG)
        if transactions is not None:
            inner = self._patterns(tables, transactions)
        elif domains is not None:
            inner = self._domain(tables[0][0], columns, domains)
        else:
            inner = _grouped(listed_files(tables[0][0]), columns)
        above = f'"{COUNT}" > {rule.floor}' if rule.variance_above else "TRUE"
        self._connection.execute(
            f"""CREATE TEMP TABLE counted AS SELECT *,
            CASE WHEN {above} THEN "{COUNT}" ELSE {rule.at_floor!r} END::DOUBLE AS "scumble v",
            CASE WHEN {above} THEN {rule.variance_above!r} ELSE {rule.variance_at_floor!r} END::DOUBLE AS "scumble s"
            FROM ({inner})"""
        )

    def sums(self, keys: Sequence[tuple[str, exp.Expression]], where: exp.Expression | None) -> pa.Table:
        """For each group the sum v of what its tuples count, of their variances s, and their number t.

        A pattern of transactions counts as often as pairs of it match, all with the same noise.
        """
        named = [f"{expression.sql(dialect='duckdb')} AS {name}" for name, expression in keys]
        names = [name for name, _ in keys]
        condition = f"WHERE {where.sql(dialect='duckdb')}" if where is not None else ""
        tuples = ", ".join([*named, '"scumble tuple" AS id'])
        by = f"GROUP BY {', '.join(names)} ORDER BY {', '.join(names)}" if names else ""
        try:
            return arrow(
                self._connection,
                f"""SELECT {", ".join([*names, "SUM(m * v) AS v", "SUM(m * m * s) AS s", "COUNT(*) AS t"])} FROM (
                SELECT {tuples}, COUNT(*) AS m, ANY_VALUE("scumble v") AS v, ANY_VALUE("scumble s") AS s
                FROM counted {condition} GROUP BY {", ".join([*names, "id"])}) {by}""",
            )
        except duckdb.Error as error:
            raise refusal(error, self._connection, ["counted"], [*(e for _, e in keys), where]) from None

    def _domain(self, files: Sequence[Path], columns: Sequence[str], domains: dict[str, Domain]) -> str:
        """Every tuple of the domain, those that were not published with a count of 0."""
        for place, name in enumerate(columns):
            self._connection.register(f"domain_{place}", pa.table({name: domains[name].values}))
        crossed = " CROSS JOIN ".join(f"domain_{place}" for place in range(len(columns)))
        same = " AND ".join(f"d.{quoted(name)} IS NOT DISTINCT FROM c.{quoted(name)}" for name in columns)
        return (
            f'SELECT d.*, COALESCE(c."{COUNT}", 0) AS "{COUNT}", row_number() OVER () AS "scumble tuple" FROM (FROM {crossed}) d '
            f"LEFT JOIN ({_grouped(listed_files(files), columns)}) c ON {same}"
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
            listed = ", ".join(quoted(name) for name in pairs)
            pattern = quoted(roles["pattern"])
            parts.append(
                f"""SELECT {listed}, COUNT(*) AS "{COUNT}", {place}::BIGINT << 40 | {pattern} AS "scumble tuple"
                FROM {listed_files(files)} WHERE {quoted(roles["item"])} IN (SELECT item FROM items_{place}) GROUP BY {listed}, {pattern}"""
            )
        return " UNION ALL ".join(parts)


def _grouped(place: str, columns: Sequence[str]) -> str:
    listed = ", ".join(quoted(name) for name in columns)
    counted = f'SELECT {listed}, COUNT(*) AS "{COUNT}" FROM {place} GROUP BY {listed}'
    return f'SELECT *, row_number() OVER () AS "scumble tuple" FROM ({counted})'


def listed_files(files: Sequence[Path]) -> str:
    """Files as SQL reads them."""
    return "read_parquet([" + ", ".join("'" + str(file).replace("'", "''") + "'" for file in files) + "])"


def quoted(name: str) -> str:
    """A column's name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def least_count(files: Sequence[Path], names: Sequence[str]) -> int | None:
    """How often the rarest tuple of the named columns is in the files, if there is any."""
    least: int | None = _over_counts("MIN(n)", files, names)[0]
    return least


def most_count(files: Sequence[Path], names: Sequence[str]) -> int | None:
    """How often the most frequent tuple is."""
    most: int | None = _over_counts("MAX(n)", files, names)[0]
    return most


def rare_tuples(files: Sequence[Path], names: Sequence[str], k: int) -> tuple[int, int]:
    """How many tuples are in the files fewer than k times, and how many there are."""
    rare, every = _over_counts(f"COUNT(*) FILTER (n < {k}), COUNT(*)", files, names)
    return int(rare), int(every)


def _over_counts(asked: str, files: Sequence[Path], names: Sequence[str]) -> tuple[Any, ...]:
    listed = ", ".join(quoted(name) for name in names)
    with duckdb.connect(config=CONFIG) as connection:
        counted = f"SELECT COUNT(*) AS n FROM {listed_files(files)} GROUP BY {listed}"
        found: tuple[Any, ...] = connection.sql(f"SELECT {asked} FROM ({counted})").fetchall()[0]
    return found
