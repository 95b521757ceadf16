"""What a mechanism sees, and what it decides, before any row is touched."""

from dataclasses import dataclass, field

from scumble.channel import Channel
from scumble.coins import Coins
from scumble.domain import Domain
from scumble.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class Profile:
    """The domains of the sensitive columns, and which of them were read off the data."""

    domains: dict[str, Domain]
    from_data: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """Which coins on which column, what they guarantee, and what the parameters themselves tell."""

    mechanism: str
    coins: dict[str, Coins]
    guarantees: list[Guarantee]
    depends_on_data: list[str]
    """Parameters that were computed from the table, and what publishing them tells."""

    @property
    def channels(self) -> dict[str, Channel]:
        """The channels exactly as they will be applied."""
        return {name: coins.channel() for name, coins in self.coins.items()}
