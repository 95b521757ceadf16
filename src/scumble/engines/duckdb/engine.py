"""DuckDB, embedded, straight on the Parquet files."""

from collections.abc import Sequence

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.engines.duckdb.complaint import refusal
from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.interruptible import arrow
from scumble.engines.duckdb.lookup import with_lookups
from scumble.engines.duckdb.tally import tally
from scumble.engines.engine import TABLE, Axis, Predicates, Rows, Tables, truths_by_statement
from scumble.engines.sql import parquet, quoted


def exact(sql: str, raw: pa.Table) -> pa.Table:
    """A question asked of the raw table, for comparison."""
    with connect() as connection:
        connection.register(TABLE, raw)
        return arrow(connection, sql)


class DuckDB:
    """An in-memory connection that knows the tables of a release."""

    dialect = "duckdb"

    def __init__(self, tables: Tables) -> None:
        self._connection = connect(file for rows in tables.values() if isinstance(rows, Sequence) for file in rows)
        for name, rows in tables.items():
            self._open(name, rows)
        rows = tables.get(TABLE)
        self._files = list(rows) if isinstance(rows, Sequence) else None

    def _open(self, name: str, rows: Rows) -> None:
        if isinstance(rows, pa.Table):
            self.register(name, rows)
            return
        source = rows.sql(dialect=self.dialect) if isinstance(rows, exp.Query) else f"SELECT * FROM {parquet(rows)}"
        self._connection.execute(f"CREATE VIEW {quoted(name)} AS {source}")

    def run(self, statement: exp.Query) -> pa.Table:
        """The result of a statement as Arrow."""
        try:
            return arrow(self._connection, with_lookups(statement).sql(dialect=self.dialect))
        except duckdb.Error as error:
            raise refusal(error, self._connection, statement) from None

    def register(self, name: str, table: pa.Table) -> None:
        """Makes a table in memory known, in one piece: sums over several are added in any order, and so differ in the last digit."""
        self._connection.register(name, table.combine_chunks())

    def unregister(self, name: str) -> None:
        """Forgets it."""
        self._connection.unregister(name)

    def truths(self, asked: Predicates) -> list[npt.NDArray[np.int8]]:
        """Evaluates each predicate on a table of its domain's values, all in one statement."""
        return truths_by_statement(self, asked)

    def tally(self, axes: Sequence[Axis]) -> npt.NDArray[np.int64] | None:
        """Counts of cells without a statement; not of joined files, and where a look into the files does not do."""
        return tally(self._files, axes) if self._files is not None else None
