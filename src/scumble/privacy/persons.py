"""What a guarantee about one row comes to for a person who has several: docs/proofs/persons.md.

Coins of different rows are independent, so that the likelihood ratio of c rows is the product of c ratios, each at most gamma:

    gamma^c,   epsilon becomes c epsilon

A mechanism that counts tuples changes by (epsilon, delta) with one tuple, and so in c steps with the c tuples of a person:

    (c epsilon, delta (e^(c epsilon) - 1) / (e^epsilon - 1))
"""

import math
from collections.abc import Callable
from fractions import Fraction

from scumble.privacy.guarantee import Clause, Guarantee
from scumble.privacy.numerals import upward
from scumble.privacy.words_of_counts import NOISY_COUNTS

OF_ONE = ("one_row", "one_tuple")
"""Conditions that say that a person is one row of the table, or one tuple."""

EMPTY = 1e6
"""A factor on the odds from which on nothing is left of a guarantee: one chance in a thousand may become 99.9%."""

LARGEST = 600.0
"""An epsilon whose factor a number still holds."""

EXACT = 1000
"""Rows up to which the power of a factor is computed exactly, and rounded up once."""


def for_person(guarantee: Guarantee, rows: int) -> Guarantee | None:
    """What a guarantee of one row promises a person who has up to that many; None where nothing follows."""
    rule = RULES.get(guarantee.kind)
    return rule(guarantee, rows) if rule is not None else None


def is_empty(guarantee: Guarantee) -> bool:
    """Whether nothing is left of what a person is promised."""
    return guarantee.parameters["gamma"] > EMPTY or guarantee.parameters.get("delta", 0.0) >= 1


def of_person(guarantee: Guarantee) -> bool:
    """Whether it is a promise to a person with several rows, and not to a row."""
    return guarantee.kind in (FACTOR, COUNTS)


FACTOR = "person_amplification"
COUNTS = "person_counts"


def _power(guarantee: Guarantee, rows: int) -> Guarantee | None:
    gamma = guarantee.parameters["gamma"]
    if rows * math.log(gamma) > LARGEST:
        return None
    # one step up for each of the roundings of a power in floating point, and more: a bound may be larger than the number
    power = upward(Fraction(gamma) ** rows) if rows <= EXACT else math.exp(rows * math.log(gamma) * (1 + 1e-12))
    given = {"gamma": power, "epsilon": math.log(power), "rows": float(rows), "row_gamma": gamma}
    return _made(FACTOR, guarantee, given, rows)


def _sum(guarantee: Guarantee, rows: int) -> Guarantee | None:
    given = guarantee.parameters
    epsilon = given.get("total_epsilon", given["epsilon"])
    if rows * epsilon > LARGEST:
        return None
    delta = given.get("total_delta", 0.0) * math.expm1(rows * epsilon) / math.expm1(epsilon)
    numbers = {"gamma": math.exp(rows * epsilon), "epsilon": rows * epsilon, "delta": delta, "rows": float(rows)}
    return _made(COUNTS, guarantee, numbers | {"row_epsilon": epsilon}, rows)


def _made(kind: str, guarantee: Guarantee, parameters: dict[str, float], rows: int) -> Guarantee:
    kept = [condition for condition in guarantee.conditions if condition.code not in OF_ONE]
    return Guarantee(kind=kind, columns=guarantee.columns, parameters=parameters, conditions=kept)


RULES: dict[str, Callable[[Guarantee, int], Guarantee | None]] = {
    "amplification": _power,
    "memoised": _power,
    "joint_amplification": _power,
    "sampled_amplification": _power,
    NOISY_COUNTS: _sum,
    "full_counts": _sum,
}
"""Guarantees of a row from which one of several rows follows."""


def in_place_of_one(guarantee: Guarantee, clause: Clause) -> Guarantee:
    """The guarantee with a clause in the place of the condition that a person is one row."""
    changed = [clause if condition.code in OF_ONE else condition for condition in guarantee.conditions]
    return guarantee.model_copy(update={"conditions": changed})
