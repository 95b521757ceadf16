"""A table whose types were declared, and not guessed from its values.

A type that is guessed is an output that follows the rows: one 1.5 among whole numbers turns a whole column into doubles, and shows in the file of a
release that has no such row. So every column is read as text, and made what it was declared to be, value by value. A value that does not
fit its type is missing: a refusal would follow a single row too.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import decoded, is_text, published_type
from scumble.sources.source import Source

Type = Literal["text", "integer", "number", "boolean", "date", "timestamp"]

KINDS: dict[str, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}


def type_name(kind: pa.DataType) -> str | None:
    """What a spec calls the values of a column of that type; none where it has no word for them.

    >>> type_name(pa.int8()), type_name(pa.dictionary(pa.int8(), pa.large_string())), type_name(pa.list_(pa.int8()))
    ('integer', 'text', None)
    """
    plain = published_type(kind)
    return next((name for name, fits in FITS.items() if fits(plain)), None)


FITS: dict[str, Callable[[pa.DataType], bool]] = {
    "text": is_text,
    "boolean": pa.types.is_boolean,
    "integer": pa.types.is_integer,
    "number": pa.types.is_floating,
    "date": pa.types.is_date,
    "timestamp": pa.types.is_timestamp,
}

SHAPES = {
    "integer": r"^[+-]?[0-9]{1,18}$",
    "number": r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$",
    "boolean": r"^(true|false|True|False|TRUE|FALSE|0|1)$",
}
FORMATS = {"date": "%Y-%m-%d", "timestamp": "%Y-%m-%d %H:%M:%S"}


class DeclaredTypes:
    """A source of text, its columns as they were declared; those that were not stay text."""

    def __init__(self, table: Source, types: Mapping[str, str]) -> None:
        self._table, self._types = table, types
        self.name, self.rows, self.stable = table.name, table.rows, table.stable
        kinds = [pa.field(name, KINDS[types.get(name, "text")]) for name in table.schema.names]
        self.schema: pa.Schema = pa.schema(kinds)

    @property
    def files(self) -> Sequence[Path]:
        """The files of the table."""
        return self._table.files

    @property
    def folder(self) -> Path | None:
        """The folder that is the table, where it is one."""
        return getattr(self._table, "folder", None)

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns."""
        kinds = pa.schema([self.schema.field(name) for name in columns])
        for batch in self._table.batches(columns):
            arrays = [typed(batch.column(name), self._types.get(name, "text")) for name in columns]
            yield pa.record_batch(arrays, schema=kinds)


def typed(column: pa.Array, kind: str) -> pa.Array:
    """Text as a type; what does not fit is missing.

    >>> typed(pa.array(["1", "1.5", "", None, "x"]), "integer").to_pylist()
    [1, None, None, None, None]
    >>> typed(pa.array(["2024-02-29", "2023-02-29"]), "date").to_pylist()
    [datetime.date(2024, 2, 29), None]
    """
    text = decoded(column).cast(pa.string())
    if kind == "text":
        return text
    if kind in FORMATS:
        moment = pc.strptime(text, format=FORMATS[kind], unit="s", error_is_null=True)
        exact = pc.equal(pc.strftime(moment, format=FORMATS[kind]), text)  # else the 30th of February is one of March
        return pc.if_else(exact, moment, pa.scalar(None, moment.type)).cast(KINDS[kind])
    fits = pc.match_substring_regex(text, SHAPES[kind])
    plain = pc.utf8_ltrim(pc.if_else(fits, text, pa.scalar(None, pa.string())), "+")
    return plain.cast(KINDS[kind])
