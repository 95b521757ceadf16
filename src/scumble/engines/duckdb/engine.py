"""DuckDB, embedded, straight on the Parquet files."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.core.errors import TableError, did_you_mean
from scumble.engines.duckdb.complaint import refusal
from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.decimals import decimal_commas
from scumble.engines.duckdb.interruptible import arrow
from scumble.engines.duckdb.tally import tally
from scumble.engines.engine import TABLE, Axis, truth_case
from scumble.engines.sql import literal, parquet, quoted

EngineError = duckdb.Error


def csv_relation(path: Path, text: Sequence[str]) -> duckdb.DuckDBPyRelation:
    """A CSV file as a relation that is read batch by batch; the named columns stay text, the others are typed by their beginning."""
    names, separator = _header(path)
    for name in text:
        if name not in names:
            raise TableError(f"column {name!r} is not in {path.name}{did_you_mean(name, names)}")
    shape: dict[str, Any] = {"header": True, "sep": separator, "quotechar": '"', "escapechar": '"', "skiprows": 0}
    shape["hive_partitioning"] = False  # the columns are those of the file, whatever its folders are called
    connection = connect([path])
    try:
        types = {"dtype": dict.fromkeys(text, "VARCHAR")} if text else {}
        found = connection.read_csv(literal(path), **shape, **types)
        if separator != "," and decimal_commas(found, path, text):
            return connection.read_csv(literal(path), **shape, **types, decimal=",")
        return found
    except duckdb.InvalidInputException:
        # the detection of types does not say which line is wrong; plain reading does
        plain = connection.read_csv(literal(path), auto_detect=False, columns=dict.fromkeys(names, "VARCHAR"), **shape)
        plain.aggregate("COUNT(*)").fetchall()
        raise


def _header(path: Path) -> tuple[list[str], str]:
    """The names in the first line, and what separates them: the one of , ; tab | that it has most of."""
    with pa.input_stream(str(path), compression="detect") as stream:
        first = stream.read(1 << 16).decode("utf-8", "replace").lstrip("\ufeff").splitlines()
    if not first or not first[0].strip():
        raise TableError(f"{path.name} is empty; a table has a line of column names and rows below it")
    separator = max(",;\t|", key=first[0].count)
    names = next(csv.reader([first[0]], delimiter=separator))
    demand_names(names, path.name)
    return names, separator


def demand_names(names: Sequence[str], source: str) -> None:
    """Every column has a name of its own, also where capitals do not count."""
    lower = [name.strip().lower() for name in names]
    twice = next((name for i, name in enumerate(names) if lower[i] in lower[:i]), None)
    if twice is not None or "" in lower:
        what = f"two columns called {twice!r}" if twice is not None else "a column without a name"
        raise TableError(f"{source} has {what}; give every column a name of its own")


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
