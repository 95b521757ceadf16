"""Coins whose replacements follow a shape: lots in whole numbers, rounded so that no value's odds rise by more than its factor.

One retention, value j at the factor g_j: the word keeps with T of 2^bits outcomes and replaces by j with w_j of them,

    (T + w_j) / w_j <= g_j        exactly where        w_j >= T / (g_j - 1)

so w_j is that rounded up, T as large as leaves room for all, and what is left over is more of the commonest replacement. All in whole numbers.
A retention for each value: lots and thresholds are rounded, and thresholds lowered until every rise is within its factor. Lowering one lowers every
rise (docs/proofs/shaped.md), so that this ends.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from scumble.core.channel import Channel
from scumble.core.coins import LONG, Coins, threshold, word_bits
from scumble.core.errors import ParameterError

LOTS = 1 << 26
"""Lots in all, about, where values have retentions of their own: replacements are off by a hundred-millionth, retentions by as much."""

STEP = 1 - 1e-9
"""By how much retentions are lowered first where rounding was the wrong way; by twice as much each time."""


def one_retention(factors: Sequence[Fraction]) -> Coins:
    """The coins of the largest retention under which the odds of each value rise by at most its factor.

    >>> coins = one_retention([Fraction(3), Fraction(2), Fraction(3)])
    >>> coins.amplification <= 3, [rise <= bound for rise, bound in zip(coins.rises(), (3, 2, 3))]
    (True, [True, True, True])
    >>> round(coins.retention, 6), coins.channel().replace.round(6).tolist()
    (0.333333, [0.25, 0.5, 0.25])
    """
    least = [1 / (factor - 1) for factor in factors]
    bits, total = word_bits(len(least)), 1 + sum(least, start=Fraction(0))
    whole = 1 << bits
    kept = int((whole - len(least)) / total)
    if kept < 1:
        raise ParameterError(
            f"next to nothing of {len(least):,} values could be kept under these bounds; give larger ones, or merge values"
        )
    lots = [-int(-(share * kept) // 1) for share in least]
    lots[int(np.argmax(lots))] += whole - kept - sum(lots)
    return Coins(len(least), bits, np.array([kept], np.uint64), lots=np.array(lots, np.uint64))


def own_retentions(channel: Channel, factors: Sequence[Fraction]) -> Coins:
    """The coins of a channel with a retention for each value, none of whose odds rise by more than its factor."""
    lots = np.maximum(1, np.ceil(channel.replace * LOTS)).astype(np.uint64)
    parts, less = int(lots.sum()), 1 - STEP
    kept = channel.retention
    while True:
        thresholds = np.array([threshold(p, parts, LONG) for p in kept], np.uint64)
        coins = Coins(channel.size, LONG, thresholds, lots=lots)
        if all(rise <= bound for rise, bound in zip(coins.rises(), factors, strict=True)):
            return coins
        kept, less = kept * (1 - less), 2 * less
