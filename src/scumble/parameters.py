"""Numbers as people write them: 0.1, 1/13, "1/13"."""

import math
from fractions import Fraction
from typing import Any

from scumble.errors import ParameterError


def number(value: Any, name: str) -> float:
    """A finite number, also written as a fraction.

    >>> number("1/13", "rho1") == 1 / 13
    True
    """
    try:
        result = float(Fraction(value)) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        raise ParameterError(f"{name} must be a number or a fraction such as 1/13, not {value!r}") from None
    if not math.isfinite(result):
        raise ParameterError(f"{name} must be finite, not {value!r}")
    return result


def probability(value: Any, name: str) -> float:
    """A number from 0 to 1."""
    result = number(value, name)
    if not 0 <= result <= 1:
        raise ParameterError(f"{name} is a probability and must lie in [0, 1], not {value}")
    return result
