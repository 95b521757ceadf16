"""How true codes become published ones, batch by batch: one class a way.

`prepare` sees the batches in order, one at a time, and may split quotas; `apply` runs in any order and in parallel, with coins of
its own batch.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from scumble.core.coins import BaseCoins
from scumble.core.domain import Codes
from scumble.core.entropy import Entropy
from scumble.core.staged_coins import StagedCoins
from scumble.publishing.keyed import Ids, KeyedCoins


class Perturbation(Protocol):
    """What the pipeline asks for each batch."""

    extra: list[str]
    """Columns that are published beyond the table's own."""

    def prepare(self, index: int, codes: dict[str, Codes]) -> Any:
        """What `apply` of this batch needs to know of the batches before it."""

    def apply(self, index: int, codes: dict[str, Codes], ids: Ids | None, state: Any) -> dict[str, Codes]:
        """The published codes of the sensitive columns, and the extra columns."""


class Independent:
    """Every value through the coins of its column, independently of everything else."""

    def __init__(
        self, coins: Mapping[str, BaseCoins], entropy: Entropy, keyed: dict[str, KeyedCoins] | None = None
    ) -> None:
        self.extra: list[str] = []
        self._coins = coins
        self._entropy = entropy
        self._keyed = keyed or {}

    def prepare(self, index: int, codes: dict[str, Codes]) -> None:
        """Nothing is carried from batch to batch."""

    def apply(self, index: int, codes: dict[str, Codes], ids: Ids | None, state: Any) -> dict[str, Codes]:
        """Fresh coins, or those of the key, or fresh ones over those."""
        published = codes
        if ids is not None:
            published = {name: self._keyed[name].flip(column, ids) for name, column in codes.items()}
        return {
            name: coins.flip(column, self._entropy.stream("coins", name, index))
            if (coins := self._fresh(name))
            else column
            for name, column in published.items()
        }

    def _fresh(self, name: str) -> BaseCoins | None:
        """The coins that are flipped anew in this release; none where all come from the key."""
        coins = self._coins[name]
        if name not in self._keyed:
            return coins
        return coins.fresh if isinstance(coins, StagedCoins) else None
