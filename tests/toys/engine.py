"""An engine of one file: SQLite of the standard library, its rows loaded from the Parquet files.

Registered by one line: ENGINES["sqlite"] = "toys.engine:SQLite".
"""

import sqlite3
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from scumble.core.errors import QueryError
from scumble.engines.engine import Axis, Predicates, Rows, Tables, truths_by_statement

UNSUPPORTED = ("sets of values", "truth values as such")
"""SQLite has neither lists nor booleans: boxes with sets cannot be loaded, and true is 1."""


class SQLite:
    """A database in memory."""

    dialect = "sqlite"

    def __init__(self, tables: Tables) -> None:
        self._tables = dict(tables)
        self._own = threading.local()

    @property
    def _connection(self) -> sqlite3.Connection:
        """A copy of everything for each thread: all that a toy needs to be asked by several."""
        if not hasattr(self._own, "connection"):
            self._own.connection, self._own.known = sqlite3.connect(":memory:"), set()
        for name, rows in list(self._tables.items()):
            if name not in self._own.known:
                self._own.known.add(name)
                self._open(name, rows)
        own: sqlite3.Connection = self._own.connection
        return own

    def _open(self, name: str, rows: Rows) -> None:
        if isinstance(rows, exp.Query):
            self._own.connection.execute(f"CREATE VIEW {_quoted(name)} AS {rows.sql(dialect=self.dialect)}")
        else:
            self.register(name, rows if isinstance(rows, pa.Table) else pa.concat_tables(map(pq.read_table, rows)))

    def run(self, statement: exp.Query) -> pa.Table:
        """The result of a statement; a column has the type of its values, and none where it has none."""
        try:
            found = self._connection.execute(statement.sql(dialect=self.dialect))
        except sqlite3.Error as error:
            raise QueryError(f"the question cannot be computed: {error}") from None
        names, lines = [column[0] for column in found.description], found.fetchall()
        return pa.table({name: pa.array(_alike([line[i] for line in lines])) for i, name in enumerate(names)})

    def register(self, name: str, table: pa.Table, *, everywhere: bool = False) -> None:
        """Copies a table; one for everybody is copied by each thread."""
        if everywhere:
            self._tables[name] = table
            return
        self.unregister(name)
        columns = ", ".join(_quoted(column) for column in table.column_names)
        self._connection.execute(f"CREATE TABLE {_quoted(name)} ({columns})")
        places = ", ".join("?" * table.num_columns)
        rows = zip(*(_plain(column) for column in table.columns), strict=True)
        self._connection.executemany(f"INSERT INTO {_quoted(name)} VALUES ({places})", rows)

    def unregister(self, name: str) -> None:
        """Forgets a table."""
        self._connection.execute(f"DROP TABLE IF EXISTS {_quoted(name)}")

    def truths(self, asked: Predicates) -> list[npt.NDArray[np.int8]]:
        """By a statement."""
        return truths_by_statement(self, asked)

    def tally(self, axes: Sequence[Axis]) -> npt.NDArray[np.int64] | None:
        """By the statement."""
        return None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _plain(column: pa.ChunkedArray) -> list[Any]:
    """What SQLite can hold: dates are text."""
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.string())
    return list(column.to_pylist())


def _alike(values: list[Any]) -> list[Any]:
    """Whole numbers and fractions in one column are fractions."""
    return (
        [float(v) if isinstance(v, int) else v for v in values] if any(isinstance(v, float) for v in values) else values
    )
