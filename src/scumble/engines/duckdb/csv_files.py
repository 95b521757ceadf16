"""CSV files with DuckDB: the beginning of a file is looked at once, and every reading has the types that were found there."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.decimals import decimal_commas
from scumble.engines.sql import listed, literal, text

EngineError = duckdb.Error


class CsvFile:
    """A file whose first line has these names; columns of `words` stay text, the others are typed by their beginning.

    Without words all of them stay text, and nothing is looked at: a line that cannot be read is left out, whatever the others are.
    """

    def __init__(self, path: Path, names: Sequence[str], separator: str, words: Sequence[str] | None) -> None:
        self._path, self._words = path, words
        self._shape: dict[str, Any] = {"header": True, "sep": separator, "quotechar": '"', "escapechar": '"'}
        self._shape |= {"skiprows": 0, "auto_detect": False}
        self._shape["hive_partitioning"] = False  # the columns are those of the file, whatever its folders are called
        if words is None:
            self._options: dict[str, Any] = {"columns": dict.fromkeys(names, "VARCHAR"), "ignore_errors": True}
            self._options["strict_mode"] = (
                False  # else one line that ends otherwise than the others is an error of the whole file
            )
            return
        try:
            self._options = self._look(separator, ".")
            if separator != "," and decimal_commas(self._relation(), path, words):
                self._options = self._look(separator, ",")
        except duckdb.InvalidInputException:
            # the detection of types does not say which line is wrong; plain reading does
            self._options = {"columns": dict.fromkeys(names, "VARCHAR")}
            self._relation().aggregate("COUNT(*)").fetchall()
            raise

    def alike(self, path: Path, separator: str) -> "CsvFile":
        """Another file with the same names, read by the types of this one."""
        other = CsvFile.__new__(CsvFile)
        other._path, other._words, other._options = path, self._words, self._options
        other._shape = self._shape | {"sep": separator}
        return other

    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return self._relation().limit(0).to_arrow_table().schema.remove_metadata()

    def reader(self, columns: Sequence[str], rows: int) -> pa.RecordBatchReader:
        """Some columns, so many rows at a time."""
        return self._relation().project(listed(columns)).to_arrow_reader(rows)

    def _relation(self) -> duckdb.DuckDBPyRelation:
        return connect([self._path]).read_csv(literal(self._path), **self._shape, **self._options)

    def _look(self, separator: str, decimal: str) -> dict[str, Any]:
        """The types of the columns, and how dates and numbers are written."""
        types = ", ".join(f"{text(name)}: 'VARCHAR'" for name in self._words or ())
        given = f", types = {{{types}}}" if types else ""
        look = (
            f"SELECT Columns, DateFormat, TimestampFormat FROM sniff_csv({text(literal(self._path))}, header = true, "
            f"delim = {text(separator)}, quote = '\"', escape = '\"', skip = 0, decimal_separator = {text(decimal)}{given})"
        )
        with connect([self._path]) as connection:
            ((columns, dates, times),) = connection.sql(look).fetchall()
        options: dict[str, Any] = {
            "columns": {column["name"]: column["type"] for column in columns},
            "decimal": decimal,
        }
        written = {"date_format": dates, "timestamp_format": times}
        return options | {key: text for key, text in written.items() if text}
