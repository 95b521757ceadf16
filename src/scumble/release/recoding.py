"""What became of the values of columns before publishing, coins apart, as a manifest tells it."""

from functools import partial

from scumble.query.coarse import Coarse
from scumble.query.rewrites import Recoding
from scumble.release.manifest import Manifest
from scumble.release.records import number_ends, representative


def coarse_columns(manifest: Manifest) -> dict[str, Coarse]:
    """The columns whose values stand for several of the table."""
    named = {column.of or column.name: column for column in manifest.columns}
    return {name: Coarse(name, c.coarsened, c.type) for name, c in named.items() if c.coarsened is not None}


def recoding_of(manifest: Manifest) -> Recoding:
    """Coarsened, merged and rounded columns."""
    merged = {c.name: c.merged for c in manifest.columns if c.merged}
    return Recoding(
        coarse_columns(manifest),
        {name: partial(representative, records) for name, records in merged.items()},
        {name: ends for name, records in merged.items() if (ends := number_ends(records))},
        {c.of or c.name: float(c.rounded) for c in manifest.columns if c.rounded is not None},
        manifest.parts,
        {name: [(each.published, each.values) for each in records] for name, records in merged.items()},
    )
