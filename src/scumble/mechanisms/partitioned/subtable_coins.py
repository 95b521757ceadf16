"""The coins of all sub-tables at once, whichever sub-table a row is in.

A row of value x in sub-table k takes a word of `bits` bits: below the threshold of (k, x) the value is kept, else it becomes member
(word - threshold) // share of the sub-table (core/coins.py). Mostly the first byte of the word decides that already, because all words that begin with it have
the same outcome: those outcomes are looked up, and only the rows of the other bytes get the rest of their word. What is drawn is the same.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scumble.core.coins import Coins
from scumble.core.domain import Codes
from scumble.core.entropy import Stream

Integers = npt.NDArray[np.integer]
Words = npt.NDArray[np.uint64]

LOOKED_UP = 1 << 16
"""Pairs of a sub-table and a value, at most, for which outcomes are looked up: 256 for each."""

REST = np.uint64((1 << 56) - 1)
"""The bits of a word of 64 after its first byte."""


class SubtableCoins:
    """The coins of sub-tables over a domain of `size` values; a pair (k, x) is numbered k size + x."""

    def __init__(self, coins: Sequence[Coins], size: int) -> None:
        members = [np.arange(coin.size) if coin.members is None else coin.members for coin in coins]
        self._size = size
        self._unused = np.array([64 - coin.bits for coin in coins], dtype=np.uint64)
        self._own = np.array([coin.size for coin in coins], dtype=np.uint64)
        self._members = np.zeros((len(coins), int(self._own.max())), dtype=np.min_scalar_type(size - 1))
        self._thresholds = np.zeros(len(coins) * size, dtype=np.uint64)
        self._shares = np.ones_like(self._thresholds)
        for k, (coin, own) in enumerate(zip(coins, members, strict=True)):
            self._members[k, : coin.size] = own
            self._thresholds[k * size + own] = coin.thresholds
            self._shares[k * size + own] = (np.uint64(1 << coin.bits) - coin.thresholds) // np.uint64(coin.size)
        self._outcomes: Codes | None = None
        if len(self._thresholds) <= LOOKED_UP:
            self._outcomes = self._look_ahead(np.concatenate([k * size + own for k, own in enumerate(members)]))

    def flip(self, true: Codes, labels: Codes, stream: Stream) -> Codes:
        """Published codes for true ones, each row by the coins of its sub-table."""
        pairs = labels * np.int32(self._size) + true
        first = stream.integers(len(true), 8)
        if self._outcomes is None:
            rows, published = np.arange(len(true)), np.empty_like(true)
        else:
            outcomes = self._outcomes.take(pairs << 8 | first)
            rows, published = np.flatnonzero(outcomes == self._size), outcomes.astype(true.dtype)
        while len(rows):
            words = first[rows].astype(np.uint64) << np.uint64(56) | stream.integers(len(rows), 64) & REST
            published[rows], decided = self.decide(pairs[rows], words)
            rows = rows[~decided]
            first[rows] = stream.integers(len(rows), 8)
        return published

    def decide(self, pairs: Integers, words: Words) -> tuple[Codes, npt.NDArray[np.bool_]]:
        """The outcomes of words of 64 bits, of which a sub-table takes the first that it needs, and whether there is one."""
        part, value = np.divmod(pairs, self._size)
        kept = self._kept(pairs, words)
        drawn = (self._cut(pairs, words) - self._thresholds[pairs]) // self._shares[pairs]
        decided = kept | (drawn < self._own[part])
        place = np.where(kept | ~decided, 0, drawn).astype(np.intp)
        return np.where(kept, value.astype(self._members.dtype), self._members[part, place]), decided

    def _kept(self, pairs: Integers, words: Words) -> npt.NDArray[np.bool_]:
        return np.asarray(self._cut(pairs, words) < self._thresholds[pairs])

    def _cut(self, pairs: Integers, words: Words) -> Words:
        return np.asarray(words >> self._unused[pairs // self._size])

    def _look_ahead(self, pairs: Integers) -> Codes:
        """For each pair and first byte the outcome of all words that begin so, or `size` where they may differ.

        Words in a row first keep the value and then draw one member after the other. So all from the lowest to the highest have one outcome where both
        ends keep, or both draw the same.
        """
        outcomes = np.full((len(self._thresholds), 256), self._size, dtype=np.min_scalar_type(self._size))
        low = np.tile(np.arange(256, dtype=np.uint64) << np.uint64(56), len(pairs))
        every = np.repeat(pairs, 256)
        (lowest, begun), (highest, ended) = (self.decide(every, words) for words in (low, low | REST))
        same = begun & ended & (lowest == highest) & (self._kept(every, low) == self._kept(every, low | REST))
        outcomes[pairs] = np.where(same, lowest, self._size).reshape(-1, 256)
        return outcomes.ravel()
