"""One thing that was looked at in a release, and on what its outcome stands."""

from dataclasses import dataclass
from typing import Literal

Standing = Literal["derived", "word", "caution"]
"""Computed from the release; the publisher's word, which nobody can compute; or nothing wrong, and still to be known."""


@dataclass(frozen=True)
class Check:
    """What was looked at, whether it is in order, and what there is to know."""

    name: str
    passed: bool
    detail: str
    standing: Standing = "derived"

    @property
    def mark(self) -> str:
        """In four letters."""
        if not self.passed:
            return "FAIL"
        return {"derived": "ok  ", "word": "SAID", "caution": "WARN"}[self.standing]


def said(name: str, detail: str) -> Check:
    """What the publisher says, and a release cannot show."""
    return Check(name, True, f"the publisher's word: {detail}", "word")


def caution(name: str, detail: str) -> Check:
    """Something that is no failure, and that nobody should read over."""
    return Check(name, True, detail, "caution")
