"""The rows of a release to come: what forecasts ask before a coin is flipped."""

from collections.abc import Mapping

import pyarrow as pa

from scumble.core.arrow_types import published_type
from scumble.core.domain import Domain
from scumble.core.scale import reach_of
from scumble.query.coarse import Coarse
from scumble.query.compile import Published
from scumble.query.part_columns import PartColumn, parts_of
from scumble.query.rewrites import Recoding
from scumble.sources.combined import parts_of as known_parts
from scumble.sources.source import Source
from scumble.spec.coarsening import coarsen, resolved
from scumble.spec.spec import Spec

Rows = tuple[pa.Table, Published, Recoding]
"""The rows to be published, before their coins, what will be known of the release, and what becomes of values before they are published."""


def reaches(domains: Mapping[str, Domain]) -> dict[str, float]:
    """How far numbers will be moved, of the columns where they will be rounded to a grid."""
    return {name: float(reach) for name, domain in domains.items() if (reach := reach_of(domain)) > 0}


def part_columns(table: Source) -> dict[str, PartColumn]:
    """The columns of the table that are taken as one with others."""
    made: dict[str, PartColumn] = {}
    for name in table.schema.names:
        made |= parts_of(name, known_parts(table.schema, name) or {})
    return made


def coarse_columns(table: Source, spec: Spec) -> dict[str, Coarse]:
    """The columns that will be published coarser, by the types that they will have."""
    columns = {}
    for name, column in spec.columns.items():
        if column.role == "public" and column.coarsen is not None:
            empty = pa.array([], published_type(table.schema.field(name).type))
            how = resolved(column.coarsen)
            columns[name] = Coarse(name, how, str(coarsen(empty, how, name).type))
    return columns
