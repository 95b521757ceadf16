"""Numbers of a promise as it prints them: bounds rounded so that they hold, probabilities as their publisher gives them."""

import math
from fractions import Fraction

from scumble.core.parameters import plain


def at_most(value: float) -> str:
    """A number in six digits, rounded up: a bound that is printed must hold.

    >>> at_most(2.4), at_most(1.00000049), at_most(1234567.2)
    ('2.4', '1.00001', '1,234,570')
    """
    short = float(f"{value:.6g}")
    if short < value and value != 0:
        short = float(f"{short + 10.0 ** (math.floor(math.log10(abs(value))) - 5):.6g}")
    return plain(short)


def at_most_share(value: float) -> str:
    """A share as the fraction that it is, where that is a short one; else rounded up.

    >>> at_most_share(1 / 3), at_most_share(0.5), at_most_share(0.31415926)
    ('1/3', '1/2', '0.31416')
    """
    near = Fraction(value).limit_denominator(1000)
    return str(near) if float(near) == value else at_most(value)


def as_given(value: float) -> str:
    """A probability as a publisher gives it: a short decimal, or the fraction that it is; else six digits.

    >>> as_given(0.1), as_given(1 / 13), as_given(0.123456789)
    ('0.1', '1/13', '0.123457')
    """
    if float(f"{value:.4g}") == value:
        return plain(value, 4)
    near = Fraction(value).limit_denominator(1000)
    return str(near) if float(near) == value else plain(value)


def upward(exact: Fraction) -> float:
    """The smallest double that is not below an exact number.

    >>> upward(Fraction(1, 10)) >= Fraction(1, 10), upward(Fraction(1, 2))
    (True, 0.5)
    """
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)
