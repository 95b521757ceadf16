"""Difference sets of Singer: the blocks of a cyclic design, made from a finite field and checked by counting.

D is a difference set of Z_K where every difference other than 0 occurs equally often, lambda times, between its k members. The points of a
projective space over GF(q), of t coordinates, are the powers of one element up to factors of GF(q), and a hyperplane has

    K = (q^t - 1) / (q - 1),      k = (q^(t-1) - 1) / (q - 1),      lambda = (q^(t-2) - 1) / (q - 1)

With f = x^t - c_(t-1) x^(t-1) - ... - c_0 over GF(q), the sequence s_(i+t) = sum_j c_j s_(i+j) is a linear form of x^i modulo f. If the
powers of x reach all K points, they are the points in order, and D = {i < K : s_i = 0} is a hyperplane. They do where x^K is a number of GF(q)
and no x^(K/r), r a prime that divides K, is one: then each element but 0 is a power of x times a number, so that f needs no other test.
Whatever the field said, `demand_difference_set` counts the differences.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from scumble.core.errors import ParameterError

MOST_CODES = 1 << 23
"""Codes of a design, at most."""

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class DifferenceSet:
    """A difference set of Z_codes. `order` and `dimension` are the q and t of its field; of the set {0} they are 0."""

    codes: int
    offsets: Places
    order: int = 0
    dimension: int = 0
    recurrence: tuple[int, ...] = ()
    """c_0 to c_(t-1) of the sequence whose zeros it is, where it was made so."""

    @property
    def repeats(self) -> int:
        """lambda: how often each difference occurs."""
        return len(self.offsets) * (len(self.offsets) - 1) // (self.codes - 1) if self.codes > 1 else 0

    @property
    def digest(self) -> str:
        """A short name of the set itself."""
        return sha256(self.offsets.astype("<i8").tobytes()).hexdigest()[:16]


def sizes(order: int, dimension: int) -> tuple[int, int, int]:
    """K, k and lambda of a field.

    >>> sizes(3, 5)
    (121, 40, 13)
    """
    codes, inside, both = ((order**power - 1) // (order - 1) for power in (dimension, dimension - 1, dimension - 2))
    return codes, inside, both


def one_place(size: int) -> DifferenceSet:
    """The set {0}: a value's own code, as in uniform replacement."""
    return DifferenceSet(size, np.zeros(1, dtype=np.intp))


@lru_cache(maxsize=64)
def singer(order: int, dimension: int) -> DifferenceSet:
    """The difference set of a prime power q and t coordinates.

    >>> singer(2, 3).offsets.tolist()
    [0, 1, 3]
    """
    codes = sizes(order, dimension)[0]
    if dimension < 3 or codes > MOST_CODES:
        raise ParameterError(f"a design has 3 coordinates or more and at most {MOST_CODES:,} codes, not {codes:,}")
    field = Field(order)
    return of_recurrence(order, next(c for c in _recurrences(field, dimension) if _reaches_all(field, c, codes)))


def of_recurrence(order: int, step: tuple[int, ...]) -> DifferenceSet:
    """The places i < K of the zeros of s_(i+t) = sum_j c_j s_(i+j), begun with 0, ..., 0, 1; refused where they are no difference set.

    >>> of_recurrence(2, (1, 1, 0)).offsets.tolist()
    [0, 1, 3]
    """
    codes, inside, _ = sizes(order, len(step))
    zeros = np.flatnonzero(_sequence(Field(order), step, codes) == 0)
    made = DifferenceSet(codes, zeros, order, len(step), tuple(step))
    if len(zeros) != inside:
        raise ParameterError(f"a set of {codes:,} codes has {inside:,} places, and these zeros are {len(zeros):,}")
    demand_difference_set(made)
    return made


def demand_difference_set(blocks: DifferenceSet) -> None:
    """Refuses a set in which some difference is more frequent than another: counted by its correlation with itself, in whole numbers."""
    marked = np.zeros(blocks.codes)
    marked[blocks.offsets] = 1
    through = np.fft.rfft(marked)
    times = np.rint(np.fft.irfft(through * through.conj(), blocks.codes))
    if np.any(times[1:] != blocks.repeats):
        raise ParameterError(f"the {len(blocks.offsets)} places are no difference set of {blocks.codes} codes")


def prime_powers(most: int) -> list[int]:
    """All that are at most so large.

    >>> prime_powers(16)
    [2, 3, 4, 5, 7, 8, 9, 11, 13, 16]
    """
    return [q for q in range(2, most + 1) if len(prime_factors(q)) == 1]


def prime_factors(number: int) -> list[int]:
    """The primes that divide a number.

    >>> prime_factors(1092)
    [2, 3, 7, 13]
    """
    primes, divisor = [], 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            primes.append(divisor)
            while number % divisor == 0:
                number //= divisor
        divisor += 1
    return [*primes, number] if number > 1 else primes


class Field:
    """GF(q), its elements numbered 0 to q - 1: the digits of a number in base p are a polynomial over GF(p).

    >>> Field(4).times[2][3], Field(4).plus[2][3]
    (1, 1)
    """

    def __init__(self, order: int) -> None:
        (prime,) = prime_factors(order)
        self.order = order
        degree = next(d for d in itertools.count(1) if prime**d == order)
        digits = [tuple(number // prime**i % prime for i in range(degree)) for number in range(order)]
        self._prime, self._digits = prime, digits
        self._numbers = {digit: number for number, digit in enumerate(digits)}
        self.plus = [
            [self._numbers[tuple((a + b) % prime for a, b in zip(x, y, strict=True))] for y in digits] for x in digits
        ]
        self.times = next(table for lead in digits if (table := self._product(lead)) is not None)

    def _product(self, lead: Sequence[int]) -> list[list[int]] | None:
        """Multiplication where x^degree is `lead`; None where something but 0 divides 0, so that it is no field."""
        rows = []
        for x in self._digits:
            powers = [x]
            for _ in x[1:]:
                powers.append(self._raised(powers[-1], lead))
            rows.append([self._combined(y, powers) for y in self._digits])
        sound = all(sorted(row) == list(range(self.order)) for row in rows[1:])
        return rows if sound else None

    def _raised(self, x: Sequence[int], lead: Sequence[int]) -> tuple[int, ...]:
        """x times the variable."""
        moved = [0, *x[:-1]]
        return tuple((a + x[-1] * b) % self._prime for a, b in zip(moved, lead, strict=True))

    def _combined(self, y: Sequence[int], powers: Sequence[Sequence[int]]) -> int:
        totals = [sum(a * power[i] for a, power in zip(y, powers, strict=True)) % self._prime for i in range(len(y))]
        return self._numbers[tuple(totals)]


def _recurrences(field: Field, dimension: int) -> Iterator[tuple[int, ...]]:
    """Coefficients c, those with few terms first: a sequence is made with one multiplication for each."""
    for terms in range(1, dimension):
        for places in itertools.combinations(range(1, dimension), terms):
            for values in itertools.product(range(1, field.order), repeat=terms + 1):
                coefficients = [0] * dimension
                for place, value in zip((0, *places), values, strict=True):
                    coefficients[place] = value
                yield tuple(coefficients)


def _reaches_all(field: Field, step: Sequence[int], codes: int) -> bool:
    """Whether the powers of x are all K points."""

    def scalar(power: int) -> bool:
        return not any(_power(field, step, power)[1:])

    return scalar(codes) and not any(scalar(codes // prime) for prime in prime_factors(codes))


def _power(field: Field, step: Sequence[int], power: int) -> list[int]:
    """x^power modulo f, by squaring."""
    result = [1] + [0] * (len(step) - 1)
    for bit in bin(power)[2:]:
        result = _squared(field, step, result)
        if bit == "1":
            result = _shifted(field, step, result)
    return result


def _shifted(field: Field, step: Sequence[int], value: Sequence[int]) -> list[int]:
    """A polynomial times x, modulo f."""
    moved, top = [0, *value[:-1]], field.times[value[-1]]
    return [field.plus[a][top[c]] for a, c in zip(moved, step, strict=True)]


def _squared(field: Field, step: Sequence[int], value: list[int]) -> list[int]:
    total, moved = [0] * len(step), value
    for factor in value:
        row = field.times[factor]
        total = [field.plus[a][row[b]] for a, b in zip(total, moved, strict=True)]
        moved = _shifted(field, step, moved)
    return total


def _sequence(field: Field, step: Sequence[int], length: int) -> npt.NDArray[np.intp]:
    """s_0 to s_(length-1), begun with 0, ..., 0, 1: what is known is doubled, by s_(n+i) = sum_j a_j s_(i+j) with x^n = sum_j a_j x^j."""
    plus, times = np.array(field.plus, dtype=np.uint16), np.array(field.times, dtype=np.uint16)
    known = np.array([0] * (len(step) - 1) + [1], dtype=np.uint16)
    while len(known) < length:
        ahead = len(known) - len(step) + 1
        following = np.zeros(ahead, dtype=np.uint16)
        for place, factor in enumerate(_power(field, step, len(known))):
            if factor:
                following = plus[following, times[factor][known[place : place + ahead]]]
        known = np.concatenate([known, following])
    return known[:length].astype(np.intp)
