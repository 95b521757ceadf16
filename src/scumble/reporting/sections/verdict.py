"""What a release comes to on a scale that no publisher chose: how far a belief can move, how many people can be found, and what public columns tell.

A guarantee that holds may still be a weak one. The words below depend on the numbers alone, never on what was declared.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from scumble.core.parameters import plain
from scumble.privacy.guarantee import Guarantee
from scumble.publishing.dependence import Dependence
from scumble.reporting.figure import text
from scumble.reporting.numbers import at_most_share, share, whole
from scumble.reporting.promises import OWN, belief, whose
from scumble.reporting.subject import Subject

EVEN = 0.5
"""The belief from which the scale is read: as good as a coin."""

LEARNT = ([0.6, 0.75, 0.9], ["little", "some", "much", "nearly all"])
"""What an even belief can become, up to each of these, and the word for it; the last is for more."""

FOUND = ([0.01, 0.1, 0.5], ["few", "some", "many", "most"])
"""The share of rows that are alone, below each of these, and the word for it; the last is for more."""

TOLD = ([0.1, 0.25, 0.5], ["little", "some", "much", "nearly all"])
"""Of the guesses that are wrong without public columns, the share that these put right, up to each; the last is for more."""

TONES = ("calm", "watch", "grave", "severe")
"""How a page looks by the gravest of its judgements. Nothing on a grave or severe page is green."""

UNBOUND = "no bound"


@dataclass(frozen=True)
class Judgement:
    """One question of the verdict: its number, the word for it, and both in a sentence."""

    question: str
    figure: str
    word: str
    sentence: str
    gravity: int
    """From 0, nothing to object to, to 3."""


@dataclass(frozen=True)
class Opinion:
    """All of them, and what they come to."""

    sentence: str
    lines: list[Judgement]
    broken: bool

    @property
    def tone(self) -> str:
        """The look of the page."""
        return TONES[3 if self.broken else max(line.gravity for line in self.lines)]


def verdict(subject: Subject) -> Opinion:
    """The first is always there; rows that are alone where rows are published, public columns where the raw table is given."""
    lines = [learnt(subject.terms.guarantees, public=subject.beside_public)]
    if subject.alone is not None:
        lines.append(found(subject.alone, subject.manifest.rows))
    if subject.dependences:
        lines.append(told(subject.dependences))
    broken = any(not check.passed for check in subject.checks) or any(not f.passed for f in subject.findings)
    return Opinion(_together(lines, subject.alone is not None), lines, broken)


def _together(lines: Sequence[Judgement], rows: bool) -> str:
    """Belief and number of persons in one sentence."""
    first = lines[0]
    of = first.question.rsplit(" ", 1)[-1]
    begin = (
        f"No bound holds for what everybody can learn of a {of}"
        if first.word == UNBOUND
        else f"{first.word.capitalize()} can be learnt of a {of}"
    )
    if not rows:
        return f"{begin}."
    second = lines[1]
    amount = "nobody" if second.word == "nobody" else f"{second.word} of the rows"
    return f"{begin}, and {amount} can be found by public columns."


def learnt(guarantees: Sequence[Guarantee], *, public: bool) -> Judgement:
    """How far a belief can move; `public` where public columns stand beside what was perturbed, and tell what they tell."""
    question = f"What can be learnt of a {whose(guarantees[0]) if guarantees else 'person'}"
    known = belief(guarantees)
    if known is None:
        return _unbound(question, guarantees)
    limits, words = LEARNT
    most = known.bound(EVEN)
    beyond = ", beyond what public columns tell" if public else ""
    held = f", for {OWN}" if known.own else ""
    save = f", save with probability {plain(known.save)}" if known.save else ""
    sentence = f"A belief of 50% ({known.about}) can become {at_most_share(most)} at most{beyond}{held}{save}."
    level = bisect_left(limits, most - 1e-12)
    return Judgement(question, f"50% → {at_most_share(most)}", words[level], sentence, level)


def _unbound(question: str, guarantees: Sequence[Guarantee]) -> Judgement:
    """Where every attacker has no bound: what some have is named, and is not nothing."""
    sentence = "No guarantee bounds what every attacker can come to believe of a person."
    given = {name: value for guarantee in guarantees for name, value in guarantee.parameters.items()}
    if "largest_posterior" in given:
        sentence += f" For {OWN} it is {at_most_share(given['largest_posterior'])} at most."
    elif "l" in given:
        sentence += (
            f" For whoever knows nothing of the others in a bucket it is {at_most_share(1 / given['l'])} at most."
        )
    elif "k" in given:
        sentence += f" What is published stands for {given['k']:g} rows or more."
    return Judgement(question, UNBOUND, UNBOUND, sentence, 2 if guarantees else 3)


def found(alone: int, rows: int) -> Judgement:
    """How many rows are alone."""
    question = "How many can be found"
    if not alone:
        return Judgement(question, "0%", "nobody", "No row is alone with the values of its public columns.", 0)
    limits, words = FOUND
    level = bisect_right(limits, alone / rows)
    sentence = (
        f"{whole(alone)} of {whole(rows)} rows are alone with the values of their public columns: whoever knows those of "
        "a person finds the row."
    )
    return Judgement(question, share(alone / rows), words[level], sentence, max(1, level))


def told(dependences: Sequence[Dependence]) -> Judgement:
    """The sensitive column that public ones tell most of, whatever the coins do."""
    limits, words = TOLD
    worst = max(dependences, key=gained)
    level = bisect_left(limits, gained(worst) - 1e-12)
    by = " and ".join(map(text, worst.by)) or "none of them"
    sentence = (
        f"Whoever guesses {text(worst.column)} by {by} is right for {share(worst.right)} of the rows, and for "
        f"{share(worst.without)} without public columns. No coin hides this."
        if worst.by
        else f"Public columns do not help to guess {text(worst.column)}, nor any other sensitive column."
    )
    return Judgement("What public columns tell", share(worst.right), words[level], sentence, level)


def gained(one: Dependence) -> float:
    """Of the guesses that are wrong without public columns, the share that these put right.

    >>> gained(Dependence("income", ("job",), 0.85, 0.75, False, 100))
    0.4
    """
    return round(max(0.0, one.right - one.without) / (1 - one.without), 12) if one.without < 1 else 0.0
