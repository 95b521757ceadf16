"""What of a release is its publisher's word: numbers that somebody chose, and facts that leave no trace in what was published.

It is said, so that nobody takes for derived what is not; who stands by it is what a signature is for. What cannot be shown can fail in one
way: where nobody says it.
"""

from scumble.mechanisms import find_mechanism
from scumble.mechanisms.facts import Terms
from scumble.privacy.guarantee import Guarantee
from scumble.release.check import Check, caution, said
from scumble.release.manifest import Manifest

CHOSEN = ("rho1", "rho2", "theta", "protected", "sets", "beside")
"""Numbers of guarantees that follow from nothing: that they hold is derived, that they were chosen without looking at the table is not."""

OLD = (
    "the manifest is of version 1, which says nothing of persons, of rounding and of keys, and whose sentences were not read. What is said to hold was "
    "derived; a newer manifest that somebody rewrote as an older one looks the same"
)
ACCEPT = "If you know that the release is that old, say so: --version-1 (version_1=True)"
NOTHING = "none follows: no bound was asked for, or somebody took out what was; whoever knows a row's published value may know the true one"
UNSAID = (
    "the manifest does not say how many rows a person has, so that nobody knows what a person is promised; every manifest of this version says it, "
    "and somebody took it out; get the release again from its publisher"
)
UNKNOWN = "the manifest is of before it said how many rows a person has; a guarantee holds for one row, and for a person who has no more"


def persons_word(manifest: Manifest) -> Check:
    """How many rows a person has: no release shows whose its rows are."""
    if manifest.persons is not None:
        return said("persons", manifest.persons.word)
    return caution("persons", UNKNOWN) if manifest.written.version == 1 else Check("persons", False, UNSAID)


def version_checks(manifest: Manifest, accepted: bool) -> list[Check]:
    """A manifest that says less than a newer one fails, unless the reader knows that it is old: a forger would choose the version that says least."""
    if manifest.written.version == manifest.version:
        return []
    return [caution("version", OLD) if accepted else Check("version", False, f"{OLD}. {ACCEPT}")]


def word_checks(manifest: Manifest, terms: Terms | None) -> list[Check]:
    """What is said and cannot be shown, a line each; without terms nothing follows, and their numbers are not looked at."""
    lines = [persons_word(manifest)]
    if terms is not None:
        lines += [] if terms.guarantees else [caution("no guarantee", NOTHING)]
        lines += [
            said("chosen numbers", sentence) for sentence in dict.fromkeys(map(_chosen, terms.guarantees)) if sentence
        ]
    lines += [said("domain", _domain(names)) for names in [_declared(manifest)] if names]
    return [*lines, *(said("form", sentence) for sentence in manifest.form.on_word)]


def coins_word(manifest: Manifest) -> list[Check]:
    """That coins were secret, and came from a key where they are said to; a mechanism without coins needs none."""
    if find_mechanism(manifest.mechanism).traits.deterministic:
        return [Check("coins", True, "there are none to be secret: the same table is always published alike")]
    sentence = (
        f"they were drawn from: {manifest.randomness.source}; a seed that is kept quiet leaves no trace in a release"
    )
    return [said("coins", sentence), *([said("keyed coins", _keyed(manifest))] if manifest.randomness.keyed else [])]


KEYED = (
    "the coins are a function of a key, so that a person who is published again with the same value and retentions gets the same ones; without the key "
    "nobody can tell them from fresh coins"
)
ATTRIBUTES = "nor that they belong to {names}{stages}; who has the key checks that: verify --key"
STAGES = ", nor how a retention is divided between the memoised response and the fresh one"


def _keyed(manifest: Manifest) -> str:
    streams = manifest.randomness.streams or []
    if not streams:
        return KEYED
    names = ", ".join(f"{stream.attribute!r} ({stream.column})" for stream in streams)
    staged = any(getattr(record, "stages", None) is not None for c in manifest.columns for record in c.records)
    return f"{KEYED}, {ATTRIBUTES.format(names=names, stages=STAGES if staged else '')}"


def _chosen(guarantee: Guarantee) -> str:
    given = [f"{name} = {guarantee.parameters[name]:.6g}" for name in CHOSEN if name in guarantee.parameters]
    about = " and ".join(guarantee.columns)
    return f"{', '.join(given)} for {about}; that the guarantee holds for them was derived" if given else ""


def _declared(manifest: Manifest) -> list[str]:
    return [c.name for c in manifest.columns if c.domain is not None and not c.domain.from_data]


def _domain(names: list[str]) -> str:
    return f"the values that {', '.join(names)} can have were declared, and not taken from the data"
