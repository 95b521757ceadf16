"""Every sentence of a promise, made from its code and its parameters; nothing else in the house writes one, and nothing reads one.

A guarantee, a condition, a line that is not covered and a line about what was taken from the data are all a code with parameters.
Decisions are taken by codes. A sentence may be reworded at will; but releases that were made before have the older words
in their manifest, where verification compares them: so it is reworded with a new edition of the manifest.

The sentences stand in files of their kind: words_of_rows.py, words_of_counts.py, words_of_clauses.py.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scumble.core.errors import InternalError
from scumble.privacy import words_of_clauses, words_of_counts, words_of_rows

if TYPE_CHECKING:
    from scumble.privacy.guarantee import Guarantee

STATEMENTS = words_of_rows.STATEMENTS | words_of_counts.STATEMENTS
"""The sentence of each kind of guarantee."""
CLAUSES, HEADINGS = words_of_clauses.CLAUSES, words_of_clauses.HEADINGS


def statement(guarantee: "Guarantee") -> str:
    """A guarantee as a sentence."""
    if guarantee.kind not in STATEMENTS:
        raise InternalError(f"there are no words for a guarantee of kind {guarantee.kind!r}")
    return STATEMENTS[guarantee.kind](guarantee)


def heading(code: str) -> str:
    """What a clause is headed by; most are not."""
    return HEADINGS.get(code, "")


def text(code: str, parameters: Mapping[str, Any]) -> str:
    """A clause as a sentence, without its heading."""
    if code not in CLAUSES:
        raise InternalError(f"there are no words for a clause of code {code!r}")
    made = CLAUSES[code]
    return made if isinstance(made, str) else made(parameters)


def sentence(code: str, parameters: Mapping[str, Any]) -> str:
    """A clause as a sentence."""
    head, body = heading(code), text(code, parameters)
    return f"{head}: {body}" if head else body
