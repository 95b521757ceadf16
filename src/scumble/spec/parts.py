"""A column that is made of several of the table: which combinations it has."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from scumble.core.combined import joined
from scumble.core.errors import SchemaError

MOST = 1_000_000
"""Combinations of declared values, at most."""


def demand_parts(role: str, parts: Sequence[str], domains: Mapping[str, Any] | None, other: bool) -> None:
    """Refuses parts that cannot be those of one column."""
    if role != "sensitive":
        raise ValueError(f"columns are taken as one to be perturbed together, and this one is {role}")
    if len(set(parts)) != len(parts):
        raise ValueError("a column is a part once")
    if other:
        raise ValueError("a column with parts has combinations; give their values, or domains of the parts")
    if domains is not None and set(domains) != set(parts):
        odd = sorted(set(domains) ^ set(parts))[0]
        raise ValueError(f"domains are given for each part, or for none: {odd!r} is not among both")


def combinations(parts: Sequence[str], values: Sequence[Any] | None, domains: Mapping[str, Any] | None) -> list[str]:
    """The combinations, as text: those that are listed, or all of the parts' values.

    >>> combinations(["a", "b"], None, {"a": ["x", "y"], "b": {"low": 1, "high": 2}})
    ['x | 1', 'x | 2', 'y | 1', 'y | 2']
    """
    if values is not None:
        return [value if isinstance(value, str) else joined(_whole(value, parts)) for value in values]
    listed = [_listed(part, (domains or {})[part]) for part in parts]
    size = 1
    for own in listed:
        size *= len(own)
    if size > MOST:
        raise SchemaError(
            f"{', '.join(parts)} have {size:,} combinations, more than {MOST:,}; list those that are possible, or take them from the data"
        )
    return [joined(combination) for combination in itertools.product(*listed)]


def _whole(value: Any, parts: Sequence[str]) -> Sequence[Any]:
    if not isinstance(value, list | tuple) or len(value) != len(parts):
        raise SchemaError(f"a combination of {', '.join(parts)} is a list of {len(parts)} values, not {value!r}")
    return value


def _listed(part: str, given: Any) -> list[Any]:
    if isinstance(given, Mapping):
        low, high, step = (str(given.get(name, default)) for name, default in (("low", ""), ("high", ""), ("step", 1)))
        try:
            return list(range(int(low), int(high) + 1, int(step)))
        except ValueError:
            raise SchemaError(
                f"the domain of the part {part!r} is a list of values, or low, high and step in whole numbers"
            ) from None
    if not isinstance(given, list | tuple) or not given:
        raise SchemaError(f"the domain of the part {part!r} is a list of values, or low, high and step")
    return list(given)
