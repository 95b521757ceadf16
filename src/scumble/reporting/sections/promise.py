"""What is guaranteed: each guarantee with its parameters and conditions, recomputed, and what is not covered."""

from dataclasses import dataclass

from scumble.mechanisms import find_mechanism
from scumble.privacy.guarantee import Clause
from scumble.privacy.words import heading, text
from scumble.release.manifest import Manifest
from scumble.reporting.promises import Parameter, parameters, says_nothing, sentence
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject


@dataclass(frozen=True)
class Promise:
    """A guarantee as it stands on the page."""

    plain: str
    statement: str
    parameters: list[Parameter]
    holds: bool


def promise(subject: Subject) -> Section:
    """The section; a condition that all guarantees share stands once."""
    terms, manifest = subject.terms, subject.manifest
    outcomes = [check.passed for check in subject.checks if check.name == "guarantee"]
    judged = list(zip(terms.guarantees, outcomes, strict=False))  # claims that nothing founds come after them
    shown = [(g, holds) for g, holds in judged if not (holds and says_nothing(g))]
    return Section(
        "promise",
        "What is guaranteed, and what is not",
        {
            "promises": [
                Promise(sentence(g, public=subject.beside_public), g.statement, parameters(g), holds)
                for g, holds in shown
            ],
            "weaker": len(judged) - len(shown),
            "conditions": list(dict.fromkeys(c.sentence for g, _ in shown for c in g.conditions)),
            "not_covered": [_headed(clause) for clause in terms.not_covered],
            "depends": [clause.sentence for clause in terms.depends_on_data],
            "coins": _coins(manifest),
        },
    )


def _coins(manifest: Manifest) -> str:
    """Where chance came from, and what it decided."""
    if find_mechanism(manifest.mechanism).traits.deterministic:
        order = ", save for the order of its rows" if manifest.order == "shuffled" else ""
        return f"No coin was flipped: the same table gives the same release by these rules{order}."
    keyed = "keyed, so that the same person with the same value keeps the same published value"
    return f"Coins: {manifest.randomness.source}; {keyed if manifest.randomness.keyed else 'drawn once, for this release'}."


def _headed(clause: Clause) -> tuple[str, str]:
    """Its heading, and its sentence; the sentence alone where it has none."""
    head, body = heading(clause.code), text(clause.code, clause.parameters)
    return (head, body[:1].upper() + body[1:]) if head else ("", body)
