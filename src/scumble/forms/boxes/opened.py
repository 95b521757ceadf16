"""What the query layer has to know of a release whose rows stand for groups."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from scumble.core.channel import Channel
from scumble.core.domain import Domain
from scumble.core.errors import ReleaseError
from scumble.engines.engine import TABLE
from scumble.engines.expressions import column, select
from scumble.forms.boxes.layout import Laid, Side
from scumble.forms.form import Opened


@dataclass(frozen=True)
class Boxes:
    """The columns of the table, and the channel of its sensitive one."""

    sides: Sequence[Side]
    size: str
    name: str
    domain: Domain
    channel: Channel

    @property
    def columns(self) -> list[str]:
        """The columns of the table that a question may name."""
        return [*(side.name for side in self.sides), self.name]


def boxes_of(release: Opened) -> Boxes:
    """Its sides, and the channel of its sensitive column."""
    manifest = release.manifest
    highs = {column.of: column.name for column in manifest.columns if column.role == "high"}
    sides = []
    for described in manifest.columns:
        if described.role == "set":
            sides.append(Side(described.name, [described.name], described.type))
        elif described.role == "low" and described.of is not None and described.of in highs:
            sides.append(Side(described.of, [described.name, highs[described.of]], described.type))
    size = manifest.role("size")
    if size is None or len(manifest.sensitive) != 1:
        raise ReleaseError(
            "the manifest does not say how rows stand for groups; get the release again from its publisher"
        )
    (name,) = manifest.sensitive
    return Boxes(sides, size, name, manifest.domains[name], manifest.channels[name])


def prepared(release: Opened, boxes: Boxes) -> tuple[pa.Table, dict[str, Laid]]:
    """The published value y and the size s of each box, and its sides laid out, once for all questions."""
    if "boxes" not in release.prepared:
        names = [name for side in boxes.sides for name in side.columns]
        outputs = {f"c{i}": column(name) for i, name in enumerate(names)}
        read = release.engine.run(select({**outputs, "y": column(boxes.name), "s": column(boxes.size)}, TABLE))
        sides = pa.table({name: read.column(f"c{i}") for i, name in enumerate(names)})
        laid = {side.name: Laid.of(side, sides) for side in boxes.sides}
        release.prepared["boxes"] = (read.select(["y", "s"]), laid)
    kept: tuple[pa.Table, dict[str, Laid]] = release.prepared["boxes"]
    return kept
