"""Published columns as PostgreSQL has them, there and back; a type that it cannot keep to the bit is refused by name."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from scumble.core.errors import ReleaseError
from scumble.engines.sql import quoted

LONGEST = 63
"""Bytes of a name; longer ones the server would cut, without a word."""

TEXT = 'text COLLATE "C"'
"""Compared by their bytes, as everywhere else in scumble."""

PLAIN: dict[pa.DataType, str] = {
    pa.bool_(): "boolean",
    pa.int8(): "smallint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.uint8(): "smallint",
    pa.uint16(): "integer",
    pa.uint32(): "bigint",
    pa.uint64(): "numeric(20, 0)",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.date32(): "date",
    pa.time32("s"): "time",
    pa.time32("ms"): "time",
    pa.time64("us"): "time",
}

KINDS: dict[int, pa.DataType] = {
    16: pa.bool_(),
    20: pa.int64(),
    21: pa.int16(),
    23: pa.int32(),
    25: pa.string(),
    700: pa.float32(),
    701: pa.float64(),
    1043: pa.string(),
    1082: pa.date32(),
    1083: pa.time64("us"),
    1114: pa.timestamp("us"),
    1184: pa.timestamp("us", "UTC"),
    1009: pa.list_(pa.string()),
    1005: pa.list_(pa.int16()),
    1007: pa.list_(pa.int32()),
    1016: pa.list_(pa.int64()),
    1022: pa.list_(pa.float64()),
}
"""The types of results, by the server's numbers for them."""

NUMERIC = 1700


def declared(schema: pa.Schema) -> str:
    """The columns of a table, as they stand in CREATE TABLE."""
    return ", ".join(f"{quoted(demand_name(field.name))} {_type(field.name, field.type)}" for field in schema)


def demand_name(name: str, what: str = "column") -> str:
    """Refuses a name that the server would cut, or cannot have."""
    if len(name.encode()) > LONGEST or "\0" in name or not name:
        raise ReleaseError(
            f"the {what} {name[:LONGEST]!r} has a name of over {LONGEST} bytes, which PostgreSQL would cut; give it a shorter one, "
            "or write the release into a folder"
        )
    return name


def _type(name: str, kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return _type(name, kind.value_type)
    if pa.types.is_list(kind):
        element = _type(name, kind.value_type)
        return element.replace("text", "text[]", 1) if element == TEXT else f"{element}[]"
    if pa.types.is_timestamp(kind) and kind.unit != "ns":
        return "timestamptz" if kind.tz else "timestamp"
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if kind not in PLAIN:
        raise ReleaseError(
            f"column {name!r} has the type {kind}, which PostgreSQL cannot keep as it is; write the release into a folder"
        )
    return PLAIN[kind]


def lines(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch as its lines of CSV are written from: words as such, and lists as the server writes them."""
    return pa.RecordBatch.from_arrays([_line(column) for column in batch.columns], batch.schema.names)


def _line(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_list(column.type):
        return pa.array([None if value is None else _array(value) for value in column.to_pylist()], pa.string())
    return column.cast(pa.string()) if pa.types.is_decimal(column.type) else column


def _array(values: Sequence[Any]) -> str:
    """A list, each value between quotes.

    >>> print(_array(["a", "b c", None, 1.5]))
    {"a","b c",NULL,"1.5"}
    """
    return "{" + ",".join("NULL" if value is None else f'"{_escaped(value)}"' for value in values) + "}"


def _escaped(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return re.sub(r'(["\\])', r"\\\1", text)


def arrow(columns: Sequence[Any], rows: Sequence[Sequence[Any]]) -> pa.Table:
    """A result: sums of whole numbers as such, and numbers of any other precision as doubles."""
    held = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    arrays = [_array_of(column.type_code, values) for column, values in zip(columns, held, strict=True)]
    return pa.table(arrays, [column.name for column in columns])


def _array_of(code: int, values: Sequence[Any]) -> pa.Array:
    if code == NUMERIC:
        whole = all(value is None or (value.is_finite() and value == value.to_integral_value()) for value in values)
        large = any(value is not None and whole and abs(value) >= 2**63 for value in values)
        made: Callable[[Decimal], int | float] = int if whole and not large else float
        return pa.array(
            [None if value is None else made(value) for value in values], pa.int64() if made is int else pa.float64()
        )
    return pa.array(values, KINDS.get(code))
