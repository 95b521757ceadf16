"""From a channel to coins: integer thresholds, so that the published probability is exactly the applied one.

A record takes one uniform word of `bits` bits. The retention threshold T_i of its value i is rounded DOWN (toward more
privacy) so that 2^bits - T_i is a multiple of m. Then

    word <  T_i    keeps the value                                         probability T_i / 2^bits
    word >= T_i    replaces it by (word - T_i) // ((2^bits - T_i) / m)     each of the m values alike

There is no remainder, hence no bias: each of the 2^bits words belongs to one outcome, and the probabilities of the
applied channel, T_i / 2^bits and 1/m, are what the manifest carries. At most 1 - m / 2^bits is retained, so that nobody's
value is published for certain. Only for a value that is never retained (T_i = 0) may 2^bits leave a remainder; words in
it are drawn again.

Replacements need not be alike. With w_j lots of value j, W of them in all in the place of m, 2^bits - T_i is a multiple of W,

    word >= T_i    replaces it by the value that has lot (word - T_i) // ((2^bits - T_i) / W)         probability w_j / W each

and one lot for each value is the rule above (shaped_coins.py makes such coins).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel
from scumble.core.channel_base import BaseChannel, Vector
from scumble.core.domain import Codes
from scumble.core.entropy import PIECE, Stream
from scumble.core.errors import InternalError
from scumble.core.lots import Holders
from scumble.core.once import once

Words = npt.NDArray[np.unsignedinteger]

SHORT, LONG = 32, 53
"""Bits of a word: LONG for large domains, where a step of m / 2^32 would be coarse. Both are exact in a double."""


def word_bits(size: int) -> int:
    """Bits of the word for a domain of that size."""
    return SHORT if size <= 1 << 12 else LONG


class BaseCoins(ABC):
    """The integers behind a channel: from a uniform word and a true value to a published code."""

    size: int
    """How many values they are for."""
    bits: int
    """Bits of a word."""
    domain_size: int | None = None
    """How many values the domain has, where these coins are for some of them."""
    own: bool = False
    """Whether replacements follow the column's own distribution."""
    codes: int | None = None
    """How many codes there are, where codes are published and not values."""

    @property
    def shaped(self) -> bool:
        """Whether some values are likelier replacements than others, by given numbers."""
        return False

    @property
    @abstractmethod
    def amplification(self) -> Fraction:
        """gamma of these coins, in whole numbers."""

    @property
    @abstractmethod
    def kept(self) -> Vector:
        """How probably a value is published as itself, or as a code that stands for it: one number, or one for each value."""

    @property
    @abstractmethod
    def spelling(self) -> tuple[str, ...]:
        """What tells these coins from all others of the same column and domain: coins by key depend on it."""

    @abstractmethod
    def channel(self) -> BaseChannel:
        """The channel that is applied, exactly."""

    @abstractmethod
    def code_type(self, codes: Codes) -> np.dtype[np.unsignedinteger]:
        """The type of published codes, of true ones as these are."""

    @abstractmethod
    def decide(self, codes: Codes, words: Words) -> tuple[Codes, npt.NDArray[np.bool_]]:
        """Published codes by one word each, of `bits` bits, and where that has to be drawn again."""

    def flip(self, codes: Codes, stream: Stream) -> Codes:
        """Published codes for true ones, with fresh coins.

        >>> from scumble.core.entropy import Entropy
        >>> coins = Coins.of(Channel(0.0, size=4))
        >>> sorted(set(coins.flip(np.zeros(100, np.uint8), Entropy.seeded(1).stream("doc")).tolist()))
        [0, 1, 2, 3]
        """
        width = 32 if self.bits == SHORT else 64
        step = PIECE * 8 // width
        published = np.empty(len(codes), self.code_type(codes))
        for start in range(0, len(codes), step):
            part = codes[start : start + step]
            published[start : start + step] = self.settle(part, lambda which: stream.words(len(which), width))
        return published

    def settle(self, codes: Codes, words: Callable[[npt.NDArray[np.intp]], Words]) -> Codes:
        """Published codes, asking `words` for the random words of the records at the given places until all are decided."""
        places = np.arange(len(codes))
        published, open_places = self.decide(codes, self._cut(words(places)))
        while open_places.any():
            places = places[open_places]
            published[places], open_places = self.decide(codes[places], self._cut(words(places)))
        return published

    def _cut(self, words: Words) -> Words:
        """Words of 64 bits that coins want fewer of."""
        return words >> np.uint64(64 - LONG) if self.bits == LONG else words


@dataclass(frozen=True, eq=False)
class Coins(BaseCoins):
    """The integers behind a channel with uniform replacement."""

    size: int
    bits: int
    thresholds: npt.NDArray[np.uint64]
    """One threshold, or one for each value."""
    members: npt.NDArray[np.intp] | None = None
    """Which values of the domain these coins are for, where not for all: a sub-table has its own values only."""
    domain_size: int | None = None
    """How many values the domain has, where these coins are for some of them."""
    own: bool = False
    """Whether replacements follow the column's own distribution; they are then drawn by what knows it."""
    lots: npt.NDArray[np.uint64] | None = None
    """How many lots each value has as a replacement, where not one each."""

    @property
    def shaped(self) -> bool:
        """Whether values have lots."""
        return self.lots is not None

    @property
    def parts(self) -> int:
        """W: all lots together."""
        return self.size if self.lots is None else int(self.lots.sum())

    @property
    def retention(self) -> float:
        """The one retention, where there is one."""
        (threshold,) = self.thresholds
        return int(threshold) / 2.0**self.bits

    @property
    def amplification(self) -> Fraction:
        """gamma of these coins, in whole numbers: the largest of `rises`.

        >>> Coins(3, 4, np.array([4], np.uint64)).amplification
        Fraction(2, 1)
        """
        return max(self.rises())

    def rises(self) -> list[Fraction]:
        """How much the odds of each value rise at most: (W T_j + w_j (2^bits - T_j)) / (w_j (2^bits - M_j)), with M_j the largest of the other thresholds.

        One number where all values are alike; where they differ in their thresholds alone, those of the two largest.
        """
        if self.own:
            raise InternalError("replacements that follow the data have no bound on the odds")
        if self.size == 1:
            return [Fraction(1)]
        whole, kept = 1 << self.bits, [int(t) for t in self.thresholds]
        first, second = sorted(kept, reverse=True)[:2] if len(kept) > 1 else kept * 2
        if self.lots is None:
            pairs = [(t, 1, second if t == first else first) for t in (first, second)]
        else:
            every = kept if len(kept) > 1 else kept * self.size
            pairs = [(t, int(w), second if t == first else first) for t, w in zip(every, self.lots, strict=True)]
        return [Fraction(self.parts * t + w * (whole - t), w * (whole - other)) for t, w, other in pairs]

    @classmethod
    def of(cls, channel: Channel) -> "Coins":
        """The coins of a channel, rounded toward more privacy.

        >>> Coins.of(Channel(0.5, size=50)).channel().retain <= 0.5
        True
        """
        if channel.replace.strides != (0,):
            raise InternalError("these coins are made for channels with uniform replacement")
        bits = word_bits(channel.size)
        retained = channel.retention[:1] if channel.constant else channel.retention
        return cls(channel.size, bits, np.array([threshold(p, channel.size, bits) for p in retained], np.uint64))

    def channel(self) -> Channel:
        """The channel that is applied, exactly."""
        if self.own:
            raise InternalError(
                "a channel that draws from the column's own distribution is known from its release only"
            )
        retain = self.thresholds / 2.0**self.bits
        drawn = None if self.lots is None else self.lots / float(self.parts)
        channel = Channel(retain[0] if len(retain) == 1 else retain, drawn, size=self.size)
        return spread(channel, self.members, self.domain_size)

    def among(self, members: npt.NDArray[np.intp], domain_size: int) -> "Coins":
        """The same coins, for these values of a larger domain."""
        return replace(self, members=members, domain_size=domain_size)

    @property
    def kept(self) -> Vector:
        """The retention."""
        return np.asarray(self.thresholds / 2.0**self.bits)

    @property
    def spelling(self) -> tuple[str, ...]:
        """Bits and thresholds, and lots where values differ in them."""
        lots = () if self.lots is None else (str(self.lots.tolist()),)
        return str(self.bits), str(self.thresholds.tolist()), *lots

    def code_type(self, codes: Codes) -> np.dtype[np.unsignedinteger]:
        """A code is a value."""
        return codes.dtype

    def decide(self, codes: Codes, words: Words) -> tuple[Codes, npt.NDArray[np.bool_]]:
        """Kept below the threshold, else replaced by one of the values."""
        thresholds = self.thresholds.astype(words.dtype)
        shares = ((np.uint64(1 << self.bits) - self.thresholds) // np.uint64(self.parts)).astype(words.dtype)
        if len(thresholds) == 1:
            threshold, share = thresholds[0], shares[0]
        else:
            threshold, share = thresholds[codes], shares[codes]
        keep = words < threshold
        drawn = words - threshold if (shares == 1).all() else (words - threshold) // share
        # garbage where the value is kept, in wrapping integers
        out = drawn.astype(codes.dtype) if self.lots is None else self._holders.of(drawn).astype(codes.dtype)
        out += (codes - out) * keep  # selecting by arithmetic is several times faster than a masked copy
        undecided = (drawn >= self.parts) & ~keep if (thresholds == 0).any() else ALL_DECIDED
        return out, undecided

    @once
    def _holders(self) -> Holders:
        """Whose each lot is."""
        assert self.lots is not None
        return Holders(self.lots)


ALL_DECIDED = np.zeros(1, dtype=np.bool_)
"""No word has to be drawn again."""


def spread(channel: Channel, members: npt.NDArray[np.intp] | None, domain_size: int | None) -> Channel:
    """A channel on some values of a domain as one on all of it: the others are never drawn, and do not occur.

    >>> spread(Channel(0.5, size=2), np.array([0, 2]), 3).replace.tolist()
    [0.5, 0.0, 0.5]
    """
    if members is None or domain_size is None:
        return channel
    drawn = np.zeros(domain_size)
    drawn[members] = channel.replace
    if channel.constant:
        return Channel(channel.retain, drawn)
    kept = np.full(domain_size, float(channel.retention.max()))  # of no consequence: these values have no rows
    kept[members] = channel.retention
    return Channel(kept, drawn)


def own_threshold(retain: float, size: int) -> Coins:
    """Coins that only decide whether a value is kept.

    >>> own_threshold(0.25, 7).retention
    0.25
    """
    return Coins(size, SHORT, np.array([min(int(Fraction(retain) * 2**SHORT), 2**SHORT - 1)], np.uint64), own=True)


def threshold(retain: float, size: int, bits: int) -> int:
    """The largest threshold of at most a retention, of which what is left of all words is a multiple of so many lots."""
    whole = 1 << bits
    asked = int(Fraction(float(retain)) * whole)
    share = max(1, -((asked - whole) // size))
    return max(0, whole - share * size)
