"""What is wrong with a spec, in one line: where, what was given, and what can be given there."""

import re
from collections.abc import Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from scumble.core.errors import did_you_mean

NOUNS = {
    "string": "a text",
    "list": "a list, [...]",
    "dict": "a table, { name = value }",
    "model": "a table, { name = value }",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
}
"""By how the name of a complaint begins: what must stand there."""

BRANCHES = ("int", "float", "str")
"""Ways to write a number, one of which stands behind a place that takes all of them."""

NUMBERS = (NOUNS["int"], NOUNS["float"], NOUNS["string"])

ROLES = "roles are public (published as it is; quasi-identifiers are), sensitive (perturbed), identifier and dropped (left out), ? (not decided yet)"


def first_problem(error: ValidationError, model: type[BaseModel] | None = None, known: Sequence[str] = ()) -> str:
    """The first complaint, in our words where there are some.

    model   what was to be read, so that a name that is not known gets one that is
    known   all names that are known, where they are few enough to be told
    """
    problem = error.errors()[0]
    given, kind = problem["input"], problem["type"]
    place = tuple(
        step for step in problem["loc"] if "[" not in str(step)
    )  # else a type, of several that can stand there
    noun = NOUNS.get(kind.split("_")[0])
    if noun in NUMBERS and place[-1:] and place[-1] in BRANCHES:
        place, noun = place[:-1], 'a number, or a fraction such as "1/13"'
    where = ".".join(map(str, place))
    if kind == "extra_forbidden":
        hint = did_you_mean(str(place[-1]), names_at(model, place[:-1]))
        return f"{where!r} is not a known setting" + (f"; there are: {', '.join(known)}" if known else hint)
    if kind == "missing":
        return f"{where!r} is missing; {ROLES if where.endswith('role') else 'give it'}"
    if kind == "literal_error":
        return _choice(where, given, re.findall(r"'([^']*)'", problem["ctx"]["expected"]))
    if noun and problem["msg"].startswith("Input should be"):
        return f"{where} must be {noun}, not {given!r}"
    message = problem["msg"].removeprefix("Value error, ")
    return f"{where}: {message}" if where else message


def _choice(where: str, given: Any, allowed: list[str]) -> str:
    """A word that is none of those that can stand there."""
    close = did_you_mean(str(given).lower(), allowed)
    if not where.endswith("role"):
        return f"{where} cannot be {given!r}{close}"
    hint = close if close.startswith("; did") and "quasi" not in str(given).lower() else ""
    return f"{where} cannot be {given!r}{hint}{' ' if hint else '; '}{ROLES}"


def names_at(kind: Any, place: Sequence[int | str]) -> list[str]:
    """The names that are known at a place of a model."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if not place:
            return list(kind.model_fields)
        field = kind.model_fields.get(str(place[0]))
        return names_at(field.annotation, place[1:]) if field else []
    if get_origin(kind) is dict:
        return names_at(get_args(kind)[1], place[1:])
    return next((names for inner in get_args(kind) if (names := names_at(inner, place))), [])
