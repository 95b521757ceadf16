"""DuckDB, embedded, straight on the Parquet files."""

from collections.abc import Sequence

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.core.readable import readable
from scumble.engines.duckdb.complaint import files_read, refusal
from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.cursors import Cursor, Cursors
from scumble.engines.duckdb.halves import with_halves
from scumble.engines.duckdb.lone_rows import lone_rows_in_parts
from scumble.engines.duckdb.lookup import with_lookups
from scumble.engines.duckdb.results import arrow
from scumble.engines.duckdb.tally import tally
from scumble.engines.engine import TABLE, Axis, Predicates, Tables, truths_by_statement
from scumble.engines.known_truths import KnownTruths
from scumble.engines.sql import parquet, quoted

MOVES = 4
"""How often a statement is tried where the files of a release are moved and removed while they are read."""


def exact(sql: str, raw: pa.Table) -> pa.Table:
    """A question asked of the raw table, for comparison."""
    with connect() as connection:
        connection.register(TABLE, raw)
        return arrow(connection, sql)


class DuckDB:
    """A database in memory that knows the tables of a release, with a cursor for each thread."""

    dialect = "duckdb"

    def __init__(self, tables: Tables) -> None:
        files = [file for rows in tables.values() if isinstance(rows, Sequence) for file in rows]
        self._shared = {name: rows.combine_chunks() for name, rows in tables.items() if isinstance(rows, pa.Table)}
        self._views = {name: rows for name, rows in tables.items() if not isinstance(rows, pa.Table)}
        self._cursors = Cursors(files, self._open)
        self._cursors.current()
        self._truths = KnownTruths()
        rows = tables.get(TABLE)
        self._files = list(rows) if isinstance(rows, Sequence) else None

    def _open(self, database: Cursor) -> None:
        database.share(self._shared)
        for name, rows in self._views.items():
            source = rows.sql(dialect=self.dialect) if isinstance(rows, exp.Query) else f"SELECT * FROM {parquet(rows)}"
            with files_read():
                database.connection.execute(f"CREATE VIEW {quoted(name)} AS {source}")

    def run(self, statement: exp.Query) -> pa.Table:
        """The result of a statement as Arrow."""
        sql = with_halves(with_lookups(statement)).sql(dialect=self.dialect)
        for _ in range(MOVES):
            cursor = self._cursors.current()
            cursor.share(self._shared)
            try:
                return arrow(cursor.connection, sql)
            except duckdb.PermissionException as error:
                denied = error
                self._cursors.renew(cursor)
            except duckdb.Error as error:
                raise refusal(error, cursor.connection, statement) from None
        raise refusal(denied, self._cursors.current().connection, statement)

    def lone_rows(self, columns: Sequence[str], rows: int) -> int:
        """How many rows are alone with their values, counted in as many parts as memory needs."""
        return lone_rows_in_parts(self, columns, rows)

    def register(self, name: str, table: pa.Table, *, everywhere: bool = False) -> None:
        """Makes a table in memory known, in one piece: sums over several are added in any order, and so differ in the last digit."""
        if everywhere:
            self._shared[name] = table.combine_chunks()
        else:
            self._cursors.current().register(name, table.combine_chunks())

    def unregister(self, name: str) -> None:
        """Forgets it."""
        self._shared.pop(name, None)
        cursor = self._cursors.current()
        cursor.own.pop(name, None)
        cursor.connection.unregister(name)

    def truths(self, asked: Predicates) -> list[npt.NDArray[np.int8]]:
        """Evaluates each predicate on a table of its domain's values, all that are new in one statement."""
        return self._truths.of(asked, lambda new: truths_by_statement(self, new))

    def tally(self, axes: Sequence[Axis]) -> npt.NDArray[np.int64] | None:
        """Counts of cells without a statement; not of joined files, and where a look into the files does not do."""
        with readable():
            return tally(self._files, axes) if self._files is not None else None
