"""How values of a domain are named in a spec, where keys are text: '7' names the number 7."""

from collections.abc import Iterable
from typing import Any

from scumble.core.domain import Domain
from scumble.core.errors import ParameterError, did_you_mean


def places(domain: Domain, given: Iterable[Any], what: str) -> list[int]:
    """The codes of the named values; an unknown name is refused.

    >>> import pyarrow as pa
    >>> from scumble.core.domain import Categories
    >>> places(Categories(["flu", "cold"], pa.string()), ["cold"], "scores")
    [1]
    """
    known = {_name(value): code for code, value in enumerate(domain.values.to_pylist())}
    places = []
    for value in given:
        if _name(value) not in known:
            raise ParameterError(
                f"{what} names the value {value!r}, which is not in the domain{did_you_mean(_name(value), known)}"
            )
        places.append(known[_name(value)])
    return places


def names(domain: Domain) -> list[str]:
    """What the values are called."""
    return [_name(value) for value in domain.values.to_pylist()]


def _name(value: Any) -> str:
    return "(missing)" if value is None else str(value)
