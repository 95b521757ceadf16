"""DuckDB, embedded, straight on the Parquet files."""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.engines.duckdb.complaint import refusal
from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.interruptible import arrow
from scumble.engines.duckdb.tally import tally
from scumble.engines.engine import TABLE, Axis, truth_case
from scumble.engines.sql import parquet, quoted


def exact(sql: str, raw: pa.Table) -> pa.Table:
    """A question asked of the raw table, for comparison."""
    with connect() as connection:
        connection.register(TABLE, raw)
        return arrow(connection, sql)


class DuckDB:
    """An in-memory connection with one view on the files of a release."""

    dialect = "duckdb"

    def __init__(self, files: Sequence[Path], *more: Sequence[Path], on: str | None = None) -> None:
        every = [file for each in (files, *more) for file in each]
        self._connection = connect(every)
        sources = [parquet(each) for each in (files, *more)]
        if on is None:
            whole = " UNION ALL BY NAME ".join(f"SELECT * FROM {source}" for source in sources)
        else:
            joins = "".join(
                f" JOIN {source} AS part{i} USING ({quoted(on)})" for i, source in enumerate(sources[1:], 1)
            )
            whole = f"SELECT * FROM {sources[0]} AS part0{joins}"
        self._connection.execute(f"CREATE VIEW {TABLE} AS {whole}")
        self._files = every if on is None else None

    def run(self, statement: exp.Expression) -> pa.Table:
        """The result of a statement as Arrow."""
        return self._arrow(statement.sql(dialect=self.dialect), [TABLE], [statement])

    def truths(self, asked: Sequence[tuple[exp.Expression, str, pa.Array]]) -> list[npt.NDArray[np.int8]]:
        """Evaluates each predicate on a table of its domain's values, all in one statement."""
        parts, start = [], 0
        for i, (predicate, column, values) in enumerate(asked):
            places = pa.array(np.arange(start, start := start + len(values)))
            self._connection.register(f"scumble_domain_{i}", pa.table([values, places], [column, "scumble place"]))
            case = truth_case(predicate).sql(dialect=self.dialect)
            parts.append(f'SELECT "scumble place", CAST({case} AS TINYINT) AS truth FROM scumble_domain_{i}')
        try:
            tables = [f"scumble_domain_{i}" for i in range(len(asked))]
            result = self._arrow(" UNION ALL ".join(parts) + " ORDER BY 1", tables, [each for each, _, _ in asked])
        finally:
            for i in range(len(asked)):
                self._connection.unregister(f"scumble_domain_{i}")
        every = np.asarray(result.column(1).combine_chunks().to_numpy(zero_copy_only=False))
        return np.split(every, np.cumsum([len(values) for _, _, values in asked])[:-1])

    def tally(self, axes: Sequence[Axis]) -> npt.NDArray[np.int64] | None:
        """Counts of cells without a statement; not of joined files, and where a look into the files does not do."""
        return tally(self._files, axes) if self._files is not None else None

    def _arrow(self, sql: str, tables: Sequence[str], asked: Sequence[exp.Expression]) -> pa.Table:
        try:
            return arrow(self._connection, sql)
        except duckdb.Error as error:
            raise refusal(error, self._connection, tables, asked) from None


class Memory(DuckDB):
    """The same over a table in memory: what a publisher asks before publishing."""

    def __init__(self, raw: pa.Table) -> None:
        self._connection = connect()
        self._connection.register(TABLE, raw)
        self._files = None
