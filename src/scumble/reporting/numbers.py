"""How the page writes numbers: as many digits as mean something, and bounds rounded so that they still hold."""

import math
from fractions import Fraction

from scumble.core.parameters import plain


def share(value: float, digits: int = 3) -> str:
    """A probability or share in percent.

    >>> share(0.5), share(0.07692), share(1 / 3), share(0.00002), share(0), share(0.99988), share(1)
    ('50%', '7.69%', '33.3%', '0.002%', '0%', '99.988%', '100%')
    """
    if not math.isfinite(value):
        return "unknown"
    if 0.99 < value < 1:  # what is missing to all of them is what matters
        return f"{100 - float(f'{100 * (1 - value):.2g}'):.10g}%"
    return f"{float(f'{100 * value:.{digits}g}'):.10g}%"


def at_most_share(value: float) -> str:
    """A bound on a probability in percent, rounded up.

    >>> at_most_share(0.5), at_most_share(0.16667), at_most_share(0.999999)
    ('50%', '16.7%', '100%')
    """
    scaled = 100 * value
    if scaled <= 0:
        return "0%"
    step = 10.0 ** (math.floor(math.log10(scaled)) - 2)
    return f"{min(100.0, math.ceil(scaled / step - 1e-9) * step):.10g}%"


def fraction(value: float) -> str:
    """A probability as it is said: 1/13 where it is one, percent otherwise.

    >>> fraction(1 / 13), fraction(0.1), fraction(0.123)
    ('1/13', '10%', '12.3%')
    """
    near = Fraction(value).limit_denominator(100)
    simple = abs(float(near) - value) < 1e-9 and near.numerator == 1 and 100 % near.denominator
    return str(near) if simple else share(value)


def up(value: float) -> str:
    """A bound in three digits, rounded up.

    >>> up(9), up(2.71828), up(639.99), up(1234567), up(0)
    ('9', '2.72', '640', '1,240,000', '0')
    """
    if value <= 0 or not math.isfinite(value):
        return plain(value)
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return plain(math.ceil(value / step - 1e-6) * step)


def down(value: float) -> str:
    """A bound from below in three digits, rounded down.

    >>> down(0.11764), down(14.988), down(639.99)
    ('0.117', '14.9', '639')
    """
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 2)
    return plain(math.floor(value / step + 1e-6) * step)


def whole(value: float) -> str:
    """A count.

    >>> whole(1234.4), whole(-0.2)
    ('1,234', '0')
    """
    return f"{round(value):,}" if math.isfinite(value) else "unknown"


def interval(low: float, high: float) -> str:
    """The ends of an interval of counts."""
    return f"{whole(low)} to {whole(high)}" if math.isfinite(high) else f"{whole(low)} or more"


def size(count: int) -> str:
    """The size of a file.

    >>> size(900), size(1_234_567)
    ('900 B', '1.23 MB')
    """
    for unit, one in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= one:
            return f"{count / one:.3g} {unit}"
    return f"{count} B"
