"""Numbers that were put on a grid before publishing. How far they were moved follows from their type and their step: it is derived, never read.

Three things do not follow. That every number was a point already (`on_grid`) is the publisher's word. So is what was done to a number whose domain
is not in the release. And a release of version 1 does not tell its rounding, so that its intervals do not count it.
"""

from scumble.core.arrow_types import is_number, named_type
from scumble.core.domain import Domain
from scumble.core.scale import reach_of
from scumble.release.check import Check, caution, said
from scumble.release.manifest import Manifest
from scumble.release.records import ColumnRecord

WITHOUT_DOMAIN = ("counted", "tuple", "apart")
"""Roles of columns whose numbers may have been rounded to a domain that the release does not have."""


def rounding_of(column: ColumnRecord, domain: Domain | None) -> str | None:
    """How far the numbers of a column were moved at most, as decimal text; none where nothing was, or where it has no numbers."""
    coded = column.domain is not None and column.domain.type is not None
    if domain is None or not (coded or column.type == str(domain.type)) or not is_number(domain.type):
        return None
    return str(reach_of(domain)) if reach_of(domain) else None


def rounding_problems(manifest: Manifest) -> list[str]:
    """Where the manifest says something else of a rounding than what follows; version 1 had no word for it."""
    return [] if manifest.written.version == 1 else [check.detail for check in _derived(manifest) if not check.passed]


def rounding_checks(manifest: Manifest) -> list[Check]:
    """A line for each column whose numbers may have been rounded."""
    return [*_derived(manifest), *(_word(column) for column in manifest.columns if _unknown(manifest, column))]


def _derived(manifest: Manifest) -> list[Check]:
    return [check for column in manifest.columns for check in _of_column(manifest, column)]


def _of_column(manifest: Manifest, column: ColumnRecord) -> list[Check]:
    record = column.domain or manifest.form.declared_domains.get(column.of or column.name)
    follows = rounding_of(column, record.domain(column.type)) if record is not None else None
    if record is None or (follows is None and column.rounded is None):
        return []
    what = f"rounding of {column.name}"
    if record.on_grid and column.rounded is None:  # else it contradicts itself
        return [said(what, "every number of the table was a point of its grid, and none was moved")]
    if column.rounded is None and manifest.written.version == 1:
        return [caution(what, f"{_moved(follows)}, which releases of version 1 do not tell and intervals do not count")]
    if column.rounded != follows:
        grid = f"by its grid {_moved(follows)}"
        return [Check(what, False, f"{column.name}: by the manifest {_moved(column.rounded)}, and {grid}")]
    return [Check(what, True, f"{_moved(follows)}, which intervals count")]


def _moved(reach: str | None) -> str:
    return "no numbers were moved" if reach is None else f"numbers were moved by up to {reach} either way"


def _unknown(manifest: Manifest, column: ColumnRecord) -> bool:
    """Whether the release has no domain from which it would follow."""
    known = column.name in manifest.form.declared_domains
    return column.role in WITHOUT_DOMAIN and not known and is_number(named_type(column.type))


def _word(column: ColumnRecord) -> Check:
    return said(f"rounding of {column.name}", f"{_moved(column.rounded)} before they were counted")
