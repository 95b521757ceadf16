"""A table, view or query of a SQLite file, by Python's own driver, read in one transaction.

SQLite gives types to values, not to columns. A column of a table has the type that it was declared with, and a value of another
type is refused; what nobody declared (an expression of a query) has the type of its first rows.
"""

import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from scumble.core.errors import TableError, did_you_mean
from scumble.engines.sql import listed, text
from scumble.sources import source
from scumble.sources.address import address
from scumble.sources.declared import type_name
from scumble.sources.problems import demand_names

DECLARED: tuple[tuple[tuple[str, ...], pa.DataType], ...] = (
    (("INT",), pa.int64()),
    (("CHAR", "CLOB", "TEXT"), pa.string()),
    (("REAL", "FLOA", "DOUB"), pa.float64()),
    (("BOOL",), pa.bool_()),
)
"""What a declaration says, by SQLite's own rules and in their order; and truth values, which are 0 and 1 there."""

LOOKED_AT = 10_000
"""Rows that decide about a column without a declaration."""


class SqliteSource:
    """What an address names in a file."""

    stable = True
    rows: int | None = None

    @staticmethod
    def opens(thing: Any) -> bool:
        """Whether it is the URL of such a file."""
        return isinstance(thing, str) and thing.startswith("sqlite://")

    def __init__(self, thing: Any, *, text: Sequence[str] = ()) -> None:
        self._address = address(thing)
        path = Path(self._address.path.removeprefix("/"))
        self.name, self.files = self._address.shown, [path]
        if not path.is_file():
            raise TableError(
                f"there is no database {str(path)!r}; sqlite:///file.db is relative, sqlite:////file.db not"
            )
        with self._one_line():
            self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
            self._connection.execute("BEGIN")
            cursor = self._connection.execute(f"SELECT * FROM {self._address.source} LIMIT 0")
        names = [column[0] for column in cursor.description]
        demand_names(names, self.name)
        for name in text:
            if name not in names:
                raise TableError(f"column {name!r} is not in {self.name}{did_you_mean(name, names)}")
        declared = self._declared()
        self.declared = {name: type_name(kind) or "text" for name, kind in declared.items() if kind is not None}
        """What the database says of its columns; a value may be of another type all the same."""
        missing = [name for name in names if declared.get(name) is None and name not in text]
        self.guesses = "types" if missing or text is source.EVERY else ""
        """Whether a type follows the rows, which mechanisms that promise differential privacy must know."""
        self._text = {name for name in names if name in text}
        types = declared | (self._seen(missing) if missing else {}) | dict.fromkeys(self._text, pa.string())
        self.schema: pa.Schema = pa.schema([(name, types[name]) for name in names])

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns; a value that does not fit its column is refused."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        with self._one_line():
            cursor = self._connection.execute(f"SELECT {listed(columns)} FROM {self._address.source}")
            while rows := cursor.fetchmany(source.BATCH):
                arrays = [self._array(f, values) for f, values in zip(schema, zip(*rows, strict=True), strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _array(self, field: pa.Field, values: Sequence[Any]) -> pa.Array:
        if field.name in self._text:
            values = [None if value is None else str(value) for value in values]
        try:
            whole = pa.types.is_boolean(field.type)
            return pa.array(values, pa.int8()).cast(field.type) if whole else pa.array(values, field.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            raise TableError(
                f"column {field.name!r} of {self.name} is declared as {field.type}, and not all of its values are; "
                f"clean it, or read it as text (--text {field.name})"
            ) from None

    def _declared(self) -> dict[str, pa.DataType | None]:
        """The types of a table's columns; a query declares none."""
        if self._address.table is None:
            return {}
        table = self._address.table.rpartition(".")[2]
        rows = self._connection.execute(f"SELECT name, type FROM pragma_table_info({text(table)})").fetchall()
        return {name: _kind(type_.upper()) for name, type_ in rows}

    def _seen(self, names: Sequence[str]) -> dict[str, pa.DataType]:
        rows = self._connection.execute(
            f"SELECT {listed(names)} FROM {self._address.source} LIMIT {LOOKED_AT}"
        ).fetchall()
        return {name: _common([row[place] for row in rows]) for place, name in enumerate(names)}

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise TableError(f"{self.name} cannot be read: {error}") from None


def _kind(declared: str) -> pa.DataType | None:
    for words, kind in DECLARED:
        if any(word in declared for word in words):
            return kind
    return None


def _common(values: Sequence[Any]) -> pa.DataType:
    """Whole numbers, numbers, or text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} and kinds:
        return pa.int64()
    return pa.float64() if kinds and kinds <= {int, float} else pa.string()
