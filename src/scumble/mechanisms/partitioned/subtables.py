"""Rows to sub-tables at random, in exact counts, and each through the coins of its sub-table: streaming.

    Q[x, k]     records of value x that sub-table k still gets
    b[x]        records of value x in this batch

`prepare` splits the quotas: b[x] records drawn without replacement from Q[x, .], exactly (quotas.py), are this batch's; the rest stays
for the batches to come. `apply` deals them out within the batch, each arrangement alike. Together every assignment with the planned counts is
equally likely, whatever the batches are.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.coins import Coins
from scumble.core.domain import Codes
from scumble.core.entropy import Entropy, Stream
from scumble.mechanisms.partitioned.quotas import Quotas, changed
from scumble.mechanisms.partitioned.subtable_coins import SubtableCoins
from scumble.publishing.keyed import Ids

Counts = npt.NDArray[np.int64]


class Subtables:
    """The perturbation of a partitioned plan; `counts` has a row for each sub-table, a column for each value."""

    def __init__(self, name: str, extra: str, coins: list[Coins], counts: Counts, entropy: Entropy) -> None:
        self.extra = [extra]
        self._name = name
        self._size = counts.shape[1]
        self._quotas = Quotas(counts.T, entropy.stream("quota"))
        self._coins = SubtableCoins(coins, self._size)
        self._entropy = entropy

    def prepare(self, index: int, codes: dict[str, Codes]) -> Counts:
        """How many of this batch's records of each value go to each sub-table."""
        here = np.bincount(codes[self._name], minlength=self._size)
        return self._quotas.take(here, self._entropy.stream("quota", index))

    def demand_spent(self) -> None:
        """Every record that was counted must have come by again."""
        if not self._quotas.spent:
            raise changed()

    def apply(self, index: int, codes: dict[str, Codes], ids: Ids | None, state: Any) -> dict[str, Codes]:
        """The sub-table of each row, and its published code."""
        true = codes[self._name]
        labels = deal(true, state, self._entropy.stream("deal", index))
        return {
            self._name: self._coins.flip(true, labels, self._entropy.stream("coins", index)),
            self.extra[0]: labels,
        }


def deal(true: Codes, state: Counts, stream: Stream) -> Codes:
    """Labels for rows, so that state[x, k] of those of value x get label k, each arrangement alike.

    Most rows get theirs from one random byte, in shares a little short of the quotas; the others, in random order, get the labels that
    are left. Where a share came out above its quota, all rows are dealt in random order. Rows of one value are treated alike in every step, so
    that exchanging two of them changes no probability: every arrangement with the right counts has the same.
    """
    sizes, parts = state.shape
    if parts == 1:
        return np.zeros(len(true), dtype=np.uint8)
    if true.dtype != np.uint8 or parts > 255:
        return _in_random_order(true, state, stream)
    proposed = _proposals(state).take(true.astype(np.uint16) << 8 | stream.integers(len(true), 8))
    given = np.bincount(true * np.uint16(parts + 1) + proposed, minlength=sizes * (parts + 1)).reshape(sizes, -1)
    left = state - given[:, :parts]
    if left.min() < 0:
        return _in_random_order(true, state, stream)
    labels: Codes = proposed.astype(np.min_scalar_type(parts - 1))
    rows = np.flatnonzero(proposed == parts)
    labels[rows] = _in_random_order(true[rows], left, stream)
    return labels


SHORT_BY = 4
"""Standard deviations by which shares fall short of quotas: one batch in hundreds is dealt again."""


def _proposals(state: Counts) -> Codes:
    """For each value and byte a label, or the number of labels where none is proposed."""
    rows = np.maximum(state.sum(axis=1, keepdims=True), 1)
    spread = np.sqrt(state * (1 - state / rows))  # none where all rows of a value have one label
    shares = np.maximum((256 * (state - SHORT_BY * spread) / rows).astype(np.int64), 0)
    shares = np.concatenate([shares, 256 - shares.sum(axis=1, keepdims=True)], axis=1)
    every = np.arange(shares.shape[1], dtype=np.min_scalar_type(state.shape[1]))
    return np.asarray(np.repeat(np.tile(every, len(shares)), shares.ravel()))


def _in_random_order(true: Codes, state: Counts, stream: Stream) -> Codes:
    """The rows of a value, in random order, take its labels one after the other."""
    order = stream.permutation(len(true))
    by_value = order[np.argsort(true[order], kind="stable")]
    kind = np.min_scalar_type(state.shape[1] - 1)
    labels = np.empty(len(true), dtype=kind)
    labels[by_value] = np.repeat(np.tile(np.arange(state.shape[1], dtype=kind), len(state)), state.ravel())
    return labels
