"""The end of the printed page: what was decided, by whom, about exactly which release."""

from scumble.release.signing import signatures
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject


def signature(subject: Subject) -> Section:
    """The section."""
    held = [signature for part in subject.parts for signature in signatures(part)]
    signed = [signature.statement for signature in held if not signature.problem]
    broken = [signature.name for signature in held if signature.problem]
    releases = [(part.path.name, part.manifest.digest) for part in subject.parts]
    return Section("signature", "Decision", {"releases": releases, "signed": signed, "broken": broken})
