"""How many tuples of the table match, from how many were published: those that were made up are taken off."""

import math


def debiased(alpha: float, beta: float, seen: int, domain: float) -> tuple[float, float]:
    """The estimate with its standard error, where `seen` published tuples match, and `domain` tuples of the domain.

    >>> debiased(0.5, 0.1, 14, 40)
    (20.0, 5.138093031466052)
    """
    value = (seen - beta * domain) / alpha
    held, kept = min(max(value, 0.0), float(domain)), alpha + beta
    return value, math.sqrt(held * kept * (1 - kept) + (domain - held) * beta * (1 - beta)) / alpha
