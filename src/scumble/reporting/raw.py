"""The raw table, read as it was when it was published."""

import os
from typing import Any

from scumble.core.arrow_types import is_text, named_type
from scumble.release.manifest import Manifest
from scumble.sources.csv import CsvSource
from scumble.sources.source import Source, read


def read_raw(raw: Any, manifest: Manifest) -> Source:
    """The table; columns of a CSV file that were published as text are read as text, whatever they look like."""
    table = read(raw)
    if not isinstance(table, CsvSource) or not isinstance(raw, str | os.PathLike):
        return table
    text = [
        column.name
        for column in manifest.columns
        if is_text(named_type(column.type))
        and (column.coarsened is None or column.coarsened.edges is None)
        and column.name in table.schema.names
        and not is_text(table.schema.field(column.name).type)
    ]
    return read(raw, text=text) if text else table
