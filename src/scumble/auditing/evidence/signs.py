"""Signs that a law is broken: improbable sums, of which the worst is told, at an error that all of them share."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scumble.auditing.finding import Finding, Question


@dataclass(frozen=True)
class Sign:
    """Something that was looked at: the logarithm of a bound on its probability, what was seen and what is expected, as shares, and what it is, in words."""

    log_p: float
    seen: float
    expected: float
    of: str

    def among(self, count: float) -> "Sign":
        """As one of so many that were looked at (Bonferroni)."""
        return replace(self, log_p=min(0.0, self.log_p + math.log(max(1.0, count))))


Families = Sequence[Sequence[Sign]]
"""Signs of the same kind. Each family has the same share of the error, however many signs it has."""


def worst_sign(families: Families) -> Sign | None:
    """The most improbable one, with all that were looked at taken into account."""
    there = [family for family in families if family]
    signs = [min(family, key=lambda sign: sign.log_p).among(len(family) * len(there)) for family in there]
    return min(signs, key=lambda sign: sign.log_p, default=None)


def finding_of(
    attack: str, families: Families, error: float, by: str, question: Question = "integrity"
) -> Finding | None:
    """The finding of the worst sign; `by` says what was looked at."""
    sign = worst_sign(families)
    if sign is None:
        return None
    looked_at = sum(map(len, families))
    sentence = f"{sign.of}; {by} gives this or more with a probability of at most {said(sign.log_p)} ({looked_at:,} signs looked at)"
    return Finding.of_test(attack, sign.seen, sign.expected, sign.log_p, error, sentence, question)


def said(log_p: float) -> str:
    """A probability in words of figures, however small.

    >>> said(math.log(0.25)), said(-1000.0)
    ('0.25', '5e-435')
    """
    if log_p == -math.inf:
        return "0"
    digits = log_p / math.log(10)
    if digits > -300:
        return f"{math.exp(log_p):.2g}"
    whole = math.floor(digits)
    return f"{10 ** (digits - whole):.0f}e{whole}"
