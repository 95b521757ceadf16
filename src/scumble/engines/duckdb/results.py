"""Results of DuckDB as Arrow."""

import duckdb
import pyarrow as pa

from scumble.engines.interruptible import interruptible


def arrow(connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """The result of a statement."""
    return interruptible(connection, lambda: connection.sql(sql).to_arrow_table())
