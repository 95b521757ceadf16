"""Counting tuples with DuckDB: those of a table that is to be published, and those of files that are checked."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from scumble.core.errors import TableError
from scumble.engines.duckdb.coded import coded_tuples
from scumble.engines.duckdb.complaint import files_read
from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.results import arrow
from scumble.engines.sql import listed, parquet

COUNT = "scumble n"
"""The column that says how often a tuple occurs."""


def count_tuples(source: Sequence[Path] | pa.RecordBatchReader, names: Sequence[str], least: int) -> pa.Table:
    """Each combination of values that occurs at least that often, with its count; missing values are alike.

    Their order is the engine's and means nothing. Parquet files of few words and small numbers are counted by their codes (coded.py).
    """
    if not isinstance(source, pa.RecordBatchReader) and (coded := coded_tuples(source, names, least)) is not None:
        return coded[0].append_column(COUNT, pa.array(coded[1]))
    return _counted(source, names, f"HAVING COUNT(*) >= {least}", "the tuples cannot be counted")


def grouped(source: Sequence[Path] | pa.RecordBatchReader, columns: Sequence[str], most: int) -> pa.Table:
    """How often each combination of values occurs, as a column beside the others; more than `most` are not fetched.

    One scan, by as many threads as there are; memory follows the combinations.
    """
    return _counted(source, columns, f"LIMIT {most + 1}", "the table cannot be read")


def _counted(source: Sequence[Path] | pa.RecordBatchReader, names: Sequence[str], which: str, problem: str) -> pa.Table:
    with connect([] if isinstance(source, pa.RecordBatchReader) else source) as connection:
        if isinstance(source, pa.RecordBatchReader):
            connection.register("scumble_rows", source)
            place = "scumble_rows"
        else:
            place = parquet(source)
        tuples = listed(names)
        try:
            return arrow(connection, f'SELECT {tuples}, COUNT(*) AS "{COUNT}" FROM {place} GROUP BY {tuples} {which}')
        except duckdb.Error as error:
            raise TableError(f"{problem}: {str(error).splitlines()[0]}") from None


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
    with connect(files) as connection, files_read():
        counted = f"SELECT COUNT(*) AS n FROM {parquet(files)} GROUP BY {listed(names)}"
        over_counts: tuple[Any, ...] = connection.sql(f"SELECT {asked} FROM ({counted})").fetchall()[0]
    return over_counts
