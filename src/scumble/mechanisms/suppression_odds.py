"""How likely a count is to be published at all, in exact integers.

A tuple that occurs i times is published with probability w_i and suppressed with u_i = 1 - w_i:

    w_i = 0                                                    i < k
    w_k = min(delta, 1 - e^-epsilon)
    w_i = min(1 - (1 - w_{i-1}) e^-epsilon, e^(epsilon/2) w_{i-1})      i > k

At first the second term is smaller and w grows; from a single crossover on the first is, and u shrinks. Both ends need
relative accuracy: a double that keeps w alone loses u where w is near 1, one that keeps u alone loses w where it is near 0,
and either loss breaks epsilon. So the table holds integers W_i, and w_i = W_i / 2^BITS EXACTLY, also when coins are drawn.
Every step rounds toward suppression, with e^(epsilon/2) rounded down and e^-epsilon rounded up:

    W_i = min(2^BITS - ceil((2^BITS - W_{i-1}) e^-epsilon), floor(e^(epsilon/2) W_{i-1}))

hence the two inequalities that privacy rests on hold without any tolerance (`privacy.anonymity` checks them). U_i never
reaches 0: at 1 / 2^BITS it stays, so that a count is never published for certain.
"""

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.entropy import Stream
from scumble.core.errors import ParameterError
from scumble.core.parameters import number

Vector = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

BITS = 1000
"""Bits of a threshold: the smallest probability, 2^-1000, is still a normal double, and no double underflows."""

HEAD = 32
"""Bits of the word that decides a coin nearly always; the other BITS - HEAD are drawn where it ties."""

_GUARD = BITS + 96
_DECIMAL = Context(
    prec=345, Emin=-(10**9), Emax=10**9
)  # Decimal.exp is correctly rounded; 345 digits outdo _GUARD bits


def suppression(k: int, epsilon: Any, delta: Any, upto: int) -> tuple[Vector, Vector]:
    """(w, u): the probabilities that a count of i = 0..upto is published, and suppressed, each accurate where it is small.

    >>> w, u = suppression(10, 1, 1e-5, 100)
    >>> w[[9, 10, 34, 35]].round(4).tolist(), float(f"{u[100]:.4e}")
    ([0.0, 0.0, 0.9457, 0.98], 1.1787e-30)
    """
    if upto < 0:
        raise ParameterError(f"upto is the largest count and must not be negative, not {upto}")
    table = thresholds(*suppression_parameters(k, epsilon, delta), upto)
    whole = 1 << BITS
    places = np.minimum(np.arange(upto + 1), len(table) - 1)
    published = np.array([threshold / whole for threshold in table])
    suppressed = np.array([(whole - threshold) / whole for threshold in table])
    return published[places], suppressed[places]


def suppression_parameters(k: int, epsilon: Any, delta: Any) -> tuple[int, float, float]:
    """The three parameters as numbers, or an error that says which of them is out of range."""
    if int(k) != k or k < 1:
        raise ParameterError(f"k is the size of a crowd and must be a whole number of at least 1, not {k}")
    rate, failure = demand_epsilon(epsilon), number(delta, "delta")
    if not 0 < failure < 1:
        raise ParameterError(
            f"delta must lie strictly between 0 and 1, not {delta}; 1e-5 is usual, below 1 / rows is wise"
        )
    return int(k), rate, failure


LEAST_EPSILON = 1e-9
"""With less nobody could tell the noise from anything."""


def demand_epsilon(epsilon: Any) -> float:
    """A usable epsilon."""
    rate = number(epsilon, "epsilon")
    if not LEAST_EPSILON <= rate <= 700:
        raise ParameterError(f"epsilon must be above 0 (at least {LEAST_EPSILON:g}) and at most 700, not {epsilon}")
    return rate


@lru_cache(maxsize=16)
def thresholds(k: int, epsilon: float, delta: float, upto: int) -> tuple[int, ...]:
    """W_0, W_1, ... to `upto`, or to where they stay the same: the last entry holds for all larger counts.

    >>> [threshold / 2**BITS for threshold in thresholds(2, 1.0, 0.25, 3)]
    [0.0, 0.0, 0.25, 0.41218031767503205]
    """
    whole = 1 << BITS
    grow, decay = _exp(epsilon / 2)[0], _exp(-epsilon)[1]
    table = [0] * min(k, upto + 1)
    published = min(int(Fraction(delta) * whole), whole - _ceil_shift(decay << BITS))
    while len(table) <= upto:
        table.append(published)
        following = min(whole - _ceil_shift((whole - published) * decay), published * grow >> _GUARD)
        if following == published:
            break
        published = following
    return tuple(table)


def first_released(published: Vector, tuples: Any, *, chance: float = 0.5) -> int | None:
    """The smallest frequency by which some tuple is published with at least that chance, or None if there is none.

        1 - prod_{g <= f} (1 - w_g)^T(g) >= chance

    where w = `published`, T(g) = `tuples`, the number of tuples that occur exactly g times. This is what a plot of the
    noise against the frequency shows as "released from f": it depends on the table, not on w alone.

    >>> first_released(suppression(10, 1, 1e-5, 60)[0], np.ones(61)), first_released(np.zeros(5), np.ones(5))
    (31, None)
    """
    survival = np.cumsum(np.log1p(-np.minimum(published, 1 - 2.0**-53)) * np.asarray(tuples, dtype=np.float64))
    reached = np.flatnonzero(survival <= np.log1p(-chance))
    return int(reached[0]) if len(reached) else None


def coins(stream: Stream, table: tuple[int, ...], which: Counts) -> npt.NDArray[np.bool_]:
    """For each entry i of `which` a coin that is true with probability table[i] / 2^BITS, exactly.

    A uniform integer of BITS bits is compared with the threshold, its first HEAD bits first. Only where they tie (one
    coin in 2^HEAD) can the rest matter, and only there is it drawn.

    >>> from scumble.core.entropy import Entropy
    >>> coins(Entropy.seeded(1).stream("doc"), (0, (1 << BITS) - 1), np.array([0, 1, 0])).tolist()
    [False, True, False]
    """
    heads = np.array([threshold >> (BITS - HEAD) for threshold in table], dtype=np.uint32)
    return _compare(stream, heads[which], lambda place: table[which[place]])


def equal_coins(stream: Stream, threshold: int, size: int) -> npt.NDArray[np.bool_]:
    """`size` coins, each true with probability threshold / 2^BITS, exactly."""
    return _compare(stream, np.broadcast_to(np.uint32(threshold >> (BITS - HEAD)), size), lambda _: threshold)


def _compare(stream: Stream, heads: npt.NDArray[np.uint32], threshold: Callable[[int], int]) -> npt.NDArray[np.bool_]:
    words = stream.integers(len(heads), HEAD)
    below = words < heads
    for place in np.flatnonzero(words == heads):
        below[place] = _rest(stream) < threshold(int(place)) & ((1 << (BITS - HEAD)) - 1)
    return np.asarray(below)


def decimal_exp(exponent: Decimal) -> Fraction:
    """e^exponent to 345 digits, for probabilities that are rounded to BITS bits."""
    return Fraction(_DECIMAL.exp(exponent))


def _rest(stream: Stream) -> int:
    return int.from_bytes(stream.words((BITS - HEAD) // 8, 8).tobytes(), "little")


def _exp(exponent: float) -> tuple[int, int]:
    """Integers around e^exponent times 2^_GUARD."""
    near = _DECIMAL.exp(Decimal(exponent))
    low, high = Fraction(_DECIMAL.next_minus(near)), Fraction(_DECIMAL.next_plus(near))
    return int(low * (1 << _GUARD)), -int(-high * (1 << _GUARD) // 1)


def _ceil_shift(value: int) -> int:
    return -(-value >> _GUARD)
