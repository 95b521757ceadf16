"""Types of columns that can be published; all others are refused by name, with a way out. A dropped column may have any.

| type | public | sensitive |
|---|---|---|
| whole numbers, floating point of 32 and 64 bits, decimals of 128, booleans, text, dates, times, dictionaries of them | yes | yes |
| bytes, durations | yes | no: a domain of them cannot be written down |
| no type at all (null) | yes | no |
| other floating point and decimals, views and fixed lengths of bytes, intervals, lists, records, maps, unions, runs | no | no |
"""

from collections.abc import Mapping

import pyarrow as pa

from scumble.core.arrow_types import is_number, is_text
from scumble.core.errors import SchemaError

PUBLISHED = ("public", "sensitive")
NAMED = {"identifier": "an identifier, whose rows are counted"}
KEPT = "cast it to text, numbers or dates, or drop it"


def demand_types(schema: pa.Schema, roles: Mapping[str, str]) -> None:
    """Refuses the first column whose type its role has no place for, and two columns whose names differ in capitals alone."""
    seen: dict[str, str] = {}
    for name in [name for name, role in roles.items() if role in PUBLISHED]:
        if seen.setdefault(name.casefold(), name) != name:
            raise SchemaError(
                f"columns {seen[name.casefold()]!r} and {name!r} differ in capitals alone, which SQL does not tell apart; rename or drop one"
            )
    for name, role in roles.items():
        kind = schema.field(name).type
        if not can_be(kind, role):
            raise SchemaError(f"column {name!r} has the type {kind}, which cannot be {NAMED.get(role, role)}; {KEPT}")


def can_be(kind: pa.DataType, role: str) -> bool:
    """Whether a column of that type can have a role.

    >>> can_be(pa.duration("s"), "public"), can_be(pa.duration("s"), "sensitive"), can_be(pa.list_(pa.int8()), "dropped")
    (True, False, True)
    """
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    is_ = pa.types
    uncounted = is_.is_float16(inner) or (is_.is_decimal(inner) and not is_.is_decimal128(inner))
    if role not in PUBLISHED or uncounted:
        return not (uncounted and role in (*PUBLISHED, "identifier"))
    listed = is_number(inner) or is_text(inner) or is_.is_boolean(inner) or is_.is_date(inner)
    if listed or is_.is_timestamp(inner) or is_.is_time(inner):
        return True
    bare = is_.is_binary(inner) or is_.is_large_binary(inner) or is_.is_duration(inner) or is_.is_null(inner)
    return role == "public" and bool(bare)
