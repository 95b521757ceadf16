"""Counting tuples with DuckDB: those of a table that is to be published, and those of files that are checked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from scumble.engines.coded import coded_tuples
from scumble.engines.duckdb import CONFIG
from scumble.engines.interruptible import arrow
from scumble.errors import TableError

COUNT = "scumble n"
"""The column that says how often a tuple occurs."""


def count_tuples(source: Sequence[Path] | pa.RecordBatchReader, names: Sequence[str], least: int) -> pa.Table:
    """Each combination of values that occurs at least that often, with its count; missing values are alike.

    Their order is the engine's and means nothing. Parquet files of few words and small numbers are counted by their codes (coded.py).
    """
    if not isinstance(source, pa.RecordBatchReader) and (found := coded_tuples(source, names, least)) is not None:
        return found[0].append_column(COUNT, pa.array(found[1]))
    listed = ", ".join(quoted(name) for name in names)
    with duckdb.connect(config=CONFIG) as connection:
        if isinstance(source, pa.RecordBatchReader):
            connection.register("scumble_rows", source)
            place = "scumble_rows"
        else:
            place = listed_files(source)
        counting = f'SELECT {listed}, COUNT(*) AS "{COUNT}" FROM {place} GROUP BY {listed} HAVING COUNT(*) >= {least}'
        try:
            return arrow(connection, counting)
        except duckdb.Error as error:
            raise TableError(f"the tuples cannot be counted: {str(error).splitlines()[0]}") from None


def listed_files(files: Sequence[Path]) -> str:
    """Files as SQL reads them."""
    return "read_parquet([" + ", ".join("'" + str(file).replace("'", "''") + "'" for file in files) + "])"


def quoted(name: str) -> str:
    """A column's name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def least_count(files: Sequence[Path], names: Sequence[str]) -> int | None:
    """How often the rarest tuple of the named columns is in the files, if there is any."""
    least: int | None = _over_counts("MIN(n)", files, names)[0]
    return least


def most_count(files: Sequence[Path], names: Sequence[str]) -> int | None:
    """How often the most frequent tuple is."""
    most: int | None = _over_counts("MAX(n)", files, names)[0]
    return most


def rare_tuples(files: Sequence[Path], names: Sequence[str], k: int) -> tuple[int, int]:
    """How many tuples are in the files fewer than k times, and how many there are."""
    rare, every = _over_counts(f"COUNT(*) FILTER (n < {k}), COUNT(*)", files, names)
    return int(rare), int(every)


def _over_counts(asked: str, files: Sequence[Path], names: Sequence[str]) -> tuple[Any, ...]:
    listed = ", ".join(quoted(name) for name in names)
    with duckdb.connect(config=CONFIG) as connection:
        counted = f"SELECT COUNT(*) AS n FROM {listed_files(files)} GROUP BY {listed}"
        found: tuple[Any, ...] = connection.sql(f"SELECT {asked} FROM ({counted})").fetchall()[0]
    return found
