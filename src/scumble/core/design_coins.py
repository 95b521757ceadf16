"""The coins of a cyclic design: whole numbers of words for each code, so that the applied gamma is exactly that of the manifest.

A record takes one uniform word of `bits` bits. Each of the k places of the difference set D has `inside` words, and each of the K - k others `outside`
words; words beyond are drawn again.

    word < k inside                              d = D[word // inside]
    word < k inside + (K - k) outside            d = the ((word - k inside) // outside)-th place outside of D

and y = (x + d) mod K is published. So gamma = inside / outside, a fraction, which is rounded down: toward more privacy.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from scumble.core.channel_base import Vector
from scumble.core.coins import ALL_DECIDED, LONG, SHORT, BaseCoins, Words
from scumble.core.design import Design
from scumble.core.difference_set import DifferenceSet
from scumble.core.domain import Codes
from scumble.core.errors import ParameterError
from scumble.core.once import once

FINE = 1 << 20
"""Words that a place outside has at least, where SHORT words do: gamma is then off by a millionth at most."""


@dataclass(frozen=True, eq=False)
class DesignCoins(BaseCoins):
    """The integers behind a design."""

    size: int
    blocks: DifferenceSet
    bits: int
    inside: int
    outside: int

    @classmethod
    def of(cls, design: Design) -> "DesignCoins":
        """The coins of a design, rounded toward more privacy.

        >>> DesignCoins.of(Design(46, "2.06")).amplification <= Fraction("2.06")
        True
        """
        k, codes, gamma = len(design.blocks.offsets), design.codes, Fraction(design.gamma)
        unit = gamma * k + codes - k
        bits = SHORT if FINE * unit <= 1 << SHORT else LONG
        outside = int((1 << bits) / unit)
        inside = int(gamma * outside)
        if not 0 < outside < inside:
            raise ParameterError(
                f"gamma = {design.gamma!r} is too near 1, or too large, for {codes:,} codes; give a larger one, or merge values"
            )
        return cls(design.size, design.blocks, bits, inside, outside)

    @property
    def codes(self) -> int:  # type: ignore[override]  # told by the set
        """K."""
        return self.blocks.codes

    @property
    def amplification(self) -> Fraction:
        """inside / outside."""
        return Fraction(self.inside, self.outside) if self.size > 1 else Fraction(1)

    @property
    def kept(self) -> Vector:
        """A: how probably the code stands for the true value."""
        k = len(self.blocks.offsets)
        held = k * self.inside
        return np.array([held / (held + (self.blocks.codes - k) * self.outside)])

    @property
    def spelling(self) -> tuple[str, ...]:
        """Bits, words and the set."""
        return str(self.bits), f"design {self.inside} {self.outside} {self.blocks.codes} {self.blocks.offsets.tolist()}"

    def channel(self) -> Design:
        """The design that is applied."""
        return Design(self.size, self.inside / self.outside, self.blocks)

    def code_type(self, codes: Codes) -> np.dtype[np.unsignedinteger]:
        """The narrowest that holds all codes."""
        return np.dtype(np.min_scalar_type(self.blocks.codes - 1))

    @once
    def _offsets(self) -> npt.NDArray[np.uint32]:
        """The places of D, then all others."""
        others = np.ones(self.blocks.codes, dtype=np.bool_)
        others[self.blocks.offsets] = False
        return np.concatenate([self.blocks.offsets, np.flatnonzero(others)]).astype(np.uint32)

    def decide(self, codes: Codes, words: Words) -> tuple[Codes, npt.NDArray[np.bool_]]:
        """By whole numbers alone."""
        k, kind = len(self.blocks.offsets), words.dtype.type
        within = kind(k * self.inside)
        end = k * self.inside + (self.blocks.codes - k) * self.outside
        place = np.where(words < within, words // kind(self.inside), (words - within) // kind(self.outside) + kind(k))
        drawn = self._offsets.take(place, mode="clip")  # garbage where a word is drawn again
        drawn += codes
        drawn -= (drawn >= self.blocks.codes) * np.uint32(self.blocks.codes)
        undecided = words >= kind(end) if end < 1 << self.bits else ALL_DECIDED
        return drawn.astype(self.code_type(codes)), undecided
