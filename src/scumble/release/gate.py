"""What a manifest may not say, whoever wrote it: files outside of its folder, or roles that its form has no place for."""

import re
import stat
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from scumble.core.arrow_types import named_type
from scumble.core.combined import part_type, readable
from scumble.core.domain import Grid
from scumble.core.errors import ChangedRelease, ReleaseError, SchemaError
from scumble.core.scale import grid_of, reach_of
from scumble.forms.checks import columns_problem
from scumble.forms.files import rows_in

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest
    from scumble.release.records import ColumnRecord

AGAIN = "get the release again from its publisher"
Scalar = str | int | float | bool | None
"""What a value is in JSON."""

WHOLE = "u?int(8|16|32|64)$"
NUMBERED = {
    "stratum": WHOLE,
    "copies": WHOLE,
    "bucket": WHOLE,
    "count": WHOLE,
    "size": WHOLE,
    "weight": f"double$|{WHOLE}",
}
"""Roles whose columns have numbers, and the types of these."""

LONGEST = 255
"""Bytes of a name, at most, that file systems take."""


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
    for table in manifest.form.tables:
        if not table.files or not all(isinstance(attribute, Scalar) for attribute in table.attributes):
            raise ReleaseError(f"the manifest has a table without files, or with attributes that are none; {AGAIN}")
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


def demand_regular(folder: Path, manifest: "Manifest") -> None:
    """Every file is one, and lies where it seems to: no links, no pipes, no devices. One that is not there is found with its hash."""
    for file in manifest.files:
        path = folder / file.path
        within = [path, *(parent for parent in path.parents if parent != folder and parent.is_relative_to(folder))]
        if any(part.is_symlink() for part in within) or (path.exists() and not stat.S_ISREG(path.lstat().st_mode)):
            raise ChangedRelease(f"{file.path} of {folder.name!r} is a link, or no regular file; {AGAIN}")


def demand_described(at: Callable[[str], Path], manifest: "Manifest") -> None:
    """Every file, `at` its path, can be read and has the columns of its table; whoever asks meets no other."""
    problem = columns_problem(at, manifest)
    if problem:
        raise ChangedRelease(f"{problem}; {AGAIN}")
    for file in manifest.files:
        if file.rows is not None and (rows := rows_in(at(file.path))) != file.rows:
            raise ChangedRelease(f"{file.path} has {rows:,} rows, and {file.rows:,} in the manifest; {AGAIN}")


def demand_columns(manifest: "Manifest") -> None:
    """Columns have different names, the roles of their form, and domains of their types."""
    names = [column.name for column in manifest.columns]
    if len({name.casefold() for name in names}) != len(names):
        raise ReleaseError(f"the manifest has two columns of one name; {AGAIN}")
    allowed = manifest.form.ROLES
    roles: list[str] = [column.role for column in manifest.columns]
    if strange := next((role for role in roles if role not in allowed), None):
        raise ReleaseError(
            f"the manifest has a column of the role {strange!r}, which {manifest.form.kind} do not have; {AGAIN}"
        )
    for role, (least, most) in allowed.items():
        if not least <= roles.count(role) <= most:
            raise ReleaseError(f"the manifest has {roles.count(role)} columns of the role {role!r}; {AGAIN}")
    for column in manifest.columns:
        if not re.match(NUMBERED.get(column.role, ""), column.type):
            raise ReleaseError(f"the manifest's column {column.name!r} is a {column.role} and has no numbers; {AGAIN}")
    _demand_ends(manifest)
    _demand_domains(manifest, {column.name: column.type for column in manifest.columns})


def _demand_ends(manifest: "Manifest") -> None:
    """Each low end of a range has its high end, of the same type."""
    ends = {
        role: sorted((str(column.of), column.type) for column in manifest.columns if column.role == role)
        for role in ("low", "high")
    }
    if ends["low"] != ends["high"] or len(set(ends["low"])) != len(ends["low"]):
        raise ReleaseError(f"the manifest has a low end of a range without its high one; {AGAIN}")


def _demand_domains(manifest: "Manifest", kinds: dict[str, str]) -> None:
    own = {column.name: column.domain for column in manifest.columns if column.domain is not None}
    every = manifest.form.all_declared
    if every is not None and set(every) != set(kinds):
        raise ReleaseError(f"the manifest does not have a domain of each of its columns; {AGAIN}")
    if any(record.from_data for record in manifest.form.declared_domains.values()):
        raise ReleaseError(
            f"the manifest says that a domain was declared, and that it was taken from the data; {AGAIN}"
        )
    for name, record in {**own, **manifest.form.declared_domains}.items():
        if name not in kinds:
            raise ReleaseError(f"the manifest has a domain of {name!r}, which is not among its columns; {AGAIN}")
        try:
            domain = record.domain(kinds[name])
        except SchemaError as error:
            raise ReleaseError(f"the manifest's column {name!r}: {error}; {AGAIN}") from None
        empty = name in own and not isinstance(domain, Grid) and domain.values.null_count == domain.size
        if empty or not domain.size:
            raise ReleaseError(f"the manifest's column {name!r} has a domain without a value; {AGAIN}")


def demand_parts(manifest: "Manifest") -> None:
    """Parts have names of their own, and types that can be read from every value of the column that they make."""
    taken = {column.name.casefold() for column in manifest.columns}
    for column in manifest.columns:
        if column.parts is None:
            continue
        names = [part.name.casefold() for part in column.parts]
        listed = column.domain is None or column.domain.kind == "categories"
        wrong = column.role not in ("sensitive", "apart") or not listed or not 1 < len(names) == len(set(names))
        if wrong or taken & set(names):
            raise ReleaseError(f"the manifest's column {column.name!r} has parts that it cannot have; {AGAIN}")
        taken |= set(names)
        try:
            kinds = [part_type(named_type(part.type), part.name) for part in column.parts]
        except SchemaError as error:
            raise ReleaseError(f"the manifest's column {column.name!r}: {error}; {AGAIN}") from None
        values = column.domain.values or [] if column.domain is not None else []
        if not all(isinstance(value, str) and readable(value, kinds) for value in values):
            raise ReleaseError(f"the manifest's column {column.name!r} has a value that is none of its parts'; {AGAIN}")


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
    if column.domain is not None and column.domain.on_grid and (column.rounded or column.domain.kind != "grid"):
        raise ReleaseError(f"the manifest's column {column.name!r} is on its grid and is not, at once; {AGAIN}")
    if column.rounded is None:
        return
    domain = column.domain.domain(column.type) if column.domain is not None else None
    own = domain is not None and grid_of(domain) is not None and column.rounded == str(reach_of(domain))
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
    _demand_weights(manifest)
    if not manifest.view.row_by_row:
        return
    roles = [column.role for column in manifest.columns]
    strata = max((len(column.records) for column in manifest.columns), default=1)
    dealt = roles.count("stratum")  # a table that was dealt into one sub-table says so, too
    if dealt > 1 or (strata > 1 and not dealt):
        raise ReleaseError(f"the manifest's sub-tables are not those of its channels; {AGAIN}")


def _demand_weights(manifest: "Manifest") -> None:
    """Rows have weights where groups were sampled, or where rows of persons were drawn and answers go by weights."""
    roles = [column.role for column in manifest.columns]
    sampled = getattr(manifest.form, "sampling", None) is not None
    drawn = manifest.persons is not None and manifest.persons.answers is not None
    weights, copies = roles.count("weight"), roles.count("copies")
    if weights + copies != int(sampled) + int(drawn) or (drawn and not (weights == 1 and manifest.view.row_by_row)):
        raise ReleaseError(f"the manifest's weights are not those of its samples or of persons; {AGAIN}")
