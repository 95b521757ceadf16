"""Replacement by the column's own values: fresh draws, or a permutation of what was not retained, streaming."""

from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.coins import Coins
from scumble.core.domain import Codes
from scumble.core.draws import binomial, hypergeometric_split
from scumble.core.entropy import Entropy, Stream
from scumble.publishing.keyed import Ids

Counts = npt.NDArray[np.int64]


class OwnDistribution:
    """A value that is not retained becomes that of a random row of the table: exactly the column's own distribution."""

    def __init__(self, coins: dict[str, Coins], counts: dict[str, Counts], entropy: Entropy) -> None:
        self.extra: list[str] = []
        self._coins = coins
        self._ends = {name: np.cumsum(count) for name, count in counts.items()}
        self._entropy = entropy

    def prepare(self, index: int, codes: dict[str, Codes]) -> None:
        """Nothing is carried from batch to batch."""

    def apply(self, index: int, codes: dict[str, Codes], ids: Ids | None, state: Any) -> dict[str, Codes]:
        """Fresh coins, and for those that fall so a random row."""
        return {name: self._redraw(name, column, index) for name, column in codes.items()}

    def _redraw(self, name: str, codes: Codes, index: int) -> Codes:
        stream = self._entropy.stream("coins", name, index)
        replaced = np.flatnonzero(stream.integers(len(codes), 32) >= self._coins[name].thresholds[0])
        rows = _below(stream, len(replaced), int(self._ends[name][-1]))
        published = codes.copy()
        published[replaced] = np.searchsorted(self._ends[name], rows, side="right")
        return published


def _below(stream: Stream, count: int, bound: int) -> Counts:
    """Uniform integers below a bound, exactly: 63-bit words beyond the last whole multiple are drawn again."""
    limit = (1 << 63) // bound * bound
    words = stream.integers(count, 64) >> np.uint64(1)
    beyond = np.flatnonzero(words >= limit)
    while len(beyond):
        words[beyond] = stream.integers(len(beyond), 64) >> np.uint64(1)
        beyond = beyond[words[beyond] >= limit]
    return (words % np.uint64(bound)).astype(np.int64)


class Swapped:
    """What is not retained is permuted among itself, over the whole table, while only one batch is in memory.

    How many rows of each value are not retained is drawn first (binomial); which ones, batch by batch, by hypergeometric splits of
    what is left; the values that they get are split off the same pool in the same way. Each split is what a permutation of all
    rows would give to the batch, so the whole is a uniformly random permutation of the rows that were not retained.
    """

    def __init__(self, coins: dict[str, Coins], counts: dict[str, Counts], entropy: Entropy) -> None:
        self.extra: list[str] = []
        self._entropy = entropy
        self._left = {name: count.copy() for name, count in counts.items()}
        self._chosen = {
            name: binomial(entropy.stream("not retained", name), counts[name], 1 - coin.retention)
            for name, coin in coins.items()
        }
        self._pool = {name: chosen.copy() for name, chosen in self._chosen.items()}

    def prepare(self, index: int, codes: dict[str, Codes]) -> dict[str, tuple[Counts, Counts]]:
        """How many rows of each value this batch gives to the pool, and which values it gets from there."""
        return {
            name: self._split(name, column, self._entropy.stream("split", name, index))
            for name, column in codes.items()
        }

    def _split(self, name: str, codes: Codes, stream: Stream) -> tuple[Counts, Counts]:
        left, chosen = self._left[name], self._chosen[name]
        here = np.bincount(codes, minlength=len(left)).astype(np.int64)
        given = hypergeometric_split(stream, np.stack([chosen, left - chosen], axis=1), here)[:, 0]
        got = hypergeometric_split(stream, self._pool[name][None, :], np.array([given.sum()]))[0]
        self._left[name], self._chosen[name] = left - here, chosen - given
        self._pool[name] = self._pool[name] - got
        return given, got

    def apply(self, index: int, codes: dict[str, Codes], ids: Ids | None, state: Any) -> dict[str, Codes]:
        """Random rows of each value, and the pool's values for them in random order."""
        streams = {name: self._entropy.stream("coins", name, index) for name in codes}
        return {name: self._swap(column, state[name], streams[name]) for name, column in codes.items()}

    @staticmethod
    def _swap(codes: Codes, state: tuple[Counts, Counts], stream: Stream) -> Codes:
        given, got = state
        order = stream.permutation(len(codes))
        grouped = order[np.argsort(codes[order], kind="stable")]
        starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(given)))[:-1]])
        rank = np.arange(len(codes)) - starts[codes[grouped]]
        rows = grouped[rank < given[codes[grouped]]]
        values = np.repeat(np.arange(len(got)), got).astype(codes.dtype)
        published = codes.copy()
        published[rows] = values[stream.permutation(len(values))]
        return published
