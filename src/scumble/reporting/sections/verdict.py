"""What a release comes to on a scale that no publisher chose: how far a belief can move, and how many people can be found.

A guarantee that holds may still be a weak one. The words below depend on the numbers alone, never on what was declared.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from scumble.core.parameters import plain
from scumble.privacy.guarantee import Guarantee
from scumble.reporting.numbers import at_most_share, whole
from scumble.reporting.promises import OWN, belief
from scumble.reporting.subject import Subject

EVEN = 0.5
"""The belief from which the scale is read: as good as a coin."""

LEARNT = ([0.6, 0.75, 0.9], ["little", "some", "much", "nearly all"])
"""What an even belief can become, up to each of these, and the word for it; the last is for more."""

FOUND = ([0.01, 0.1, 0.5], ["few", "some", "many", "most"])
"""The share of rows that are alone, below each of these, and the word for it; the last is for more."""


@dataclass(frozen=True)
class Judgement:
    """One question of the verdict."""

    question: str
    word: str
    sentence: str


def verdict(subject: Subject) -> list[Judgement]:
    """Both questions; the second where rows are published one by one."""
    lines = [learnt(subject.terms.guarantees, public=bool(subject.manifest.sensitive))]
    return lines if subject.alone is None else [*lines, found(subject.alone, subject.manifest.rows)]


def learnt(guarantees: Sequence[Guarantee], *, public: bool) -> Judgement:
    """How far a belief can move; `public` where public columns stand beside what was perturbed, and tell what they tell."""
    question, known = "What can be learnt of a person", belief(guarantees)
    if known is None:
        return Judgement(
            question, "no bound", "No guarantee bounds what every attacker can come to believe of a person."
        )
    limits, words = LEARNT
    most = known.bound(EVEN)
    beyond = ", beyond what public columns tell" if public else ""
    held = f", for {OWN}" if known.own else ""
    save = f", save with probability {plain(known.save)}" if known.save else ""
    sentence = f"A belief of 50% ({known.about}) can become {at_most_share(most)} at most{beyond}{held}{save}."
    return Judgement(question, words[bisect_left(limits, most - 1e-12)], sentence)


def found(alone: int, rows: int) -> Judgement:
    """How many rows are alone."""
    question = "How many can be found"
    if not alone:
        return Judgement(question, "nobody", "No row is alone with the values of its public columns.")
    limits, words = FOUND
    sentence = (
        f"{whole(alone)} of {whole(rows)} rows are alone with the values of their public columns: whoever knows those of "
        "a person finds the row."
    )
    return Judgement(question, words[bisect_right(limits, alone / rows)], sentence)
