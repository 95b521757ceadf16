"""Which release this page is about, to the byte, and what the verifier found."""

import scumble
from scumble.release.release import Release
from scumble.reporting.numbers import size
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject

MOST_FILES = 40


def integrity(subject: Subject) -> Section:
    """The section."""
    listed = [(_path(subject, part, file.path), file) for part in subject.parts for file in part.manifest.files]
    files = [(path, size(file.bytes), file.rows, file.sha256) for path, file in listed[:MOST_FILES]]
    manifests = [part.manifest for part in subject.parts]
    return Section(
        "integrity",
        "Integrity",
        {
            "checks": subject.checks,
            "passed": sum(check.passed for check in subject.checks),
            "said": sum(check.standing == "word" for check in subject.checks),
            "files": files,
            "more_files": len(listed) - len(files),
            "digests": [manifest.digest for manifest in manifests],
            "made_by": ", ".join(dict.fromkeys(manifest.software for manifest in manifests)),
            "read_by": f"scumble {scumble.__version__}",
            "format": ", ".join(dict.fromkeys(f"{m.format} {m.written.version}" for m in manifests)),
        },
    )


def _path(subject: Subject, part: Release, path: str) -> str:
    return f"{part.path.name}/{path}" if subject.release.parts else path
