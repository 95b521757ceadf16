"""The raw table as it would have been published without coins, so that the truth can stand beside an estimate."""

import pyarrow as pa

from scumble.auditing.evidence.recode import merged
from scumble.core.errors import ReleaseError, SchemaError, did_you_mean
from scumble.evaluate import Truth
from scumble.release.manifest import Manifest
from scumble.release.release import Release
from scumble.sources.source import Source

KEPT = ("public", "sensitive", "counted", "apart", "tuple")
"""Roles of columns that the raw table has too."""


def true_table(raw: Source, release: Release) -> pa.Table:
    """The columns of the release with their true values, coarsened and merged as they were."""
    manifest = release.manifest
    for name in kept(manifest):
        if name not in raw.schema.names:
            hint = did_you_mean(name, raw.schema.names)
            raise SchemaError(f"the raw table has no column {name!r}, which the release has{hint}")
    table = Truth.of_release(raw, release).table
    if manifest.counted is None and manifest.sampling is None and table.num_rows != manifest.rows:
        raise ReleaseError(
            f"the raw table has {table.num_rows:,} rows and the release {manifest.rows:,}; give the table that it was made from"
        )
    for column in manifest.columns:
        if column.merged:
            place = table.column_names.index(column.name)
            table = table.set_column(place, column.name, merged(table.column(column.name), column))
    return table


def kept(manifest: Manifest) -> list[str]:
    """The columns of the release that the raw table has; users of transactions are numbered anew."""
    roles = (manifest.counted.transactions if manifest.counted is not None else None) or {}
    invented = {roles.get("user"), roles.get("pattern")}
    return [c.name for c in manifest.columns if c.role in KEPT and c.name not in invented]
