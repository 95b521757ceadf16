"""A first spec for a table: a role and a domain suggested for each column, to be read and edited by a person.

Doubt is "?": a column is suggested to be public only where it clearly is an ordinary attribute with few values.
"""

import json
import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

import pyarrow as pa

from scumble.core.arrow_types import is_text
from scumble.core.errors import TableError
from scumble.core.parameters import plain
from scumble.core.progress import Progress
from scumble.sources.declared import type_name
from scumble.sources.source import Source
from scumble.spec.looks import Look, look
from scumble.spec.looks import seen as looking
from scumble.spec.looks.seen import Seen, dated, numeric
from scumble.spec.spec import DEFAULT, UNDECIDED, Role

NONE_SENSITIVE = "No column looks sensitive"

TELLING = 20
"""Numbers of a public column, above which steps are suggested: with the other columns they tell people apart."""

POINTS = 100
"""Points of a suggested grid, about: with more of them less of each value is kept."""


@dataclass(frozen=True)
class Suggestion:
    """A role for a column, and why."""

    seen: Seen
    role: Role
    why: str


def scan(table: Source, progress: Progress) -> list[Seen]:
    """One pass over the table."""
    columns = looking.scan(table, progress)
    if not columns or not columns[0].rows:
        raise TableError(
            "the table has no rows, so there is nothing to suggest; a spec is made from the values that occur"
        )
    return columns


def role(seen: Seen) -> tuple[Role, str]:
    """A role, and why."""
    looks = look(seen)
    return _role(seen, looks), looks.words(seen)


def _role(seen: Seen, looks: Look) -> Role:
    if looks.kind in ("person", "code"):
        return "identifier"
    if looks.kind == "text":
        return "dropped"
    if looks.kind == "secret":
        return "sensitive" if has_domain(seen) else UNDECIDED
    return "public" if looks.kind == "ordinary" else UNDECIDED


def has_domain(seen: Seen) -> bool:
    """Whether a domain can be suggested: two values or more that can be listed, or numbers on a grid."""
    enough = len(seen.values) + bool(seen.missing) >= 2
    return enough and _in_toml(seen) and (_on_grid(seen) or seen.few)


def _in_toml(seen: Seen) -> bool:
    """Whether a spec can list the values: no bytes, decimals or lists, and no NaN."""
    listed = is_text(seen.kind) or numeric(seen.kind) or dated(seen.kind) or pa.types.is_boolean(seen.kind)
    return listed and all(value == value for value in seen.values)


def _on_grid(seen: Seen) -> bool:
    return numeric(seen.kind) and len(seen.values) > 60 and math.isfinite(seen.high - seen.low)


def suggestions(table: Source, progress: Progress = lambda done, of: None) -> list[Suggestion]:
    """A role for each column of a table, and why."""
    return [Suggestion(seen, *role(seen)) for seen in scan(table, progress)]


def spec_text(
    table_name: str, table: Source, progress: Progress = lambda done, of: None, *, text: Collection[str] = ()
) -> str:
    """The spec as TOML, with the reasons beside the suggestions; `text` names the columns that were read as text."""
    return written(table_name, suggestions(table, progress), text)


def written(table_name: str, suggested: list[Suggestion], text: Collection[str] = ()) -> str:
    """Suggestions as the TOML of a spec."""
    return "\n".join(_lines(table_name, suggested, text)) + "\n"


def _lines(table_name: str, suggested: list[Suggestion], text: Collection[str]) -> Iterator[str]:
    yield "# Read and edit this, then: scumble publish THIS_FILE -o NAME.release"
    yield "# Roles: identifier and dropped (left out), public (published as it is), sensitive (perturbed)."
    yield '# "?" is not decided: nothing is published before each column has a role. rest = "drop" here leaves such columns out.'
    yield f"table = {json.dumps(table_name, ensure_ascii=False)}"
    yield f'mechanism = "{DEFAULT}"'
    yield from _persons(suggested)
    yield "[privacy]"
    yield "# What an attacker believed of a person with probability at most rho1 is, after seeing the row, believed with at most rho2."
    yield "# Instead: gamma = 4.5, or epsilon = 1.5, or retain = 0.1 (the probability that a value is kept)."
    yield 'rho1 = "1/10"'
    yield 'rho2 = "1/3"'
    if not any(column.role == "sensitive" for column in suggested):
        yield f'\n# {NONE_SENSITIVE}: give one the role "sensitive" and a domain (values = [...], or low, high, step).'
    for column in suggested:
        yield f"\n[columns.{_key(column.seen.name)}]"
        steps = list(_coarsening(column))
        in_steps = column.role == "public" and steps
        yield f"# {column.seen.kind}: {column.why}; {'it will be published in steps' if in_steps else BECOMES[column.role]}"
        yield f'role = "{column.role}"'
        if (kind := type_name(column.seen.kind)) is not None:
            yield f'type = "{kind}"'
        if column.seen.name in text:
            yield "text = true"
        yield from _domain(column.seen) if column.role == "sensitive" else steps


def in_steps(seen: Seen) -> bool:
    """Whether a column would be published in steps, if it were public."""
    return bool(list(_coarsening(Suggestion(seen, "public", ""))))


def _persons(suggested: list[Suggestion]) -> Iterator[str]:
    """The column that persons are counted by: of the identifiers the one whose values have the most rows; else a question.

    What looks like an identifier goes before what was only called one: a post code that is left out counts nobody.
    """
    called = [column.seen for column in suggested if column.role == "identifier"]
    identifiers = [seen for seen in called if role(seen)[0] == "identifier"] or called
    yield "# Whose row is it? A person with several rows is promised less: rows_per_person = 1 takes one of each, drawn by coins."
    if identifiers:
        most = min(identifiers, key=lambda seen: seen.share)
        yield f"person = {json.dumps(most.name, ensure_ascii=False)}\n"
        return
    yield '# No column says it. If each person is one row, say: persons = "one row each"'
    yield "# If not, or while nobody knows, every guarantee is printed with this question.\n"


BECOMES: dict[str, str] = {
    "identifier": "it will not be published",
    "dropped": "it will not be published",
    "sensitive": "it will be perturbed",
    "public": "it will be published as it is",
    UNDECIDED: 'decide: "public", "sensitive" with a domain, or "dropped"',
}


def _coarsening(suggested: Suggestion) -> Iterator[str]:
    """Steps for many numbers or days; a rule where the column is public, a remark where that is not decided."""
    seen, mark = suggested.seen, "" if suggested.role == "public" else "# if it is public: "
    if suggested.role not in ("public", UNDECIDED) or len(seen.values) <= TELLING:
        return
    if numeric(seen.kind) and math.isfinite(seen.high - seen.low):
        yield f"{mark}coarsen = {{ bins = {plain(_width(seen)).replace(',', '')} }}  # fewer people are then alone with their values"
    elif dated(seen.kind):
        yield f'{mark}coarsen = {{ date = "year" }}  # or quarter, month, week: fewer people are then alone with their values'


def _domain(seen: Seen) -> Iterator[str]:
    if not has_domain(seen):
        yield "# Its values cannot be listed from the data. Give it a domain: values = [...], or low, high, step."
        return
    yield "# This domain was read off the data: make it the list of ALL values that could occur, then set from_data = false."
    yield "from_data = true"
    if _on_grid(seen):
        yield from _grid(seen)
    else:
        yield f"values = [{', '.join(_literal(v) for v in sorted(seen.values))}]"
    if seen.missing:
        yield "missing = true"


def _grid(seen: Seen) -> Iterator[str]:
    step = _nice((seen.high - seen.low) / POINTS)
    step = max(1, round(step)) if pa.types.is_integer(seen.kind) else step
    low, high = math.floor(seen.low / step), math.ceil(seen.high / step)
    if not (pa.types.is_integer(seen.kind) and step == 1):
        yield "# Numbers are rounded to this grid, which changes them: intervals reach half a step further. on_grid = true refuses numbers between."
    yield '# mechanism = "mixture" is for numbers: smaller errors of sums and ranges, and a finer step costs it little.'
    yield f'low = "{low * step:.12g}"'
    yield f'high = "{high * step:.12g}"'
    yield f'step = "{step:.12g}"'


def _width(seen: Seen) -> float:
    """A width of about twenty steps; of whole numbers a whole one."""
    width = _nice((seen.high - seen.low) / 20 or 1)
    return max(2.0, width) if pa.types.is_integer(seen.kind) else width


def _nice(width: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten above a width.

    >>> _nice(0.7), _nice(13)
    (1.0, 20.0)
    """
    power = 10.0 ** math.floor(math.log10(width)) if width > 0 else 1.0
    return next(f * power for f in (1, 2, 5, 10) if f * power >= width * (1 - 1e-9))


def _literal(value: Any) -> str:
    return value.isoformat() if isinstance(value, date) else json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
