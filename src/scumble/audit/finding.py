"""A finding: what an attack on a release got, measured, against what it gets without the weakness that it looks for."""

import math
from dataclasses import dataclass
from typing import Any, Literal

Question = Literal["singling out", "linkability", "inference", "integrity"]
"""The three questions of WP216, and whether the release is what its manifest says."""

Verdict = Literal["holds", "open", "broken"]


@dataclass(frozen=True)
class Finding:
    """One attack: its success rate with an interval, and the rate that is no news."""

    attack: str
    success: float
    """The share of targets that the attack gets right."""
    baseline: float
    """The share that it gets right where the release has not that weakness."""
    low: float
    high: float
    """The ends of the interval for the success rate, at 95%."""
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

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        names = ("attack", "question", "success", "baseline", "low", "high", "verdict", "passed", "uncovered", "detail")
        return {name: getattr(self, name) for name in names}


def wilson(hits: int, targets: int, z: float = 1.96) -> tuple[float, float]:
    """The score interval for a share.

    >>> [round(end, 4) for end in wilson(8, 10)], wilson(0, 0)
    ([0.4902, 0.9433], (0.0, 1.0))
    """
    if not targets:
        return 0.0, 1.0
    share, scale = hits / targets, 1 + z * z / targets
    middle = (share + z * z / (2 * targets)) / scale
    half = z * math.sqrt(share * (1 - share) / targets + z * z / (4 * targets**2)) / scale
    return max(0.0, middle - half) if hits else 0.0, min(1.0, middle + half) if hits < targets else 1.0
