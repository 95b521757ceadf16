"""What the query layer has to know of a release whose rows stand for groups."""

from pathlib import Path

from scumble.core.errors import ReleaseError
from scumble.engines.duckdb.boxes import Side
from scumble.forms.boxes.totals import Boxes
from scumble.release.manifest import Manifest


def boxes_of(folder: Path, manifest: Manifest) -> Boxes:
    """Its sides, and the channel of its sensitive column."""
    highs = {column.of: column.name for column in manifest.columns if column.role == "high"}
    sides = []
    for column in manifest.columns:
        if column.role == "set":
            sides.append(Side(column.name, [column.name], column.type))
        elif column.role == "low" and column.of is not None and column.of in highs:
            sides.append(Side(column.of, [column.name, highs[column.of]], column.type))
    size = manifest.role("size")
    if size is None or len(manifest.sensitive) != 1:
        raise ReleaseError(
            "the manifest does not say how rows stand for groups; get the release again from its publisher"
        )
    (name,) = manifest.sensitive
    files = [folder / path for path in manifest.data]
    return Boxes(files, sides, size, name, manifest.domains[name], manifest.channels[name])
