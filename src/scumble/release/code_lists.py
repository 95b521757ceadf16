"""Code lists that an analyst gives beside a question, read as any table is."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from scumble.core.arrow_types import decoded
from scumble.core.errors import QueryError
from scumble.engines.engine import TABLE
from scumble.sources.source import read


def code_lists(tables: Mapping[str, Any]) -> dict[str, pa.Table]:
    """Each of them in memory, under its name."""
    for name in tables:
        if name.lower() == TABLE:
            raise QueryError(
                f"a code list may not be called {TABLE!r}, which is the published table; give it another name"
            )
    return {name: _table(thing) for name, thing in tables.items()}


def _table(thing: Any) -> pa.Table:
    source = read(thing)
    names = list(source.schema.names)
    rows = pa.Table.from_batches(list(source.batches(names)), schema=source.schema.empty_table().select(names).schema)
    return pa.table({name: decoded(rows.column(name)) for name in names})
