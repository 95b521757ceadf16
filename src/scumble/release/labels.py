"""Which value each number of a channel belongs to, beside what the files themselves list.

The domain of a perturbed column is an order: the first retention, the first code, the first lot is that of its first value. Two labels
exchanged there exchange the answers about two values. A file lists the words of a text column in the order of the domain, so that another
order is found. Numbers are not listed so, and codes do not say what they stand for: there it is the publisher's word.
"""

from scumble.core.arrow_types import is_text
from scumble.core.domain import Domain
from scumble.forms.files import dictionaries
from scumble.release.check import Check, said
from scumble.release.records import ColumnRecord
from scumble.release.release import Release

CHANGED = (
    "whoever exchanges two of them exchanges the answers about two values; get the release again from its publisher"
)
CODES = (
    "which value each of its codes belongs to; codes do not say it, and a manifest with other labels would look the same: "
    "a signature binds it to who made it"
)
NUMBERS = (
    "which of its values each retention belongs to; the files do not list them in that order, and a manifest with another would look the same: "
    "a signature binds it to who made it"
)


def label_checks(release: Release) -> list[Check]:
    """A line for each perturbed column whose values are not alike for its channel, or whose order the files show."""
    return [
        line
        for record in release.manifest.columns
        for line in _of_column(release, record)
        if record.role == "sensitive"
    ]


def _of_column(release: Release, record: ColumnRecord) -> list[Check]:
    if record.domain is None or not record.records:
        return []
    what = f"values of {record.name}"
    if record.records[0].coded is not None:
        return [said(what, CODES)]
    listed = _listed(release, record.name) if is_text(release.shown[record.name].type) else []
    if listed:
        return [_compared(what, release.shown[record.name], listed)]
    return [said(what, NUMBERS)] if _told_apart(record, release) else []


def _listed(release: Release, name: str) -> list[list[str | None]]:
    """The words of a column as each row group of each file lists them, where files have them in the order of the domain."""
    manifest = release.manifest
    if not manifest.form.WORDS_IN_ORDER or manifest.written.version != manifest.version:
        return []
    return [words for path in release.manifest.data for words in dictionaries(release.file(path), name)]


def _compared(what: str, domain: Domain, listed: list[list[str | None]]) -> Check:
    words = domain.values.fill_null("").to_pylist()
    other = next((each for each in listed if each != words), None)
    if other is None:
        return Check(what, True, "the files list them in the order of the manifest")
    culprit = next((word for word, ours in zip(other, words, strict=False) if word != ours), None)
    where = "another number of them" if culprit is None else f"{culprit!r} at another place"
    return Check(what, False, f"the files list {where} than the domain of the manifest; {CHANGED}")


def _told_apart(record: ColumnRecord, release: Release) -> bool:
    """Whether the channel has numbers of its own for some values; where all are alike, their order changes nothing, and a grid has only one."""
    if record.domain is None or record.domain.kind == "grid":
        return False
    return len(record.records) > 1 or not all(stratum[record.name].alike for stratum in release.strata)
