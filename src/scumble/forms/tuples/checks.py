"""What counted tuples can be held to: their columns and their crowds."""

from pathlib import Path
from typing import TYPE_CHECKING

from scumble.engines.duckdb.counting import least_count
from scumble.forms.checks import columns_check, values_checks
from scumble.forms.form import Check
from scumble.forms.tuples.record import TuplesRecord

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest

Tables = list[tuple[list[str], list[str]]]
"""The columns and the files of each table."""


def checks(folder: Path, manifest: "Manifest") -> list[Check]:
    """Name, outcome and detail of each check."""
    record = manifest.form
    assert isinstance(record, TuplesRecord)
    tables = record.layout([column.name for column in manifest.columns], manifest.data)
    results = [columns_check(folder, manifest), *values_checks(folder, manifest)]
    return results if record.k is None else [*results, _crowds(folder, tables, record.k, record.transactions)]


def _crowds(folder: Path, tables: Tables, k: int, transactions: dict[str, str] | None) -> Check:
    """No tuple is published fewer than k times."""
    for names, files in tables:
        keys = names if transactions is None else [transactions["pattern"], transactions["item"]]
        least = least_count([folder / path for path in files], keys)
        if least is not None and least < k:
            return "crowds", False, f"a tuple in {files[0]} is there {least} times, below k = {k}"
    return "crowds", True, f"every published tuple is there at least k = {k} times"
