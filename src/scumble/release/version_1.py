"""Manifests of format version 1, read as those of version 2: what was counted, sampled and replaced together became the form.

Nothing is skipped: a field that has no place in the form of its mechanism is carried over, and refused there.
"""

from typing import Any

from scumble.core.errors import ReleaseError
from scumble.mechanisms import find_mechanism

Document = dict[str, Any]

COUNTING = {
    "exact": ("exact", ("k",)),
    "practical": ("practical", ("k", "epsilon", "delta")),
    "full": ("full", ("epsilon", "domains")),
    "boxes": ("midpoints", ("k",)),
}
"""What a way to count tuples was called, what it is called now, and its numbers."""

SCHEMA = ("tables", "schema_from", "c_star", "transactions")

MOVED = ("counted", "sampling", "joint")


def upgraded(document: Document) -> Document:
    """The document as version 2 has it."""
    kept = {name: value for name, value in document.items() if name not in MOVED}
    form = {"kind": find_mechanism(document["mechanism"]).form, **_numbers(document)}
    return {**kept, "version": 2, "form": form}


def _numbers(document: Document) -> Document:
    """The fields of the form."""
    beside = {name: document[name] for name in ("sampling", "joint") if document.get(name) is not None}
    counted = document.get("counted")
    if counted is None:
        return beside
    if not isinstance(counted, dict):
        raise ReleaseError("the manifest's 'counted' is not a record; get the release again from its publisher")
    given = {name: value for name, value in counted.items() if value is not None}
    matrix = given.pop("matrix", None)
    if matrix in COUNTING:
        return {**beside, **_tuples(matrix, given)}
    if matrix not in (document["mechanism"], "generalized"):
        raise ReleaseError(
            f"the release was counted by the matrix {matrix!r}, which this scumble does not know; get a newer scumble"
        )
    return {**beside, **_apart(given)}


def _tuples(matrix: str, given: Document) -> Document:
    kind, numbers = COUNTING[matrix]
    counting = {"kind": kind, **_taken(given, numbers)}
    schema = _taken(given, SCHEMA)
    return {"counting": counting, **given, **({"schema": schema} if schema else {})}


def _taken(given: Document, names: tuple[str, ...]) -> Document:
    """Fields that are moved elsewhere."""
    return {name: given.pop(name) for name in names if name in given}


def _apart(given: Document) -> Document:
    """The numbers of other forms; of buckets the two tables, which were a list."""
    tables = given.pop("tables", None)
    if tables is None:
        return given
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ReleaseError("the manifest's tables are not records; get the release again from its publisher")
    return {**given, **{str(table.get("name")): table for table in tables}}
