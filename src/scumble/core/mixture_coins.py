"""The coins of a mixture: whole numbers of words for each part, tick and code, so that the applied channel is exactly that of the manifest.

A record takes one uniform word of `bits` bits. A part has `ticks` times u words, u = k inside + (K - k) outside, one part after another; words beyond the
last are drawn again. Of the words of a part,

    word // u      is the tick: below the `raised` of the number, it goes to the next place
    word % u       is the d: each of the k places of the set has `inside` words, each other place `outside`

and (place + d) mod K is published, counted on from the codes of the parts before. So gamma = inside / outside, a fraction that is rounded down: toward more privacy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from scumble.core.channel_base import Vector
from scumble.core.coins import ALL_DECIDED, LONG, BaseCoins, Words
from scumble.core.domain import Codes
from scumble.core.errors import ParameterError
from scumble.core.mixture import Mixture
from scumble.core.mixture_part import Numbers, Part
from scumble.core.mixture_window import WindowPart
from scumble.core.once import once

FINE = 1 << 20
"""Words of a place outside, where they fit: gamma is then off by a millionth at most."""
TICKS = 1 << 8
"""Ticks that the parts have together at least, in units of the largest part."""


@dataclass(frozen=True, eq=False)
class MixtureCoins(BaseCoins):
    """The integers behind a mixture."""

    parts: Sequence[Part]
    ticks: Sequence[int]
    bits: int
    inside: int
    outside: int

    @classmethod
    def of(cls, mixture: Mixture, bits: int = LONG) -> "MixtureCoins":
        """The coins of a mixture, rounded toward more privacy.

        >>> from scumble.core.mixture_choice import best_mixture
        >>> MixtureCoins.of(best_mixture(Numbers(74), 2.06)).amplification <= Fraction(2.06)
        True
        """
        gamma, whole = Fraction(mixture.gamma), 1 << bits
        largest = max(part.unit(float(gamma), 1.0) for part in mixture.parts)
        outside = max(1, min(FINE, int(whole / (TICKS * largest))))
        inside = int(gamma * outside)
        if inside <= outside:
            raise ParameterError(
                f"gamma = {mixture.gamma!r} is too near 1 for {mixture.codes:,} codes; give a larger one, or a wider step"
            )
        units = [int(part.unit(inside, outside)) for part in mixture.parts]
        ticks = [
            max(1, int(Fraction(share) * (whole - sum(units)) / u))
            for share, u in zip(mixture.shares, units, strict=True)
        ]
        return cls(mixture.parts, ticks, bits, inside, outside)

    @property
    def numbers(self) -> Numbers:
        """The values that they are for."""
        return self.parts[0].numbers

    @property
    def size(self) -> int:  # type: ignore[override]  # told by the parts
        """How many these are."""
        return self.numbers.size

    @property
    def codes(self) -> int:  # type: ignore[override]  # told by the parts
        """Those of all parts."""
        return sum(part.codes for part in self.parts)

    @property
    def amplification(self) -> Fraction:
        """inside / outside."""
        return Fraction(self.inside, self.outside)

    @property
    def spans(self) -> list[int]:
        """How many words each part has."""
        return [t * int(part.unit(self.inside, self.outside)) for part, t in zip(self.parts, self.ticks, strict=True)]

    @property
    def kept(self) -> Vector:
        """How probably the code stands for the place of the true value."""
        held = [t * len(part.circle.offsets) * self.inside for part, t in zip(self.parts, self.ticks, strict=True)]
        return np.array([sum(held) / sum(self.spans)])

    @property
    def spelling(self) -> tuple[str, ...]:
        """Bits, words and parts."""
        parts = [f"{part.spelling} {ticks}" for part, ticks in zip(self.parts, self.ticks, strict=True)]
        return str(self.bits), f"mixture {self.inside} {self.outside} {self.numbers.points} {'; '.join(parts)}"

    def channel(self) -> Mixture:
        """The mixture that is applied."""
        return self._channel

    @once
    def _channel(self) -> Mixture:
        whole = sum(self.spans)
        shares = [span / whole for span in self.spans]
        parts = [
            WindowPart(part.numbers, part.steps, part.reach, ticks) if isinstance(part, WindowPart) else part
            for part, ticks in zip(self.parts, self.ticks, strict=True)
        ]
        return Mixture(parts, shares, self.inside / self.outside)

    def code_type(self, codes: Codes) -> np.dtype[np.unsignedinteger]:
        """The narrowest that holds all codes."""
        return np.dtype(np.min_scalar_type(self.codes - 1))

    @once
    def _offsets(self) -> list[npt.NDArray[np.int64]]:
        """For each part the places of its set, then all others."""
        return [
            np.concatenate([np.flatnonzero(part.circle.marked), np.flatnonzero(~part.circle.marked)])
            for part in self.parts
        ]

    def _ranges(self) -> Iterator[tuple[int, int, int]]:
        """Of each part its first word, the word after its last, and its first code."""
        start, code = 0, 0
        for part, span in zip(self.parts, self.spans, strict=True):
            yield start, start + span, code
            start, code = start + span, code + part.codes

    def decide(self, codes: Codes, words: Words) -> tuple[Codes, npt.NDArray[np.bool_]]:
        """By whole numbers alone, part by part."""
        published = np.zeros(len(codes), dtype=self.code_type(codes))
        true, drawn = codes.astype(np.int64), words.astype(np.int64)
        for place, (start, stop, code) in enumerate(self._ranges()):
            here = np.flatnonzero((drawn >= start) & (drawn < stop))
            published[here] = code + self._by_part(place, true[here], drawn[here] - start)
        end = sum(self.spans)
        undecided = drawn >= end if end < 1 << self.bits else ALL_DECIDED
        return published, undecided

    def _by_part(
        self, place: int, values: npt.NDArray[np.int64], words: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        part = self.parts[place]
        k, unit = len(part.circle.offsets), int(part.unit(self.inside, self.outside))
        tick, rest = words // unit, words % unit
        within = k * self.inside
        chosen = np.where(rest < within, rest // self.inside, k + (rest - within) // self.outside)
        inner = np.minimum(values, part.numbers.points - 1)
        up = (tick < part.raised(inner, self.ticks[place])) & (values < part.numbers.points)
        return np.asarray((part.placed(values) + up + self._offsets[place][chosen]) % part.codes)
