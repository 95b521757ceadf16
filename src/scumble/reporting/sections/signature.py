"""The end of the printed page: what was decided, by whom, about exactly which release."""

from scumble.reporting.section import Section
from scumble.reporting.subject import Subject


def signature(subject: Subject) -> Section:
    """The section."""
    return Section("signature", "Decision", {"digest": subject.manifest.digest, "name": subject.release.path.name})
