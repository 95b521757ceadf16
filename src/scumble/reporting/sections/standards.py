"""The release in the words of NIST SP 800-226 and ISO/IEC 20889."""

import math

from scumble.core.parameters import plain
from scumble.mechanisms import find_mechanism
from scumble.mechanisms.mechanism import Traits
from scumble.mechanisms.words import COLLECTED
from scumble.release.records import DEVICES
from scumble.reporting.numbers import up
from scumble.reporting.promises import AMPLIFICATIONS, belief
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject

NIST, ISO = "NIST SP 800-226", "ISO/IEC 20889"

GENERALIZED = {
    "bins": "rounding down to bins",
    "edges": "ranges between fixed edges, with top and bottom coding",
    "prefix": "the first characters only",
    "date": "dates rounded down",
    "groups": "groups of values",
}


def standards(subject: Subject) -> Section:
    """The section: a term, the standard it is from, and what it is here."""
    manifest = subject.manifest
    said, collected = subject.words, manifest.randomness.source == DEVICES
    lines = [
        ("Unit of privacy", NIST, list(dict.fromkeys(words.unit for words in said))),
        ("Trust model", NIST, [COLLECTED] if collected else list(dict.fromkeys(words.trust for words in said))),
        ("Privacy parameters", NIST, [_parameters(subject)]),
        ("Composition", NIST, [_composition(find_mechanism(manifest.mechanism).traits, manifest.randomness.keyed)]),
        ("Techniques", ISO, [*dict.fromkeys(t for words in said for t in words.techniques), *_generalized(subject)]),
        ("Formal model", ISO, [_model(subject)]),
        ("Attributes", ISO, _attributes(subject)),
    ]
    return Section("standards", "In the words of the standards", {"lines": lines})


def _parameters(subject: Subject) -> str:
    parameters = belief(subject.terms.guarantees)
    if parameters is None or parameters.factor is None:
        return "No ε is claimed: the guarantee is of another kind, stated above."
    delta = f"δ = {plain(parameters.save)}" if parameters.save else "δ = 0"
    return f'ε = {up(math.log(parameters.factor))}, {delta}. Smaller is more private; "What the number means" works it out.'


def _composition(traits: Traits, keyed: bool) -> str:
    if traits.deterministic:
        return "No coins were drawn, and no bound is stated for several releases of the same people together."
    if keyed:
        return (
            "Coins are a keyed function of the person and the value: publishing the same people again with the same domain and retention tells "
            "nothing more. Any other release of the same people adds to the privacy loss."
        )
    return "Coins were drawn once. Another release of the same people with fresh coins adds its own privacy loss to this one."


def _generalized(subject: Subject) -> list[str]:
    ways = {
        way: [
            c.name for c in subject.manifest.columns if c.coarsened and way in c.coarsened.model_dump(exclude_none=True)
        ]
        for way in GENERALIZED
    }
    sentences = [f"Generalization: {', '.join(names)} by {GENERALIZED[way]}." for way, names in ways.items() if names]
    merged = [c.name for c in subject.manifest.columns if c.merged]
    return sentences + ([f"Generalization: {', '.join(merged)} by putting values together."] if merged else [])


def _model(subject: Subject) -> str:
    guarantees = subject.terms.guarantees
    if not guarantees:
        return "No model of the standard: no bound holds for this release."
    model, kinds = find_mechanism(subject.manifest.mechanism).words.model, {g.kind for g in guarantees}
    if "value_odds" in kinds and not kinds & set(AMPLIFICATIONS):
        return "No model of the standard: the bound is on the odds of single values."
    given = ", given parameters that were computed from the data" if subject.terms.depends_on_data else ""
    return f"{model}{given}."


def _attributes(subject: Subject) -> list[str]:
    manifest = subject.manifest
    lines = [
        ("Quasi-identifiers, as far as others know them", manifest.public),
        ("Sensitive attributes", [c.name for c in manifest.columns if c.role in ("sensitive", "apart", "tuple")]),
        ("Not told apart, protected alike", [c.name for c in manifest.columns if c.role == "counted"]),
    ]
    said = [f"{what}: {', '.join(names[:20])}{', ...' if len(names) > 20 else ''}." for what, names in lines if names]
    return [
        *said,
        "Direct identifiers: columns of that role are never published; a column that is not listed is not in the release.",
    ]
