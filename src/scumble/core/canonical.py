"""A domain as a set: one text and one order, however its column is called and its values are listed.

Coins by key depend on a domain. Listing the same values in another order, or a grid by its points, must not make another domain
of them: the coins would be fresh, and a second release a second look. Numbers are compared as numbers (7, 7.0 and decimal 7 are
one), text as it is. Numbers of equal distances are a progression, whether a grid or a list declares them.
"""

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.arrow_types import is_number
from scumble.core.domain import Domain, Grid
from scumble.core.scale import Scale


@dataclass(frozen=True, eq=False)
class Canonical:
    """What a domain is, and the codes of its values in canonical order."""

    text: str
    codes: npt.NDArray[np.intp]

    @property
    def ranks(self) -> npt.NDArray[np.intp]:
        """The canonical place of each code."""
        ranks = np.empty(len(self.codes), dtype=np.intp)
        ranks[self.codes] = np.arange(len(self.codes))
        return ranks


def canonical(domain: Domain) -> Canonical:
    """The canonical form of a domain.

    >>> from scumble.core.domain import Categories
    >>> one, other = Categories(["flu", "cold"], pa.string()), Categories(["cold", "flu"], pa.string())
    >>> canonical(one).text == canonical(other).text, canonical(one).codes.tolist()
    (True, [1, 0])
    >>> canonical(Grid("0", "1", "0.5", pa.float64())).text
    'progression 0 1/2 3'
    """
    if isinstance(domain, Grid):
        return Canonical(
            _progression(_exact(domain.low), _exact(domain.step), domain.size), np.arange(domain.size, dtype=np.intp)
        )
    if isinstance(domain, Scale):
        inner = _progression(_exact(domain.grid.low), _exact(domain.grid.step), domain.grid.size)
        kind = f"{'days ' * domain.days}{inner}{' or missing' * domain.missing}"
        return Canonical(kind, np.arange(domain.size, dtype=np.intp))
    if is_number(domain.type) and not domain.values.null_count:
        return _of_numbers(_numbers(domain.values))
    texts = _texts(domain.values)
    codes = sorted(range(len(texts)), key=texts.__getitem__)
    listed = hashlib.sha256("".join(f"{len(texts[i])}:{texts[i]}" for i in codes).encode())
    return Canonical(f"values {len(texts)} {listed.hexdigest()}", np.array(codes, dtype=np.intp))


def _of_numbers(numbers: Sequence[Fraction]) -> Canonical:
    codes = sorted(range(len(numbers)), key=numbers.__getitem__)
    rising = [numbers[i] for i in codes]
    steps = {b - a for a, b in itertools.pairwise(rising)}
    if len(steps) == 1:
        text = _progression(rising[0], steps.pop(), len(rising))
    else:
        text = f"numbers {hashlib.sha256(' '.join(map(str, rising)).encode()).hexdigest()}"
    return Canonical(text, np.array(codes, dtype=np.intp))


def _progression(low: Fraction, step: Fraction, size: int) -> str:
    return f"progression {low} {step} {size}"


def _numbers(values: pa.Array) -> list[Fraction]:
    """The values as exact numbers: of a float, the shortest decimal that stands for it in its own width."""
    if pa.types.is_floating(values.type):
        return [_exact(x) for x in values.to_numpy(zero_copy_only=False)]
    return [_exact(x) for x in values.to_pylist()]


def _exact(number: Any) -> Fraction:
    return Fraction(Decimal(str(number)))


def _texts(values: pa.Array) -> list[str]:
    """A text for each value, with a letter for its kind in front: the number 1 is not the text 1."""
    if is_number(values.type):
        numbers = iter(_numbers(values.drop_null()))
        return ["-" if missing else f"n{next(numbers)}" for missing in values.is_null().to_pylist()]
    if pa.types.is_temporal(values.type):
        return ["-" if x is None else f"d{_moment(x)}" for x in values.cast(pa.string()).to_pylist()]
    return ["-" if x is None else f"{'b' if isinstance(x, bool) else 't'}{x}" for x in values.to_pylist()]


def _moment(text: str) -> str:
    """A day or a time without the zeros that only its unit has."""
    short = text.rstrip("Z").rstrip("0").rstrip(".") if "." in text else text.rstrip("Z")
    return short.removesuffix(" 00:00:00")
