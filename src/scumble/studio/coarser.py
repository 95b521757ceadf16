"""How public columns can be made coarser, from as they are to coarsest, and the domains of sensitive ones, as forms have them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from scumble.core.arrow_types import is_text
from scumble.core.errors import ParameterError
from scumble.core.parameters import plain
from scumble.spec.looks.seen import Seen, dated, numeric
from scumble.spec.problems import first_problem
from scumble.spec.spec import Coarsen, ColumnSpec, Spec
from scumble.studio.editing import checked
from scumble.studio.reading import TableScan

UNITS = ("day", "week", "month", "quarter", "year")
WIDTHS = 8
"""Widths of steps that are offered for numbers."""
LONGEST_PREFIX = 6
MOST_VALUES = 2000
"""Values of a domain that a form lists."""


@dataclass(frozen=True)
class Rung:
    """One way to publish a column."""

    words: str
    rule: Coarsen | None


def ladder(seen: Seen, now: Coarsen | None) -> list[Rung]:
    """The ways that are offered, the finest first; what the spec says now is one of them."""
    rungs = [Rung("as it is", None), *_rules(seen)]
    if now is not None and all(rung.rule != now for rung in rungs):
        rungs.append(Rung("as the spec says", now))
    return rungs


def _rules(seen: Seen) -> list[Rung]:
    if numeric(seen.kind) and seen.low is not None and math.isfinite(seen.high - seen.low) and seen.high > seen.low:
        return [Rung(f"in steps of {plain(width)}", Coarsen.model_validate({"bins": width})) for width in _widths(seen)]
    if dated(seen.kind):
        units = UNITS[1:] if pa.types.is_date(seen.kind) else UNITS
        return [Rung(f"by {unit}", Coarsen.model_validate({"date": unit})) for unit in units]
    if is_text(seen.kind) and seen.values:
        longest = min(LONGEST_PREFIX, max(len(str(value)) for value in seen.values) - 1)
        return [
            Rung(f"the first {n} letters" if n > 1 else "the first letter", Coarsen.model_validate({"prefix": n}))
            for n in range(longest, 0, -1)
        ]
    return []


def _widths(seen: Seen) -> Sequence[int | float]:
    """1, 2, 5 times powers of ten, up to half of the range; of whole numbers whole ones."""
    span = float(seen.high - seen.low)
    top = math.floor(math.log10(span))
    widths = [f * 10.0**power for power in range(top - 4, top + 1) for f in (1, 2, 5)]
    fitting = [w for w in widths if w <= span / 2]
    if pa.types.is_integer(seen.kind):
        return [int(w) for w in fitting if w >= 2][-WIDTHS:]
    return [float(f"{w:.6g}") for w in fitting][-WIDTHS:]


def with_domains(spec: Spec, form: Mapping[str, str], scan: TableScan) -> Spec:
    """The spec with the rules and domains that a form gives, by the place of a column in the table."""
    columns = dict(spec.columns)
    for place, suggested in enumerate(scan.suggested):
        name = suggested.seen.name
        if name not in columns:
            continue
        if columns[name].role == "public" and f"rung-{place}" in form:
            columns[name] = _coarsened(columns[name], suggested.seen, form[f"rung-{place}"])
        if columns[name].role == "sensitive" and f"domain-{place}" in form:
            columns[name] = _with_domain(columns[name], suggested.seen, form, place)
    return checked(spec, columns=columns)


def _coarsened(column: ColumnSpec, seen: Seen, given: str) -> ColumnSpec:
    rungs = ladder(seen, column.coarsen)
    if not given.isdigit() or int(given) >= len(rungs):
        raise ParameterError(f"there is no such way to publish {seen.name!r}; choose one that is offered")
    return column.model_copy(update={"coarsen": rungs[int(given)].rule})


def _with_domain(column: ColumnSpec, seen: Seen, form: Mapping[str, str], place: int) -> ColumnSpec:
    """A list of values, one a line, or numbers from one to another."""
    missing = form.get(f"missing-{place}") == "yes"
    taken = form.get(f"complete-{place}") != "yes"
    low, high, step = (form.get(f"{part}-{place}", "").strip() for part in ("low", "high", "step"))
    lines = [line.strip() for line in form.get(f"values-{place}", "").splitlines() if line.strip()]
    grid: dict[str, Any] = {"low": None, "high": None, "step": 1}
    if low or high:
        grid = {"low": low or None, "high": high or None, "step": step or "1"}
        lines = []
    values = [_value(line, seen) for line in lines] or None
    if f"values-{place}" not in form and not (low or high):  # too many to be edited in a form
        values = column.values
    fields = {"values": values, "missing": missing, "from_data": taken, **grid}
    try:
        made = ColumnSpec.model_validate({**dict(column), **fields})
        if made.has_domain:
            made.domain(seen.name, seen.kind)  # which says what cannot be one
    except ValidationError as error:
        raise ParameterError(f"column {seen.name!r}: {first_problem(error, ColumnSpec)}") from None
    return made


def _value(text: str, seen: Seen) -> Any:
    """A value as the column has it."""
    kind = seen.kind
    try:
        if pa.types.is_boolean(kind):
            return {"true": True, "false": False}[text.lower()]
        if pa.types.is_integer(kind):
            return int(text)
        if pa.types.is_floating(kind):
            return float(text)
        if pa.types.is_date(kind):
            return date.fromisoformat(text)
    except (ValueError, KeyError):
        raise ParameterError(f"{text!r} is no value of {seen.name!r}, whose values are of type {kind}") from None
    return text


def lines_of(column: ColumnSpec) -> str | None:
    """The values of a domain, one a line; nothing where there are too many to edit here, or a value has several lines."""
    values = [value for value in column.values or () if value is not None]
    texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    if len(texts) > MOST_VALUES or any("\n" in text or text != text.strip() or not text for text in texts):
        return None
    return "\n".join(texts)
