"""Kinds of columns: what a column holds, however Arrow stores it."""

import re

import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.errors import SchemaError


def named_type(name: str) -> pa.DataType:
    """The Arrow type that calls itself so.

    >>> named_type("int8"), named_type("decimal128(8, 2)"), named_type("timestamp[ms, tz=UTC]")
    (DataType(int8), Decimal128Type(decimal128(8, 2)), TimestampType(timestamp[ms, tz=UTC]))
    """
    try:
        if made := re.fullmatch(r"(decimal(?:32|64|128|256))\((\d{1,3}), (-?\d{1,3})\)", name):
            return getattr(pa, made[1])(int(made[2]), int(made[3]))
        if made := re.fullmatch(r"timestamp\[(\w+), tz=(.+)\]", name):
            return pa.timestamp(made[1], made[2])
        return pa.type_for_alias(name)
    except (ValueError, TypeError):
        raise SchemaError(f"there is no type {name[:60]!r} that a column can have") from None


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of that type holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of that type holds numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def decoded(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The values of a column that may hold the places of words.

    >>> decoded(pa.array(["b", None]).dictionary_encode()).to_pylist()
    ['b', None]
    """
    if not pa.types.is_dictionary(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        kind = (
            published_type(column.type) if pa.types.is_string_view(column.type.value_type) else column.type.value_type
        )
        return pa.chunked_array([decoded(chunk) for chunk in column.chunks], kind)
    if pa.types.is_string_view(column.type.value_type):  # Arrow takes nothing from views
        return column.dictionary.cast(pa.string()).take(column.indices)
    return column.dictionary_decode()


def one_zero(column: pa.Array) -> pa.Array:
    """Numbers whose bits are those of their value: -0.0 is 0.0, and every NaN is the same one.

    >>> one_zero(pa.array([-0.0, 1.5])).to_pylist()
    [0.0, 1.5]
    """
    if not pa.types.is_floating(column.type):
        return column
    plain = pc.add(column, pa.scalar(0.0, column.type))
    return pc.if_else(pc.is_nan(plain), pa.scalar(float("nan"), column.type), plain)


def published_type(kind: pa.DataType) -> pa.DataType:
    """The type a column is published with: its own, or what stands behind a dictionary."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_timestamp(inner) and inner.unit == "s":
        return pa.timestamp("ms", inner.tz)  # Parquet knows no whole seconds
    if pa.types.is_time32(inner) and inner.unit == "s":
        return pa.time32("ms")
    if pa.types.is_date(inner):
        return pa.date32()  # nor dates in milliseconds
    return pa.string() if pa.types.is_string_view(inner) else inner
