"""Rows a person, counted and drawn with DuckDB: what does not fit into memory goes where its connections put it."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.errors import TableError
from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.results import arrow
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


Rows = npt.NDArray[np.int64]


def drawn_rows(rows: pa.RecordBatchReader, name: str, most: int) -> tuple[Rows, Rows]:
    """The numbers of the rows with the lowest lots of each value, so many of each at most; and how many rows the value of each has."""
    ranked = f'ROW_NUMBER() OVER (PARTITION BY {listed([name])} ORDER BY "{LOT}", "{ROW}")'
    every = f"COUNT(*) OVER (PARTITION BY {listed([name])}) AS every"
    statement = f'SELECT "{ROW}", {every} FROM scumble_rows QUALIFY {ranked} <= {int(most)}'
    drawn = _run(rows, statement)
    numbers, counts = (np.asarray(drawn.column(name).to_numpy(), np.int64) for name in (ROW, "every"))
    return numbers, counts


def _run(rows: pa.RecordBatchReader, statement: str) -> pa.Table:
    with connect() as connection:
        connection.register("scumble_rows", rows)
        try:
            return arrow(connection, statement)
        except duckdb.Error as error:
            raise TableError(f"the rows of a person cannot be counted: {str(error).splitlines()[0]}") from None
