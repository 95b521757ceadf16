"""Which views of weights a release in a database has: one for each perturbed column that a plain sum of weights is right for."""

import numpy as np
import pyarrow as pa

from scumble.core.arrow_types import named_type
from scumble.core.errors import NotEstimable
from scumble.engines.postgres.types import LONGEST
from scumble.engines.postgres.weight_views import OWN, Line, weighted
from scumble.release.release import Release

MOST = 10_000
"""Weights of a view: of a column with 100 values, one for each pair."""

NAME = "{} weighted"


def weighted_views(release: Release, table: str) -> dict[str, str]:
    """The statements of the views, by name, over the table of published rows.

    None where rows have sub-tables, weights or copies of their own, or replacements follow the data: sums over these are for scumble.
    """
    manifest = release.manifest
    names = [column.name for column in manifest.columns]
    roles = {column.role for column in manifest.columns}
    plain = manifest.view.row_by_row and manifest.view.sampling is None
    if not plain or not roles <= {"public", "sensitive"} or set(names) & set(OWN):
        return {}
    views: dict[str, str] = {}
    for column in manifest.columns:
        if len(column.records) != 1 or column.records[0].own or len(NAME.format(column.name).encode()) > LONGEST:
            continue
        lines = _lines(release, column.name)
        if lines:
            shown = pa.field(column.name, named_type(column.type))
            views[NAME.format(column.name)] = weighted(table, names, shown, manifest.domains[column.name].type, lines)
    return views


def _lines(release: Release, name: str) -> list[Line]:
    """What each published value counts for each true one; none where they are too many, or nothing can be estimated."""
    domain, shown, channel = release.manifest.domains[name], release.shown[name], release.strata[0][name]
    if domain.size * shown.size > MOST:
        return []
    true, published = domain.values.to_pylist(), shown.values.to_pylist()
    try:
        weights = [channel.weights(row) for row in np.eye(domain.size)]
    except NotEstimable:
        return []
    return [(y, x, float(own[j])) for x, own in zip(true, weights, strict=True) for j, y in enumerate(published)]
