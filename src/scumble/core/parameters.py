"""Numbers as people write them, 0.1, 1/13, "1/13", and as they read them: 1,000 and not 1e+03."""

import math
from fractions import Fraction
from typing import Any

from scumble.core.errors import ParameterError


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


def plain(value: float, digits: int = 6) -> str:
    """A number in so many significant digits, and all that stand before the point; powers of ten only where it is next to nothing.

    >>> plain(1109.4, 3), plain(0.012345, 2), plain(2.5e6), plain(1 / 3), plain(1e-5), plain(3e-9)
    ('1,109', '0.012', '2,500,000', '0.333333', '0.00001', '3e-09')
    """
    if not math.isfinite(value) or 0 < abs(value) < 1e-6:
        return f"{value:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def confidence(level: Any) -> float:
    """How often an interval holds the truth."""
    share = number(level, "level")
    if not 0 < share < 1:
        meant = f"; for {share:g}% write {share / 100:g}" if 1 < share < 100 else ""
        raise ParameterError(
            f"level is the share of intervals that hold the truth and lies between 0 and 1, not {level}{meant}"
        )
    return share


def probability(value: Any, name: str) -> float:
    """A number from 0 to 1."""
    result = number(value, name)
    if not 0 <= result <= 1:
        raise ParameterError(f"{name} is a probability and must lie in [0, 1], not {value}")
    return result
