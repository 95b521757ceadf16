"""The gate of questions: DuckDB's own parser and binder read the text as it was written, before anybody else, whatever engine answers.

The parser that takes questions apart (sqlglot) reads many dialects, and mends what it does not understand: two words side by side
become one, a wrong name before a point is dropped. What DuckDB does not understand is therefore refused here, in its words.

The text is never run. It is bound to empty tables with the types of the release's columns, behind the closed door of connection.py.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

import duckdb
import pyarrow as pa

from scumble.core.errors import QueryError
from scumble.engines.duckdb.cursors import Cursor, Cursors
from scumble.engines.interruptible import interruptible
from scumble.engines.sql import quoted

LONGEST = 65_536
"""Characters of a question, at most: what takes questions apart takes a second for these."""

Types = Mapping[str, pa.DataType]
"""The columns of a table."""


def demand_one_select(sql: str, tables: Mapping[str, Types]) -> QueryError | None:
    """Refuses what is not one SELECT of valid SQL; gives the refusal of what does not fit the tables, for whoever has no better one.

    >>> demand_one_select("SELECT COUNT(*) FROM release WHERE s IN ('flu' 'cold')", {"release": {"s": pa.string()}})
    Traceback (most recent call last):
    ...
    scumble.core.errors.QueryError: the question is not valid SQL: syntax error at or near "'cold'"
    >>> print(demand_one_select("SELECT COUNT(s, s) FROM release", {"release": {"s": pa.string()}}))
    the question is not valid SQL: No function matches the given name and argument types 'count(VARCHAR, VARCHAR)'
    """
    if len(sql) > LONGEST:
        raise QueryError(
            f"the question has {len(sql):,} characters, and {LONGEST:,} are the most; ask by ranges, or in several questions"
        )
    if not sql.isprintable() and (odd := next((c for c in sql if not c.isprintable() and c not in "\n\r\t"), None)):
        raise QueryError(f"the question has the character {odd!r}, which nothing prints; leave it out")
    cursor = _gate(tuple((name, tuple(types.items())) for name, types in tables.items())).current()
    return interruptible(cursor.connection, lambda: _read(sql, cursor.connection))


@lru_cache(maxsize=64)
def _gate(tables: tuple[tuple[str, tuple[tuple[str, pa.DataType], ...]], ...]) -> Cursors:
    """A database of empty tables."""

    def prepare(database: Cursor) -> None:
        for name, columns in tables:
            database.connection.register("scumble_types", pa.schema(list(columns)).empty_table())
            database.connection.execute(f"CREATE TABLE {quoted(name)} AS SELECT * FROM scumble_types")
            database.connection.unregister("scumble_types")

    return Cursors([], prepare)


def _read(sql: str, connection: duckdb.DuckDBPyConnection) -> QueryError | None:
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise _refusal(error) from None
    _demand_one(statements)
    try:
        connection.sql(statements[0])
    except duckdb.Error as error:
        return _refusal(error)
    return None


def _demand_one(statements: list[duckdb.Statement]) -> None:
    if not statements:
        raise QueryError("the question is empty; ask SELECT ... FROM release ...")
    if len(statements) != 1:
        raise QueryError(f"ask one statement at a time, not {len(statements)}")
    if statements[0].type != duckdb.StatementType.SELECT:
        kind = statements[0].type.name.replace("_", " ")
        raise QueryError(f"{kind} cannot be answered; a question is one SELECT ... FROM release")


def _refusal(error: duckdb.Error) -> QueryError:
    """In the engine's words, without its kinds of errors, its candidates and its settings."""
    line = re.sub(r"^[A-Z][A-Za-z ]* Error: ", "", str(error).strip().splitlines()[0])
    if "Max expression depth" in line:
        return QueryError("the question is nested too deeply; ask a simpler one")
    said = re.sub(r"\. You might need to add explicit type casts\.?", "", line).rstrip(".!")
    return QueryError(f"the question is not valid SQL: {said}")
