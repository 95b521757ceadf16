"""A finding: what an attack on a release got, measured, against what it gets without the weakness that it looks for; and how bad that is, whatever was declared."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from scumble.auditing.level import ERROR
from scumble.core.display import Card, Note, Shown

Question = Literal["singling out", "linkability", "inference", "integrity"]
"""The three questions of WP216, and whether the release is what its manifest says."""

Verdict = Literal["holds", "open", "broken"]

Grade = Literal["none", "low", "moderate", "high", "severe"]
"""How bad it is, whatever was declared."""

GRADES: tuple[Grade, ...] = get_args(Grade)
STEPS = (0.0, 0.01, 0.1, 0.5)
"""The shares of people up to which a finding is none, low, moderate, high; above the last it is severe."""

LEVEL, Z = 1 - ERROR, 4.4172
"""How often an interval holds the truth where nothing finer is said, and the normal quantile that makes it."""


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
    """The ends of the interval for the success rate."""
    detail: str
    question: Question = "inference"
    """Which question of a data-protection officer it answers."""
    uncovered: str = ""
    """Where the release itself says that it does not protect from this: its words. Success is then open, not broken."""
    p: float | None = None
    """A bound on the probability with which a sound release shows this or more; nothing where it is counted, or measured against no law."""
    error: float | None = None
    """The p up to which the law is taken to be broken, this attack's share of the error of an audit."""
    exposed: float | None = None
    """The share of people whom it concerns, where that is another one than the success above its baseline."""
    advice: str = ""
    """What to do where it is found, if the attack can say."""
    measures: Mapping[str, Any] = field(default_factory=dict)
    """More numbers, for programs."""

    @property
    def verdict(self) -> Verdict:
        """holds: no better than its baseline, as far as chance lets it be told; open: better, as the release says; broken."""
        if self.p is not None and self.error is not None:
            exposed = self.exposed is not None and self.exposed > 0 and self.uncovered
            return "broken" if self.p <= self.error else "open" if exposed else "holds"
        if self.low <= self.baseline:
            return "holds"
        return "open" if self.uncovered else "broken"

    @property
    def passed(self) -> bool:
        """Whether nothing is broken that was promised."""
        return self.verdict != "broken"

    @property
    def to_do(self) -> str:
        """What to do about it; nothing where it holds."""
        return self.advice if self.verdict != "holds" else ""

    @property
    def grade(self) -> Grade:
        """How bad it is on an absolute scale: by the share of people concerned. A release that is not what it says has no guarantee left."""
        if self.verdict == "broken" and self.question == "integrity":
            return "severe"
        share = self.exposed if self.exposed is not None else self.success - self.baseline
        if self.exposed is None and self.verdict == "holds":
            return "none"
        return next((grade for grade, step in zip(GRADES, STEPS, strict=False) if share <= step), "severe")

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

    @classmethod
    def of_test(
        cls,
        attack: str,
        success: float,
        baseline: float,
        log_p: float,
        error: float,
        detail: str,
        question: Question = "integrity",
        uncovered: str = "",
        exposed: float | None = None,
        advice: str = "",
    ) -> "Finding":
        """The finding of a test of a law. Its interval is as wide as that of a sum whose distance from the mean has this probability, and so leaves the baseline out where the law is broken."""
        p = math.exp(min(0.0, log_p))
        wide = abs(success - baseline) * math.sqrt(math.log(error) / min(log_p, -1e-300)) if p < 1 else 1.0
        low, high = max(0.0, success - wide), min(1.0, success + wide)
        return cls(attack, success, baseline, low, high, detail, question, uncovered, p, error, exposed, advice)

    def card(self) -> Card:
        """The verdict, the measured success beside its baseline, and what it means."""
        sentence = f"success {self.success:.1%} [{self.low:.1%}, {self.high:.1%}], baseline {self.baseline:.1%}"
        uncovered = [Note(f"the release says: {self.uncovered}", "faint")] if self.verdict == "open" else []
        advice = [Note(f"to do: {self.to_do}")] if self.to_do else []
        parts = [Note(self.detail), *uncovered, *advice]
        return Card(f"{self.verdict}  {self.attack}: {sentence}; how bad: {self.grade}", parts)

    @classmethod
    def of_facts(
        cls,
        attack: str,
        hits: int,
        targets: int,
        detail: str,
        question: Question,
        uncovered: str = "",
        advice: str = "",
    ) -> "Finding":
        """The finding for what was counted over all there is: nothing is left to chance, and one hit is one too many."""
        share = hits / targets if targets else 0.0
        return cls(attack, share, 0.0, share, share, detail, question, uncovered, advice=advice)

    def to_dict(self) -> dict[str, Any]:
        """For programs; docs/findings.schema.json says what each field is."""
        names = ("attack", "question", "success", "baseline", "low", "high", "p", "error", "verdict", "grade", "passed")
        made = {name: getattr(self, name) for name in (*names, "exposed", "uncovered", "detail")}
        return {**made, "advice": self.to_do, "measures": dict(self.measures)}


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
