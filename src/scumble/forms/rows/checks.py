"""What published rows can be held to: their columns. Their channels and samples: release/verify.py."""

from pathlib import Path
from typing import TYPE_CHECKING

from scumble.forms.checks import columns_check
from scumble.forms.form import Check

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def checks(folder: Path, manifest: "Manifest") -> list[Check]:
    """Name, outcome and detail of each check."""
    return [columns_check(folder, manifest)]
