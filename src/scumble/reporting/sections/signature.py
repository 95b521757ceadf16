"""The end of the printed page: what was decided, by whom, about exactly which release."""

from scumble.release.signing import signatures
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject


def signature(subject: Subject) -> Section:
    """The section."""
    signed = [signature.statement for signature in signatures(subject.release) if not signature.problem]
    broken = [signature.name for signature in signatures(subject.release) if signature.problem]
    facts = {"digest": subject.manifest.digest, "name": subject.release.path.name, "signed": signed, "broken": broken}
    return Section("signature", "Decision", facts)
