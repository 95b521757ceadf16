"""Views that give each published row its weights: sums of them are estimates, for tools that know nothing of scumble."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from scumble.engines.postgres.types import declared
from scumble.engines.sql import listed, quoted, text

VALUE, WEIGHT, VARIANCE = "scumble_value", "scumble_weight", "scumble_variance"
OWN = (VALUE, WEIGHT, VARIANCE)

Line = tuple[Any, Any, float]
"""A published value, a true one, and what a row with the former counts for the latter."""


def weighted(table: str, columns: Sequence[str], shown: pa.Field, value: pa.DataType, lines: Sequence[Line]) -> str:
    """The statement: every row of a table once for each value that one of its columns can truly have."""
    own, true = _type(shown.type), _type(value)
    values = ", ".join(
        f"({_literal(y, own)}, {_literal(x, true)}, CAST({text(repr(w))} AS double precision))" for y, x, w in lines
    )
    name = f"r.{quoted(shown.name)}"
    same = f"{name} = w.published"
    if any(y is None for y, _, _ in lines):  # a missing value is one, too
        same = f"({same} OR ({name} IS NULL AND w.published IS NULL))"
    kept = ", ".join(f"r.{quoted(column)}" for column in columns)
    return (
        f"SELECT {kept}, w.value AS {VALUE}, w.weight AS {WEIGHT}, w.weight * w.weight - w.weight AS {VARIANCE} "
        f"FROM {table} AS r JOIN (VALUES {values}) AS w (published, value, weight) ON {same}"
    )


def _type(kind: pa.DataType) -> str:
    """As a table declares it."""
    return declared(pa.schema([("v", kind)])).removeprefix(f"{listed(['v'])} ")


def _literal(value: Any, kind: str) -> str:
    plain, _, collation = kind.partition(" COLLATE ")
    written = "NULL" if value is None else text(str(value).lower() if isinstance(value, bool) else str(value))
    return f"CAST({written} AS {plain})" + (f" COLLATE {collation}" if collation else "")
