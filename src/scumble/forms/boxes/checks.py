"""What boxes can be held to: their columns, and that each stands for k rows or more."""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from scumble.forms.boxes.record import BoxesRecord
from scumble.forms.checks import columns_check
from scumble.forms.files import table_of
from scumble.forms.form import Check

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def checks(folder: Path, manifest: "Manifest") -> list[Check]:
    """Name, outcome and detail of each check."""
    record = manifest.form
    assert isinstance(record, BoxesRecord)
    return [columns_check(folder, manifest), _groups(folder, manifest, record)]


def _groups(folder: Path, manifest: "Manifest", record: BoxesRecord) -> Check:
    """Each box stands for k rows or more, and its ends are in order."""
    table = table_of([folder / path for path in manifest.data])
    least = pc.min(table.column(str(manifest.role("size")))).as_py()
    if least is None or least < record.k:
        return "groups", False, f"a group has {least or 'no'} rows, below k = {record.k}"
    for column in manifest.columns:
        if column.role == "low":
            high = next(c.name for c in manifest.columns if c.role == "high" and c.of == column.of)
            if not pc.all(pc.less_equal(table.column(column.name), table.column(high))).as_py():
                return "groups", False, f"a box has a {column.name} above its {high}"
    return "groups", True, f"every group has {least} rows or more, k = {record.k}"
