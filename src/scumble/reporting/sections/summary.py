"""The first page: what a data-protection officer reads before signing."""

import math
from dataclasses import dataclass

from scumble.core.parameters import plain
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.mechanism import Traits
from scumble.reporting.numbers import share, up, whole
from scumble.reporting.promises import OWN, belief, example, headline
from scumble.reporting.section import Section
from scumble.reporting.sections.questions import answered, integrity_answer
from scumble.reporting.subject import Subject


@dataclass(frozen=True)
class Tile:
    """A number with its name above and its meaning below."""

    name: str
    value: str
    meaning: str


def summary(subject: Subject) -> Section:
    """The section."""
    manifest = subject.manifest
    return Section(
        "summary",
        "In short",
        {
            "headline": headline(subject.terms.guarantees, public=subject.beside_public),
            "tiles": tiles(subject),
            "answers": answered(subject),
            "integrity": integrity_answer(subject),
            "broken": [f for f in subject.findings if not f.passed],
            "secure": manifest.randomness.secure,
            "decide": _decide(subject),
        },
    )


def tiles(subject: Subject) -> list[Tile]:
    """The numbers of the release, each with its meaning."""
    manifest = subject.manifest
    perturbed = len(manifest.sensitive)
    columns = f"{len(manifest.columns)} columns" + (f", {perturbed} of them perturbed" if perturbed else "")
    cards = [Tile("Rows published", whole(manifest.rows), columns)]
    known = belief(subject.terms.guarantees)
    if known is not None and known.factor is not None:
        save = f", δ = {plain(known.save)}" if known.save else ""
        cards.append(
            Tile(
                "Odds change at most",
                f"× {up(known.factor)}",
                f"by what is published (ε = {up(math.log(known.factor))}{save})",
            )
        )
    pair = example(subject.terms.guarantees, known)
    if pair is not None:
        meaning = (
            "before and after seeing a row, at most"
            if manifest.sensitive
            else "before and after seeing the release, at most"
        )
        meaning += f", for {OWN}" if known is not None and known.own else ""
        cards.append(Tile("A belief can become", f"{pair[0]} → {pair[1]}", meaning))
    parameters = {k: v for g in subject.terms.guarantees for k, v in g.parameters.items()}
    if "k" in parameters and not manifest.view.row_by_row:
        cards.append(
            Tile("Smallest crowd", f"{parameters['k']:g} rows", "behind every published combination of values")
        )
    if "l" in parameters:
        cards.append(Tile("Largest share in a bucket", f"1/{parameters['l']:g}", "of any one sensitive value"))
    if "largest_posterior" in parameters and known is None:
        cards.append(
            Tile(
                "Largest belief",
                share(parameters["largest_posterior"]),
                "in a value, for whoever believes the table's own shares",
            )
        )
    return cards


def _again(traits: Traits) -> str:
    if traits.keyed_coins:
        return "Then with a key, or this privacy loss is added to the next one."
    if traits.deterministic:
        return "No promise of one release covers what two of them tell together of those who came or left between them."
    return "This mechanism takes no key, so the privacy loss of each release is added to this one."


def _decide(subject: Subject) -> list[str]:
    """What no computation can decide."""
    manifest = subject.manifest
    decisions = []
    if not subject.terms.guarantees:
        decisions.append("No bound holds for this release: is it published to people who are trusted anyway?")
    if subject.alone:
        decisions.append(
            f"{share(subject.alone / manifest.rows)} of the rows can be recognised by whoever knows their public values. May it be known that these people are in the table, and do the public columns "
            "tell nothing that must stay hidden?"
        )
    if subject.beside_public and not subject.dependences:
        decisions.append(
            "How much do public columns tell of the sensitive ones, whatever the coins do? The internal edition measures it."
        )
    if subject.terms.depends_on_data:
        decisions.append(
            "Some parameters were computed from the data and are public; what they tell is listed. Is that acceptable?"
        )
    if not manifest.randomness.keyed:
        decisions.append(
            f"Will the same people be published again? {_again(find_mechanism(manifest.mechanism).traits)}"
        )
    decisions += _persons(subject)
    return decisions


def _persons(subject: Subject) -> list[str]:
    """What is open about the rows that a person has."""
    record = subject.manifest.persons
    if record is None or record.how == "unanswered":
        return ["Is each person one row? Nobody answered. Otherwise the guarantee is per row, and weaker per person."]
    if record.how == "stated":
        return ["The publisher says that each person is one row, and nobody counted. Is that so?"]
    if record.most > 1:
        return [
            f"A person has up to {record.most:,} rows. Is what is promised of all of them together enough? Answers are for {record.answers_for}."
        ]
    return []
