"""What a page that reads the files of a release has to be told of values: how they are stored, and which a domain has."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa

from scumble.core.arrow_types import is_number, is_text, named_type
from scumble.core.domain import Domain, Grid
from scumble.core.errors import SchemaError
from scumble.core.scale import Scale

SAFE = 2**53 - 1
"""The largest whole number that a page can count with."""
MOST_VALUES = 200_000
"""Values of a domain up to which a page handles its column."""

SIMPLE: Mapping[str, Callable[[pa.DataType], bool]] = {
    "text": is_text,
    "truth": pa.types.is_boolean,
    "uint32": pa.types.is_uint32,
    "uint64": pa.types.is_uint64,
    "whole": pa.types.is_integer,
    "real": lambda kind: bool(pa.types.is_float32(kind) or pa.types.is_float64(kind)),
    "day": pa.types.is_date32,
}
"""Kinds that need no more than a name, the first that fits."""


def kind_of(type_name: str) -> dict[str, Any]:
    """How values of a type are stored in Parquet; nothing for types that a page cannot show.

    >>> kind_of("decimal128(8, 2)"), kind_of("int16"), kind_of("list<item: string>")
    ({'kind': 'decimal', 'scale': 2}, {'kind': 'whole'}, {})
    """
    try:
        kind = named_type(type_name)
    except SchemaError:
        return {}
    if pa.types.is_decimal(kind):
        return {"kind": "decimal", "scale": kind.scale}
    if pa.types.is_timestamp(kind):
        return {"kind": "moment", "unit": kind.unit, **({"zone": True} if kind.tz else {})}
    if pa.types.is_time(kind):
        return {"kind": "time", "unit": kind.unit}
    simple = next((word for word, of in SIMPLE.items() if of(kind)), None)
    return {} if simple is None else {"kind": simple}


def domain_facts(domain: Domain) -> dict[str, Any]:
    """How many values a domain has, whether these are numbers, and the points of a grid."""
    facts: dict[str, Any] = {"size": domain.size}
    if is_number(domain.type):
        facts["numeric"] = True
    if isinstance(domain, Grid):
        facts["grid"] = _points(domain)
    if domain.size > MOST_VALUES or facts.get("grid", True) is None or isinstance(domain, Scale):
        facts["too_many"] = True
    return facts


def _points(grid: Grid) -> dict[str, int] | None:
    """The first point and the step as whole numbers over a power of ten; None where they are too large for a page."""
    low, step = Decimal(str(grid.low)), Decimal(str(grid.step))
    digits = max(0, -int(low.as_tuple().exponent), -int(step.as_tuple().exponent))
    scale = 10**digits
    first, width = int(low * scale), int(step * scale)
    if max(abs(first), abs(first + width * (grid.size - 1)), scale) > SAFE:
        return None
    return {"first": first, "step": width, "scale": scale}
