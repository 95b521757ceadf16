"""A finding: what an attack on a release got, measured, against what it gets without the weakness that it looks for."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from scumble.core.display import Card, Note, Shown

Question = Literal["singling out", "linkability", "inference", "integrity"]
"""The three questions of WP216, and whether the release is what its manifest says."""

Verdict = Literal["holds", "open", "broken"]

LEVEL, Z = 0.9999, 3.8906
"""How often an interval holds the truth, and the normal quantile that makes it. An audit runs a dozen attacks: at 95% each, one sound
release in four would be called broken; at this level, fewer than one in a thousand."""


@dataclass(frozen=True, repr=False)
class Finding(Shown):
    """One attack: its success rate with an interval, and the rate that is no news."""

    attack: str
    success: float
    """The share of targets that the attack gets right."""
    baseline: float
    """The share that it gets right where the release has not that weakness."""
    low: float
    high: float
    """The ends of the interval for the success rate, at LEVEL."""
    detail: str
    question: Question = "inference"
    """Which question of a data-protection officer it answers."""
    uncovered: str = ""
    """Where the release itself says that it does not protect from this: its words. Success is then open, not broken."""

    @property
    def verdict(self) -> Verdict:
        """holds: no better than its baseline, as far as the interval can tell; open: better, as the release says; broken."""
        if self.low <= self.baseline:
            return "holds"
        return "open" if self.uncovered else "broken"

    @property
    def passed(self) -> bool:
        """Whether nothing is broken that was promised."""
        return self.verdict != "broken"

    @classmethod
    def of_share(
        cls,
        attack: str,
        hits: int,
        targets: int,
        baseline: float,
        detail: str,
        question: Question = "inference",
        uncovered: str = "",
    ) -> "Finding":
        """The finding for so many hits among so many targets."""
        low, high = wilson(hits, targets)
        return cls(attack, hits / targets if targets else 0.0, baseline, low, high, detail, question, uncovered)

    def card(self) -> Card:
        """The verdict, the measured success beside its baseline, and what it means."""
        sentence = f"success {self.success:.1%} [{self.low:.1%}, {self.high:.1%}], baseline {self.baseline:.1%}"
        uncovered = [Note(f"the release says: {self.uncovered}", "faint")] if self.verdict == "open" else []
        return Card(f"{self.verdict}  {self.attack}: {sentence}", [Note(self.detail), *uncovered])

    @classmethod
    def of_facts(
        cls, attack: str, hits: int, targets: int, detail: str, question: Question, uncovered: str = ""
    ) -> "Finding":
        """The finding for what was counted over all there is: nothing is left to chance, and one hit is one too many."""
        share = hits / targets if targets else 0.0
        return cls(attack, share, 0.0, share, share, detail, question, uncovered)

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        names = ("attack", "question", "success", "baseline", "low", "high", "verdict", "passed", "uncovered", "detail")
        return {name: getattr(self, name) for name in names}


def wilson(hits: float, targets: float, z: float = Z) -> tuple[float, float]:
    """The score interval for a share.

    >>> [round(end, 4) for end in wilson(8, 10, 1.96)], wilson(0, 0)
    ([0.4902, 0.9433], (0.0, 1.0))
    """
    if not targets:
        return 0.0, 1.0
    share, scale = hits / targets, 1 + z * z / targets
    middle = (share + z * z / (2 * targets)) / scale
    half = z * math.sqrt(share * (1 - share) / targets + z * z / (4 * targets**2)) / scale
    return max(0.0, middle - half) if hits else 0.0, min(1.0, middle + half) if hits < targets else 1.0
