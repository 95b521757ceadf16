"""What a mechanism sees, and what it decides, before any row is touched."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.channel import Channel
from scumble.coins import Coins
from scumble.domain import Domain
from scumble.privacy.guarantee import NOT_COVERED, Guarantee


@dataclass(frozen=True)
class Profile:
    """The domains of the sensitive columns, which of them were read off the data, and counts where a mechanism needs them."""

    domains: dict[str, Domain]
    from_data: list[str] = field(default_factory=list)
    counts: dict[str, npt.NDArray[np.int64]] = field(default_factory=dict)
    """How often each value of a sensitive column occurs: for the mechanisms in `mechanisms.COUNTING`."""


@dataclass(frozen=True)
class Plan:
    """Which coins on which column, what they guarantee, and what the parameters themselves tell."""

    mechanism: str
    strata: list[dict[str, Coins]]
    """The coins of each sensitive column, for each sub-table; most mechanisms have one."""
    guarantees: list[Guarantee]
    depends_on_data: list[str]
    """Parameters that were computed from the table, and what publishing them tells."""
    not_covered: list[str] = field(default_factory=lambda: list(NOT_COVERED))
    warnings: list[str] = field(default_factory=list)
    """What the publisher should think about before anybody gets the release."""
    details: dict[str, Any] = field(default_factory=dict)
    """What else the mechanism's publisher needs; it is not published."""

    @property
    def coins(self) -> dict[str, Coins]:
        """The coins of each sensitive column, where there is one stratum."""
        (only,) = self.strata
        return only

    @property
    def channels(self) -> list[dict[str, Channel]]:
        """The channels exactly as they will be applied, for each stratum."""
        return [{name: coins.channel() for name, coins in stratum.items()} for stratum in self.strata]
