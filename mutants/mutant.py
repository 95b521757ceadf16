"""What a mutant is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One edit of a module, what is published with it, and what is expected of verifier and auditor."""

    name: str
    module: str
    """Below scumble."""
    old: str
    """Text that stands in the module once."""
    new: str
    subject: str = "uniform"
    survives: str = ""
    """Why nothing catches it; nothing where something has to."""
    own_entropy: bool = False
    """Whether the mutant makes the entropy of the release itself."""


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant."""

    refused: str
    """What publishing said, where it refused."""
    failed: list[str]
    """Checks of the verifier that fail."""
    broken: list[str]
    """Attacks that call the release broken."""

    @property
    def caught(self) -> bool:
        """Whether anything told."""
        return bool(self.refused or self.failed or self.broken)

    @property
    def by(self) -> str:
        """What told, in a line."""
        told = ["publishing refuses"] if self.refused else []
        told += [f"verify: {', '.join(self.failed)}"] if self.failed else []
        told += [f"audit: {', '.join(self.broken)}"] if self.broken else []
        return "; ".join(told)
