"""Which release this page is about, to the byte, and what the verifier found."""

import scumble
from scumble.reporting.numbers import size
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject

MOST_FILES = 40


def integrity(subject: Subject) -> Section:
    """The section."""
    manifest = subject.manifest
    files = [(file.path, size(file.bytes), file.rows, file.sha256) for file in manifest.files[:MOST_FILES]]
    return Section(
        "integrity",
        "Integrity",
        {
            "checks": subject.checks,
            "passed": sum(check.passed for check in subject.checks),
            "files": files,
            "more_files": len(manifest.files) - len(files),
            "digest": manifest.digest,
            "made_by": manifest.software,
            "read_by": f"scumble {scumble.__version__}",
            "format": f"{manifest.format} {manifest.written.version}",
        },
    )
