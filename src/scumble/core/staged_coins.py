"""Coins of two stages: a memoised response, and a fresh one laid over it in every release.

    x --M--> z --F--> y        z by key, the same in every release; y anew in each

M keeps value i with probability T_i / 2^b and F with U / 2^b, both replacing uniformly among m values. Their product is a channel
of the same kind, with retention T_i U / 2^2b, and exactly so in whole numbers: 2^b - T_i = m a and 2^b - U = m c give
2^2b - T_i U = m (2^b (a + c) - m a c), a multiple of m. So a release is estimated, checked and judged as any other.

One release tells what M F tells. All releases together tell at most what z tells, whatever their number: they are F of z with coins
that have nothing to do with x.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from scumble.core.coins import SHORT, Coins
from scumble.core.domain import Codes
from scumble.core.entropy import Stream
from scumble.core.errors import InternalError, ParameterError


@dataclass(frozen=True, eq=False)
class StagedCoins(Coins):
    """The product of two stages, which it knows."""

    memoised: Coins = field(kw_only=True)
    fresh: Coins = field(kw_only=True)

    @classmethod
    def product(cls, memoised: Coins, fresh: Coins) -> "StagedCoins":
        """Both stages as one channel.

        >>> from scumble.core.channel import Channel
        >>> coins = StagedCoins.product(Coins.of(Channel(0.5, size=4)), Coins.of(Channel(0.5, size=4)))
        >>> coins.retention, coins.bits
        (0.25, 64)
        """
        if {memoised.bits, fresh.bits} != {SHORT} or len(fresh.thresholds) != 1:
            raise ParameterError(
                f"a memoised response with a fresh one over it is for domains of at most 4,096 values, not {memoised.size:,}; "
                "merge values, or widen the step of the grid"
            )
        thresholds = [int(t) * int(fresh.thresholds[0]) for t in memoised.thresholds]
        return cls(memoised.size, 2 * SHORT, np.array(thresholds, np.uint64), memoised=memoised, fresh=fresh)

    def flip(self, codes: Codes, stream: Stream) -> Codes:
        """Never: a memoised response is drawn by a key."""
        raise InternalError("coins of two stages are flipped one by one, the first by a key")


def memoised(coins: Any) -> Any:
    """The coins that all releases together have: the first stage, where there are two."""
    return coins.memoised if isinstance(coins, StagedCoins) else coins
