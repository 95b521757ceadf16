"""What a mechanism sees, and what it decides, before any row is touched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scumble.core.channel import Channel
from scumble.core.channel_base import BaseChannel
from scumble.core.coins import BaseCoins, Coins
from scumble.core.display import Card, Grid, Items, Note, Part, Shown
from scumble.core.domain import Domain
from scumble.mechanisms.facts import Terms
from scumble.privacy.guarantee import NOT_COVERED, Clause, Guarantee


@dataclass(frozen=True)
class Profile:
    """The domains of the sensitive columns, which of them were read off the data, and counts where a mechanism needs them."""

    domains: dict[str, Domain]
    from_data: list[str] = field(default_factory=list)
    counts: dict[str, npt.NDArray[np.int64]] = field(default_factory=dict)
    """How often each value of a sensitive column occurs: for mechanisms that need counts."""


@dataclass(frozen=True, repr=False)
class Plan(Shown):
    """Which coins on which column, what they guarantee, and what the parameters themselves tell."""

    mechanism: str
    strata: Sequence[Mapping[str, BaseCoins]]
    """The coins of each sensitive column, for each sub-table; most mechanisms have one."""
    guarantees: list[Guarantee]
    depends_on_data: list[Clause]
    """Parameters that were computed from the table, and what publishing them tells."""
    not_covered: list[Clause] = field(default_factory=lambda: list(NOT_COVERED))
    warnings: list[str] = field(default_factory=list)
    """What the publisher should think about before anybody gets the release."""

    @property
    def parameters(self) -> str:
        """The parameters, in a few words."""
        kept = [float(coins.kept.max()) for coins in self.strata[0].values()]
        return "p = " + ", ".join(f"{p:.3g}" for p in kept)

    @property
    def dealt(self) -> npt.NDArray[np.int64] | None:
        """How many rows of each value each stratum gets, where that is planned."""
        return None

    @property
    def joint(self) -> Channel | None:
        """The channel of all sensitive columns together, where they are kept or replaced as one."""
        return None

    @property
    def crowd(self) -> int:
        """Of how many rows a published value is that of one, drawn at random."""
        return 1

    @property
    def certain_belief(self) -> float | None:
        """What is believed of a value whatever is seen, where that needs no channel."""
        return None

    @property
    def odds_factor(self) -> float | None:
        """By how much the odds of anything about a row change at most, for whoever knows all others, where noise in counts bounds it and no channel."""
        return None

    @property
    def any_belief(self) -> bool:
        """Whether the channels bound every belief, and not only that of the table's own shares."""
        return not any(coins.own for coins in self.strata[0].values())

    @property
    def remarks(self) -> list[str]:
        """What else the publisher should know of the plan."""
        return []

    @property
    def terms(self) -> Terms:
        """What it promises, as a release by it will."""
        return Terms(self.guarantees, self.not_covered, self.depends_on_data)

    @property
    def coins(self) -> Mapping[str, BaseCoins]:
        """The coins of each sensitive column, where there is one stratum."""
        (only,) = self.strata
        return only

    @property
    def replacing(self) -> dict[str, Coins]:
        """The same, of a mechanism that keeps values or replaces them."""
        (only,) = self.replacing_strata
        return only

    @property
    def replacing_strata(self) -> list[dict[str, Coins]]:
        """The coins of each stratum, of such a mechanism."""
        return [{name: coin for name, coin in s.items() if isinstance(coin, Coins)} for s in self.strata]

    @property
    def channels(self) -> list[dict[str, BaseChannel]]:
        """The channels exactly as they will be applied, for each stratum."""
        return [{name: coins.channel() for name, coins in stratum.items()} for stratum in self.strata]

    def card(self) -> Card:
        """The coins of each column, what they will guarantee, and what the publisher should think about."""
        columns = [(name, *_kept([stratum[name] for stratum in self.strata])) for name in self.strata[0]]
        parts: list[Part] = [Grid(("column", "values", "kept"), columns, (0,))] if columns else []
        parts += [Note(f"will be guaranteed: {guarantee.statement}") for guarantee in self.guarantees]
        if not self.guarantees:
            parts.append(Note("will be guaranteed: nothing; no bound holds, or none was asked for", "strong"))
        parts += [Note(f"warning: {warning}", "strong") for warning in self.warnings]
        parts.append(Items("not covered", [clause.sentence for clause in self.not_covered]))
        if self.depends_on_data:
            parts.append(Items("taken from the data", [clause.sentence for clause in self.depends_on_data]))
        beside = f", {len(self.strata)} sub-tables" if len(self.strata) > 1 else ""
        return Card(f"a plan by {self.mechanism}{beside}", parts)


def _kept(coins: Sequence[BaseCoins]) -> tuple[str, str]:
    """How many values a column has, and with which probability they are kept."""
    kept = np.concatenate([coin.kept for coin in coins])
    share = f"{kept[0]:.4g}" if kept.min() == kept.max() else f"{kept.min():.4g} to {kept.max():.4g}"
    codes = f", in the set of one of {coins[0].codes:,} codes" if coins[0].codes is not None else ""
    return f"{coins[0].domain_size or coins[0].size:,}", share + codes
