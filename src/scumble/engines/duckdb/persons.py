"""Rows a person, counted and drawn with DuckDB: what does not fit into memory goes where its connections put it."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.errors import TableError
from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.interruptible import arrow
from scumble.engines.sql import listed

ROW, LOT = "scumble row", "scumble lot"
"""The columns with the number of a row, and with the lot that it drew."""


@dataclass(frozen=True)
class Tally:
    """The rows of a value of a column."""

    most: int
    """Of the value that has the most of them; a missing value is one more."""
    values: int
    rows: int
    missing: int


def tallies(rows: pa.RecordBatchReader, names: Sequence[str]) -> dict[str, Tally]:
    """How many rows the values of each column have, in one scan."""
    columns = {name: listed([name]) for name in names}
    sets = ", ".join(f"({column})" for column in columns.values())
    which = ", ".join(f"GROUPING({column}) AS g{i}" for i, column in enumerate(columns.values()))
    empty = ", ".join(f"{column} IS NULL AS e{i}" for i, column in enumerate(columns.values()))
    counted = f"SELECT {which}, {empty}, COUNT(*) AS n FROM scumble_rows GROUP BY GROUPING SETS ({sets})"
    asked = [
        f"COALESCE(MAX(n) FILTER (g{i} = 0), 0) AS most{i}, COUNT(*) FILTER (g{i} = 0) AS values{i}, "
        f"COALESCE(SUM(n) FILTER (g{i} = 0), 0) AS rows{i}, COALESCE(SUM(n) FILTER (g{i} = 0 AND e{i}), 0) AS missing{i}"
        for i in range(len(names))
    ]
    line = _run(rows, f"SELECT {', '.join(asked)} FROM ({counted})").to_pylist()[0]
    return {
        name: Tally(*(int(line[f"{part}{i}"]) for part in ("most", "values", "rows", "missing")))
        for i, name in enumerate(names)
    }


def drawn_rows(rows: pa.RecordBatchReader, name: str, most: int) -> npt.NDArray[np.int64]:
    """The numbers of the rows with the lowest lots of each value, so many of each at most."""
    ranked = f'ROW_NUMBER() OVER (PARTITION BY {listed([name])} ORDER BY "{LOT}", "{ROW}")'
    statement = f'SELECT "{ROW}" FROM scumble_rows QUALIFY {ranked} <= {int(most)}'
    return np.asarray(_run(rows, statement).column(ROW).to_numpy(), np.int64)


def _run(rows: pa.RecordBatchReader, statement: str) -> pa.Table:
    with connect() as connection:
        connection.register("scumble_rows", rows)
        try:
            return arrow(connection, statement)
        except duckdb.Error as error:
            raise TableError(f"the rows of a person cannot be counted: {str(error).splitlines()[0]}") from None
