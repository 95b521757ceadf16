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


DAYS = -719_162, 2_932_896
"""The first day of the year 1 and the last one of 9999, in days since 1970."""
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def in_calendar(column: pa.Array) -> pa.Array:
    """Dates and times of the years 1 to 9999; all others, such as an infinite one, are missing.

    >>> in_calendar(pa.array([0, 2**31 - 1], pa.int32()).cast(pa.date32())).to_pylist()
    [datetime.date(1970, 1, 1), None]
    """
    low, high = DAYS[0], DAYS[1]
    if pa.types.is_timestamp(column.type):
        day = 86_400 * TICKS[column.type.unit]
        low, high = low * day, min((high + 1) * day - 1, 2**63 - 1)
        low = max(low, -(2**63))
    elif not pa.types.is_date32(column.type):
        return column
    whole = pa.int32() if pa.types.is_date32(column.type) else pa.int64()
    numbers = column.view(whole)
    inside = pc.and_(pc.greater_equal(numbers, pa.scalar(low, whole)), pc.less_equal(numbers, pa.scalar(high, whole)))
    return column if pc.all(inside, min_count=0).as_py() else pc.if_else(inside, column, pa.scalar(None, column.type))


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
