"""Decimal commas: whether a file whose fields are not separated by commas writes 1,5 for one and a half.

Taken for numbers where every value of a column looks so. Where that could be something else, the file is refused with what to do:

    1,234        in every value three digits behind the comma: thousands as well as thousandths
    1.234,5      points between thousands
    1,5 and 2.5  commas in one column and points in another
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from scumble.core.errors import TableError
from scumble.engines.sql import quoted

SAMPLE = 20_480
"""Rows that are looked at: as many as types are found out from."""

COMMA = r"[+-]?\d+(,\d+)?"
THOUSANDS = r"[+-]?[1-9]\d{0,2},\d{3}"
POINTS = r"[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d+)?"


def decimal_commas(relation: duckdb.DuckDBPyRelation, path: Path, text: Sequence[str]) -> bool:
    """Whether numbers have decimal commas; `text` names the columns that are to stay text."""
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    seen = [_seen(relation, name) for name, kind in kinds.items() if kind == "VARCHAR" and name not in text]
    styles = [style for style in seen if style is not None]
    if not styles:
        return False
    first, pointed = styles[0], next((name for name, kind in kinds.items() if kind == "DOUBLE"), None)
    grouped = next((style for style in styles if style.points), None)
    if grouped is not None:
        problem = f"column {grouped.name!r} has numbers with decimal commas and points between thousands; write them without the points"
        raise TableError(f"{path.name}: {problem}, or read the column as text (--text {grouped.name})")
    if pointed is not None:
        problem = f"numbers have decimal commas ({first.example!r} in {first.name!r}) and decimal points (in {pointed!r}); write all of them alike"
        raise TableError(f"{path.name}: {problem}, or read the column as text (--text {first.name})")
    if all(style.thousands for style in styles):
        problem = f"{first.example!r} in column {first.name!r} may have a decimal comma, or one between thousands; write it with a decimal point, or without the comma"
        raise TableError(f"{path.name}: {problem}, or read the column as text (--text {first.name})")
    return True


@dataclass(frozen=True)
class CommaColumn:
    """A column whose values are numbers, some with a comma."""

    name: str
    example: str
    thousands: bool
    """Whether all commas could be between thousands."""
    points: bool
    """Whether there are points too."""


def _seen(relation: duckdb.DuckDBPyRelation, name: str) -> CommaColumn | None:
    """What the values of a column look like; None where some are no numbers, or none has a comma."""
    values = relation.limit(SAMPLE).project(f"trim({quoted(name)}) AS v").filter("v <> ''")
    comma = "FILTER (contains(v, ','))"
    measures = [
        f"bool_and(regexp_full_match(v, '({COMMA}|{POINTS})'))",
        f"bool_and(regexp_full_match(v, '{THOUSANDS}')) {comma}",
        "bool_or(contains(v, '.'))",
        f"any_value(v) {comma}",
    ]
    numbers, thousands, points, example = values.aggregate(", ".join(measures)).fetchall()[0]
    return CommaColumn(name, example, thousands, points) if numbers and example is not None else None
