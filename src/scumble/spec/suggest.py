"""A first spec for a table: a role and a domain suggested for each column, to be read and edited by a person."""

import json
import math
import re
import warnings
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import decoded, is_text, published_type
from scumble.core.errors import TableError
from scumble.core.parameters import plain
from scumble.core.progress import Progress
from scumble.sources.source import Source

IDENTIFYING = re.compile(
    r"(^|_)(id|name|surname|firstname|lastname|ssn|nino|email|mail|phone|mobile|passport|address|street|iban|licen[cs]e|insurance|mrn|url|ip|"
    r"vorname|nachname|familienname|geburtsname|stra(ss|ß)e|anschrift|adresse|telefon|ausweis|versicherten|nom|pr[eé]nom|t[eé]l[eé]phone|courriel|"
    r"nombre|apellidos?|direcci[oó]n|tel[eé]fono|correo|nome|cognome|indirizzo|naam|voornaam|achternaam|straat)(_|$|no|num|nr)",
    re.I,
)
SENSITIVE = re.compile(
    r"disease|diagnos|icd|illness|disorder|income|salary|wage|earning|religion|relig|ethnic|sexual|orientation|hiv|"
    r"drug|medicat|treatment|crime|offen[cs]e|debt|political|vote|pregnan|disab|occupation|union|"
    r"krankheit|erkrankung|befund|einkommen|gehalt|konfession|medikament|schwanger|maladie|revenu|salaire|enceinte|"
    r"enfermedad|salario|embaraz|malattia|reddito|stipendio|ziekte|inkomen",
    re.I,
)
"""What columns are called in tables of people, in English and some of its neighbours; the second within a word, the first as a word of its own."""

BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-zß-ÿ])(?=[A-Z])")
"""Where a word of a column's name ends: patient_name, Patient Name, patient-name, patientName."""

NONE_SENSITIVE = "No column looks sensitive"
LISTED = 500
"""Values of a column that are counted and listed, at most."""

TELLING = 20
"""Numbers of a public column, above which steps are suggested: with the other columns they tell people apart."""

POINTS = 100
"""Points of a suggested grid, about: with more of them less of each value is kept."""


@dataclass
class Seen:
    """What one scan tells of a column."""

    name: str
    kind: pa.DataType
    values: set[Any] = field(default_factory=set)
    missing: int = 0
    rows: int = 0
    low: Any = None
    high: Any = None
    distinct_share: float = 0.0

    def add(self, column: pa.Array) -> None:
        """One more batch."""
        plain = decoded(column)
        self.missing += plain.null_count
        if pa.types.is_nested(plain.type):
            plain = pa.array([str(value) for value in plain.to_pylist()])
        different = plain.unique().drop_null()
        if self.rows == 0:
            self.distinct_share = len(different) / max(1, len(plain))
        self.rows += len(plain)
        if len(self.values) <= LISTED:
            self.values.update(different.slice(0, LISTED + 1).to_pylist())
        if numeric(self.kind) and len(different):
            ends = pc.min_max(different).as_py()
            self.low = ends["min"] if self.low is None else min(self.low, ends["min"])
            self.high = ends["max"] if self.high is None else max(self.high, ends["max"])

    @property
    def few(self) -> bool:
        """Whether all values could be listed."""
        return len(self.values) <= LISTED


def numeric(kind: pa.DataType) -> bool:
    """Whether a column of that type holds numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def dated(kind: pa.DataType) -> bool:
    """Whether a column of that type holds days or moments."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def scan(table: Source, progress: Progress) -> list[Seen]:
    """One pass over the table."""
    found = [Seen(f.name, published_type(f.type)) for f in table.schema]
    rows = 0
    for batch in table.batches(table.schema.names):
        for seen in found:
            seen.add(batch.column(seen.name))
        rows += batch.num_rows
        progress(rows, table.rows)
    if not rows:
        raise TableError(
            "the table has no rows, so there is nothing to suggest; a spec is made from the values that occur"
        )
    return found


def names_people(column: str) -> bool:
    """Whether a column is called like something that names a person.

    >>> names_people("Last Name"), names_people("patientId"), names_people("valid")
    (True, True, False)
    """
    return IDENTIFYING.search(BETWEEN_WORDS.sub("_", column)) is not None


def warn_of_names(public: Iterable[str]) -> None:
    """Says which columns that nobody named are called like names of people: these repeat, so that their values do not tell, and may be something else."""
    telling = ", ".join(repr(column) for column in public if names_people(column))
    if telling:
        warnings.warn(
            f"published as it is, and called like something that names a person: {telling}; leave it out (--drop, drop=), or name what is public (--public, public=)",
            stacklevel=2,
        )


def role(seen: Seen) -> tuple[str, str]:
    """A role, and why."""
    unique = (is_text(seen.kind) or pa.types.is_integer(seen.kind)) and seen.rows >= 20 and seen.distinct_share > 0.95
    if names_people(seen.name) or unique:
        return "identifier", "looks like something that names a person; it will not be published"
    if SENSITIVE.search(seen.name):
        return "sensitive", "looks like something a person would not tell; it will be perturbed"
    return "public", "will be published as it is" + (
        f"; {len(seen.values)} values" if seen.few else "; many values: consider coarsen"
    )


def spec_text(
    table_name: str, table: Source, progress: Progress = lambda done, of: None, *, text: Collection[str] = ()
) -> str:
    """The spec as TOML, with the reasons beside the suggestions; `text` names the columns that were read as text."""
    return "\n".join(_lines(table_name, scan(table, progress), text)) + "\n"


def _lines(table_name: str, found: list[Seen], text: Collection[str]) -> Iterator[str]:
    yield "# Read and edit this, then: scumble publish THIS_FILE -o NAME.release"
    yield "# Roles: identifier and dropped (left out), public (published as it is), sensitive (perturbed)."
    yield f"table = {json.dumps(table_name, ensure_ascii=False)}"
    yield 'mechanism = "uniform"\n'
    yield "[privacy]"
    yield "# What an attacker believed of a person with probability at most rho1 is, after seeing the row, believed with at most rho2."
    yield "# Instead: gamma = 4.5, or epsilon = 1.5, or retain = 0.1 (the probability that a value is kept)."
    yield 'rho1 = "1/10"'
    yield 'rho2 = "1/3"'
    roles = [role(seen) for seen in found]
    if not any(name == "sensitive" for name, _ in roles):
        yield f'\n# {NONE_SENSITIVE}: give one the role "sensitive" and a domain (values = [...], or low, high, step).'
    for seen, (name, why) in zip(found, roles, strict=True):
        yield f"\n[columns.{_key(seen.name)}]  # {seen.kind}: {why}"
        yield f'role = "{name}"'
        if seen.name in text:
            yield "text = true"
        if name == "sensitive":
            yield from _domain(seen)
        elif name == "public" and numeric(seen.kind) and len(seen.values) > TELLING:
            yield f"# coarsen = {{ bins = {plain(_width(seen)).replace(',', '')} }}  # fewer people are then alone with their values"
        elif name == "public" and dated(seen.kind) and len(seen.values) > TELLING:
            yield '# coarsen = { date = "year" }  # or quarter, month, week: fewer people are then alone with their values'


def _domain(seen: Seen) -> Iterator[str]:
    yield "# This domain was read off the data: make it the list of ALL values that could occur, then set from_data = false."
    yield "from_data = true"
    if numeric(seen.kind) and len(seen.values) > 60:
        yield from _grid(seen)
    elif seen.few:
        yield f"values = [{', '.join(_literal(v) for v in sorted(seen.values))}]"
        if seen.missing:
            yield "missing = true"
    else:
        yield f"# more than {LISTED} values: list them, or use a coarser column"


def _grid(seen: Seen) -> Iterator[str]:
    step = _nice((seen.high - seen.low) / POINTS)
    step = max(1, round(step)) if pa.types.is_integer(seen.kind) else step
    low, high = math.floor(seen.low / step), math.ceil(seen.high / step)
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
