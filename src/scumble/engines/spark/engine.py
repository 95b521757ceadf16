"""Spark over the published files: it counts what it counts as DuckDB does, and leaves the rest to DuckDB on the same files.

What is asked of tables in memory never leaves this process. So an answer is the same whatever counts.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from scumble.core.arrow_types import published_type
from scumble.core.entropy import fresh_bytes
from scumble.core.errors import InputError
from scumble.core.extras import need
from scumble.engines.duckdb.engine import DuckDB
from scumble.engines.engine import Axis, Predicates, Rows, Tables
from scumble.engines.spark.session import Session, said, session_at
from scumble.engines.spoken import is_spoken

KINDS: dict[pa.DataType, str] = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.uint8(): "smallint",
    pa.uint16(): "int",
    pa.uint32(): "bigint",
    pa.float64(): "double",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.date32(): "date",
}
"""Columns that Spark compares and counts as DuckDB does; those of other types are DuckDB's."""

PATTERN = frozenset("{}[]*?\\\n")
"""What Spark takes for a pattern in the name of a file."""


class Spark:
    """An engine over Parquet files that all machines of a cluster see."""

    dialect = "spark"

    def __init__(self, tables: Tables, master: str) -> None:
        self._duckdb = DuckDB(tables)
        self._session = session_at(master)
        self._views = {
            name: SparkView(self._session, rows)
            for name, rows in tables.items()
            if not isinstance(rows, pa.Table | exp.Query) and rows
        }

    def run(self, statement: exp.Query) -> pa.Table:
        """The result of a statement, by Spark or by DuckDB."""
        named = {table.name for table in statement.find_all(exp.Table)}
        if named and named <= set(self._views) and self._session.here and self._is_alike(statement, named):
            found = self._counted(statement)
            if found is not None:
                return found
        return self._duckdb.run(statement)

    def _is_alike(self, statement: exp.Query, named: set[str]) -> bool:
        odd = {column for name in named for column in self._views[name].odd}
        whole = {column for name in named for column in self._views[name].whole}
        return is_spoken(statement, whole) and not any(c.name in odd for c in statement.find_all(exp.Column))

    def _counted(self, statement: exp.Query) -> pa.Table | None:
        """Spark's answer; None where it does not understand."""
        placed, errors = statement.copy(), need("pyspark.errors", "spark")
        for table in placed.find_all(exp.Table):
            alias = table.alias or table.name
            table.set("this", exp.to_identifier(self._views[table.name].name, quoted=True))
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
        sql = placed.sql(dialect=self.dialect)
        try:
            with self._session.one_line():
                return _plain(self._session.run(lambda: self._rows(sql, errors)))
        except _NotUnderstood:
            return None

    def _rows(self, sql: str, errors: Any) -> pa.Table:
        misunderstood = (
            *(errors.AnalysisException, errors.ParseException, errors.ArithmeticException),
            *(errors.NumberFormatException, errors.DateTimeException, errors.SparkRuntimeException),
        )
        try:
            return self._session.spark.sql(sql).toArrow()
        except misunderstood:
            raise _NotUnderstood from None

    def register(self, name: str, table: pa.Table, *, everywhere: bool = False) -> None:
        """Keeps a table in memory."""
        self._duckdb.register(name, table, everywhere=everywhere)

    def unregister(self, name: str) -> None:
        """Forgets it."""
        self._duckdb.unregister(name)

    def truths(self, asked: Predicates) -> list[npt.NDArray[np.int8]]:
        """Of values in memory, so that they are looked at here."""
        return self._duckdb.truths(asked)

    def tally(self, axes: Sequence[Axis]) -> npt.NDArray[np.int64] | None:
        """By the statement."""
        return None


class SparkView:
    """Files as Spark knows them: under a name that nobody else has, with the columns that it reads as they are."""

    def __init__(self, session: Session, rows: Rows) -> None:
        files = [_real(Path(file)) for file in rows]
        schema = pq.read_schema(files[0])
        kinds = {field.name: KINDS.get(published_type(field.type)) for field in schema}
        self.odd = {name for name, kind in kinds.items() if kind is None}
        self.whole = {name for name, kind in kinds.items() if kind and kind.endswith("int")}
        self.name = f"scumble_{fresh_bytes(8).hex()}"
        declared = ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in kinds.items() if kind)
        with session.one_line():
            session.run(lambda: self._made(session, files, declared))

    def _made(self, session: Session, files: Sequence[str], declared: str) -> None:
        try:
            session.spark.read.schema(declared).parquet(*files).createOrReplaceTempView(self.name)
        except need("pyspark.errors", "spark").AnalysisException as error:
            raise InputError(
                f"{session.name} cannot read the files of the release; they must lie where all of its machines see them: {said(error)}"
            ) from None


def _real(file: Path) -> str:
    """The file's own path, where it is held open by another one."""
    path = os.path.realpath(file)
    if PATTERN & set(path):
        raise InputError(
            f"{path!r} has one of {{ }} [ ] * ? \\ in its name, which Spark takes for a pattern; rename it"
        )
    return path


def _plain(table: pa.Table) -> pa.Table:
    """Whole numbers as such, and decimals as doubles."""
    kinds = [
        (pa.int64() if field.type.scale == 0 else pa.float64()) if pa.types.is_decimal(field.type) else field.type
        for field in table.schema
    ]
    return table.cast(pa.schema([(name, kind) for name, kind in zip(table.column_names, kinds, strict=True)]))


class _NotUnderstood(Exception):  # noqa: N818  no mistake: the statement goes elsewhere
    """Spark has no such operation, or not for such values."""
