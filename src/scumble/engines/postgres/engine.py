"""PostgreSQL, over the tables of a release that lives there: cells are counted in the database, and weighed here.

What is asked of tables in memory never leaves this process, and what PostgreSQL would compute otherwise than DuckDB is computed by DuckDB on a
copy of the published files. So an answer is the same wherever the release lives.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.core.once import once
from scumble.engines.duckdb.engine import DuckDB
from scumble.engines.engine import Axis, Engine, Predicates, Tables, registered
from scumble.engines.interruptible import interruptible
from scumble.engines.postgres.connection import Database, driver
from scumble.engines.postgres.types import arrow
from scumble.engines.spoken import is_spoken

SECONDS = 5.0
"""How long the server may take to hear that a statement is to end."""


class Postgres:
    """An engine over tables of a database.

    places  the schema and the name of each table that a statement may name
    whole   the columns of whole numbers
    copies  the published files, fetched at the first call
    """

    dialect = "postgres"

    def __init__(
        self,
        database: Database,
        places: Mapping[str, tuple[str, str]],
        whole: Sequence[str],
        copies: Callable[[], Tables],
    ) -> None:
        self._database, self._places, self._whole, self._copies = database, dict(places), frozenset(whole), copies
        self._memory = DuckDB({})
        self._shared: dict[str, pa.Table] = {}
        self._own = _Own()

    @once
    def _copy(self) -> DuckDB:
        return DuckDB(self._copies())

    def run(self, statement: exp.Query) -> pa.Table:
        """The result of a statement, from wherever its tables are."""
        named = {table.name for table in statement.find_all(exp.Table)}
        if not named & set(self._places):
            return self._memory.run(statement)
        if named <= set(self._places) and is_spoken(statement, self._whole):
            found = self._asked(statement)
            if found is not None:
                return found
        with registered(self._copy, {**self._shared, **self._own.tables}):
            return self._copy.run(statement)

    def _asked(self, statement: exp.Query) -> pa.Table | None:
        """The database's answer; None where it says that it does not understand."""
        sql = self._placed(statement).sql(dialect=self.dialect)
        connection = self._database.current()
        try:
            return interruptible(_Interruptible(connection), lambda: self._rows(connection, sql))
        except _NotUnderstood:
            return None

    def _rows(self, connection: Any, sql: str) -> pa.Table:
        errors = driver().errors
        with self._database.reading(connection):
            try:
                cursor = connection.execute(sql)
            except (errors.DataError, errors.ProgrammingError) as error:
                if isinstance(error, errors.InsufficientPrivilege | errors.UndefinedTable):
                    raise
                raise _NotUnderstood from None
            return arrow(cursor.description, cursor.fetchall())

    def _placed(self, statement: exp.Query) -> exp.Query:
        """The statement with the tables as the database has them."""
        placed = statement.copy()
        for table in placed.find_all(exp.Table):
            schema, name = self._places[table.name]
            alias = table.alias or table.name
            table.set("this", exp.to_identifier(name, quoted=True))
            table.set("db", exp.to_identifier(schema, quoted=True))
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
        return placed

    def register(self, name: str, table: pa.Table, *, everywhere: bool = False) -> None:
        """Keeps a table in memory."""
        (self._shared if everywhere else self._own.tables)[name] = table
        self._memory.register(name, table, everywhere=everywhere)

    def unregister(self, name: str) -> None:
        """Forgets it."""
        self._shared.pop(name, None)
        self._own.tables.pop(name, None)
        self._memory.unregister(name)

    def truths(self, asked: Predicates) -> list[npt.NDArray[np.int8]]:
        """Of values in memory, so that they are looked at here."""
        return self._memory.truths(asked)

    def tally(self, axes: Sequence[Axis]) -> npt.NDArray[np.int64] | None:
        """By the statement."""
        return None


class _NotUnderstood(Exception):  # noqa: N818  no mistake: the statement goes elsewhere
    """The server has no such operation, or not for such values."""


class _Own(threading.local):
    """The tables of a thread."""

    def __init__(self) -> None:
        self.tables: dict[str, pa.Table] = {}


class _Interruptible:
    """A connection whose statement another thread ends."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def interrupt(self) -> None:
        """Asks the server to end it."""
        self._connection.cancel_safe(timeout=SECONDS)


_check: type[Engine] = Postgres
