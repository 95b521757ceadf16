"""What the files of every form are held to: their columns."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from scumble.forms.form import Check

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest

Tables = list[tuple[list[str], list[str]]]
"""The columns and the files of each table."""


def columns_check(folder: Path, manifest: "Manifest", tables: Tables | None = None) -> Check:
    """Each file has the columns of its table, with the types of the manifest; without `tables` there is one."""
    kinds = {column.name: column.type for column in manifest.columns}
    for names, files in tables or [(list(kinds), manifest.data)]:
        problem = _problem(folder, files, {name: kinds[name] for name in names})
        if problem:
            return "columns", False, problem
    return "columns", True, f"{len(kinds)} columns with the types of the manifest"


def _problem(folder: Path, files: Sequence[str], listed: dict[str, str]) -> str:
    for path in files:
        types = {field.name: str(field.type) for field in pq.read_schema(folder / path)}
        if types != listed:
            return f"{path} has {types}, the manifest has {listed}"
    return ""
