"""What a column looks like, by its name and by its values: a guess that a person decides on."""

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from scumble.core.arrow_types import is_text
from scumble.spec.looks.check_digits import NUMBERS
from scumble.spec.looks.names import named_kind, names_person, ordinary
from scumble.spec.looks.seen import Seen, dated, numeric
from scumble.spec.looks.values import births, numbered, shaped, years, zip_numbers

Kind = Literal["person", "code", "text", "trace", "secret", "ordinary", "unknown"]
"""person    names or numbers a person
code      repeats, and has so many values that it may number people
text      is written, not chosen
trace     a date of birth or a post code: with little else it finds a person
secret    what a person would not tell
ordinary  what others know anyway
"""

MANY = 300
"""Different texts, from which on they number people or things."""

REPEATED = 0.3
"""Different whole numbers for each row, from which on they number people, as a measurement hardly would."""

ORDINARY = 60
"""Values of an ordinary column of texts, at most."""

TRACES = ("a date of birth", "a post code")
WRITTEN = "free text"
PEOPLE = ("an e-mail address", "a telephone number")
UNIQUE = "something that names a person"
SURE = (*PEOPLE, *NUMBERS)
"""What values show whatever the column is called: an income that nobody else has names nobody."""

YEARS = 30
"""Different years, from which on they may be those of births."""


@dataclass(frozen=True)
class Look:
    """What a column looks like."""

    kind: Kind
    what: str = ""
    """As in: looks like ..."""

    def words(self, seen: Seen) -> str:
        """The look and the number of values, in words."""
        counted = seen.counted() if seen.rows else f"of type {seen.kind}"
        return f"looks like {self.what}; {counted}" if self.what else counted


def look(seen: Seen) -> Look:
    """What a column looks like: by its name first, which says most, then by its values."""
    named = named_kind(seen.name)
    if named in TRACES:
        return Look("trace", named)
    if names_person(seen.name):
        return Look("unknown", SHORT_CODE) if _short_code(seen) else Look("person", UNIQUE)
    by_values = _by_values(seen)
    if named == WRITTEN:
        return Look("text", WRITTEN)
    if named is not None:
        return by_values if by_values is not None and by_values.what in SURE else Look("secret", named)
    if by_values is not None:
        return by_values
    return Look("ordinary", "an ordinary attribute") if ordinary(seen.name) and _few(seen) else _by_number(seen)


SHORT_CODE = "a short list of codes, whatever its name says"


def _short_code(seen: Seen) -> bool:
    """Whether few whole numbers stand in many rows: an admission_type_id is no person."""
    return pa.types.is_integer(seen.kind) and len(seen.values) <= ORDINARY and seen.rows >= 20 * len(seen.values)


def _by_values(seen: Seen) -> Look | None:
    """What values look like that tell it by themselves."""
    whole = pa.types.is_integer(seen.kind)
    if (is_text(seen.kind) or whole) and (number := numbered(seen.values)):
        return Look("person", number)
    if (shape := shaped(seen.values) if is_text(seen.kind) else None) is not None:
        if shape in PEOPLE:
            return Look("person", shape)
        return Look("text" if shape == WRITTEN else "trace" if shape in TRACES else "secret", shape)
    days = years(seen.values) if is_text(seen.kind) or dated(seen.kind) or whole else None
    alone = days == list(seen.values)  # years, and not days
    if days and births(days) and len(days) >= (YEARS if alone else ORDINARY):
        return Look("trace", "a date of birth")
    if (is_text(seen.kind) or whole) and seen.rows >= 20 and seen.share > 0.95:
        return Look("person", UNIQUE)
    return Look("trace", "a post code") if whole and seen.share <= REPEATED and zip_numbers(seen.values) else None


def _few(seen: Seen) -> bool:
    return seen.few and (numeric(seen.kind) or dated(seen.kind) or len(seen.values) <= ORDINARY)


def _by_number(seen: Seen) -> Look:
    """What many values that repeat look like: codes of people or things."""
    texts = is_text(seen.kind) and len(seen.values) > MANY
    numbers = pa.types.is_integer(seen.kind) and not seen.few and seen.share > REPEATED
    return Look("code", "a code of people or things") if texts or numbers else Look("unknown")
