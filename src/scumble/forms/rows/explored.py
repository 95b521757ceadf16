"""What the explore page is told of published rows."""

from typing import TYPE_CHECKING, Any

from scumble.mechanisms import find_mechanism

if TYPE_CHECKING:
    from scumble.release.manifest import Manifest


def explored(manifest: "Manifest") -> dict[str, Any]:
    """Which columns say how rows were dealt and weighed, how they were sampled, and whether replacements follow the column."""
    roles = {role: name for role in ("stratum", "weight", "copies") if (name := manifest.role(role)) is not None}
    published: dict[str, Any] = dict(roles)
    if (sampling := manifest.view.sampling) is not None:
        published["sample"] = sampling.least
    if any(record.own for column in manifest.columns for record in column.records):
        published |= {"whole": manifest.rows, "permuted": find_mechanism(manifest.mechanism).traits.permuted}
    return {"published": published}
