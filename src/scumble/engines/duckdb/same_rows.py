"""Whether two tables have the same rows, each as often, in any order and in bounded memory."""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from scumble.core.errors import TableError
from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.results import arrow
from scumble.engines.sql import listed, parquet, quoted

OTHER = "scumble_other"
TIMES = "scumble times"


def differing_rows(files: Sequence[Path], other: pa.RecordBatchReader) -> int:
    """How many rows the files and a stream do not share: those that one has, or has more often. Fractions are compared by their bits."""
    kept = ", ".join(_bits(field) for field in other.schema)
    times = quoted(TIMES)
    both = f"SELECT {kept}, 1 AS {times} FROM {parquet(files)} UNION ALL SELECT {kept}, -1 FROM {OTHER}"
    each = f"SELECT ABS(SUM({times})) AS n FROM ({both}) GROUP BY {listed(other.schema.names)}"
    with connect(files) as connection:
        connection.register(OTHER, other)
        try:
            found = arrow(connection, f"SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) AS n FROM ({each})")
        except duckdb.Error as error:
            raise TableError(f"the rows cannot be compared: {str(error).splitlines()[0]}") from None
    return int(found.column("n")[0].as_py())


def _bits(field: pa.Field) -> str:
    """A column; a fraction as text, where -0.0 is not 0.0."""
    name = quoted(field.name)
    return f"CAST({name} AS VARCHAR) AS {name}" if pa.types.is_floating(field.type) else name
