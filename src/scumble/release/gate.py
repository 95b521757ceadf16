"""What a manifest may not say, whoever wrote it: files outside of its folder, or roles that its form has no place for."""

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from scumble.core.domain import Grid
from scumble.core.errors import ReleaseError

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest
    from scumble.release.records import ColumnRecord

AGAIN = "get the release again from its publisher"
Scalar = str | int | float | bool | None
"""What a value is in JSON."""

LONGEST = 255
"""Bytes of a name, at most, that file systems take."""

OF_ROWS = ("public", "sensitive", "stratum", "weight", "copies")
"""The roles of columns where every published row is one of the table."""


def demand_files(manifest: "Manifest") -> None:
    """Every file lies inside of the folder and is listed once; what the form reads is among the files that are hashed."""
    paths = [file.path for file in manifest.files]
    for path in paths:
        if not _inside(path):
            raise ReleaseError(
                f"the manifest names the file {path[:80]!r}, which is no file inside of its folder; {AGAIN}"
            )
    if len(set(paths)) != len(paths):
        raise ReleaseError(f"the manifest lists a file twice; {AGAIN}")
    if not manifest.data:
        raise ReleaseError(f"the manifest lists no file with rows; {AGAIN}")
    read = [path for table in manifest.form.tables for path in table.files]
    if astray := sorted(set(read) - set(manifest.data)):
        raise ReleaseError(
            f"the manifest has a table in {astray[0][:80]!r}, which is not among its hashed files; {AGAIN}"
        )


def _inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    plain = path.isprintable() and "\\" not in path and ":" not in path
    short = all(len(part.encode("utf-8", "replace")) <= LONGEST for part in parts) and len(path) <= 4 * LONGEST
    return bool(parts) and plain and short and not path.startswith("/") and ".." not in parts


def demand_recoding(manifest: "Manifest") -> None:
    """A rule to make a column coarser is in the manifest itself, never in a file; values are put together where groups were sampled."""
    sampled = getattr(manifest.form, "sampling", None) is not None
    for column in manifest.columns:
        if column.coarsened is not None and column.coarsened.hierarchy is not None:
            raise ReleaseError(f"the manifest's column {column.name!r} names a file of a hierarchy; {AGAIN}")
        if column.merged is not None and not (sampled and column.role == "public"):
            raise ReleaseError(
                f"the manifest's column {column.name!r} has merged values, which it cannot have; {AGAIN}"
            )
        _demand_rounding(column)
        for record in column.merged or ():
            if not all(isinstance(value, Scalar) for value in (record.published, *record.values)):
                raise ReleaseError(f"the manifest's column {column.name!r} has merged values that are none; {AGAIN}")


def _demand_rounding(column: "ColumnRecord") -> None:
    """Numbers are rounded to a grid, by half of its step at most; a claim of less would make intervals too short."""
    if column.rounded is None:
        return
    domain = column.domain.domain(column.type) if column.domain is not None else None
    own = isinstance(domain, Grid) and column.rounded == str(domain.reach)
    counted = column.role in ("counted", "tuple", "apart") and domain is None and _positive(column.rounded)
    if not own and not counted:
        raise ReleaseError(
            f"the manifest's column {column.name!r} was rounded by {column.rounded[:40]!r}, which its grid does not do; {AGAIN}"
        )


def _positive(text: str) -> bool:
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False


def demand_roles(manifest: "Manifest") -> None:
    """A perturbed column has a domain and a channel, no other column has; of rows, weights go with samples and sub-tables with their channels."""
    for column in manifest.columns:
        perturbed = column.role == "sensitive"
        if perturbed != bool(column.records) or (perturbed and column.domain is None):
            raise ReleaseError(f"the manifest's column {column.name!r} is {column.role} and has other parts; {AGAIN}")
    if not manifest.view.row_by_row:
        return
    roles = [column.role for column in manifest.columns]
    if strange := next((role for role in roles if role not in OF_ROWS), None):
        raise ReleaseError(f"the manifest has a column of the role {strange!r}, which rows do not have; {AGAIN}")
    strata = max((len(column.records) for column in manifest.columns), default=1)
    sampled = getattr(manifest.form, "sampling", None) is not None
    dealt = roles.count("stratum")  # a table that was dealt into one sub-table says so, too
    if dealt > 1 or (strata > 1 and not dealt) or (roles.count("weight") + roles.count("copies")) != int(sampled):
        raise ReleaseError(f"the manifest's sub-tables or weights are not those of its channels and samples; {AGAIN}")
