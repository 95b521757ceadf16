"""What a set of tuples can be held to: its columns, their values, and that it is a set."""

from pathlib import Path
from typing import TYPE_CHECKING

from scumble.engines.duckdb.counting import most_count
from scumble.forms.checks import columns_check, values_checks
from scumble.forms.form import Check

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def checks(folder: Path, manifest: "Manifest") -> list[Check]:
    """Name, outcome and detail of each check."""
    return [columns_check(folder, manifest), *values_checks(folder, manifest), _different(folder, manifest)]


def _different(folder: Path, manifest: "Manifest") -> Check:
    """The release is a set."""
    most = most_count([folder / path for path in manifest.data], [column.name for column in manifest.columns]) or 0
    return "set", most <= 1, "no tuple is published twice" if most <= 1 else f"a tuple is published {most} times"
