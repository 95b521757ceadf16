"""DuckDB, embedded, straight on the Parquet files."""

from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.engines.engine import TABLE, truth_case
from scumble.errors import QueryError


class DuckDB:
    """An in-memory connection with one view on the files of a release."""

    dialect = "duckdb"

    def __init__(self, files: Sequence[Path]) -> None:
        self._connection = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
        listed = ", ".join("'" + str(file).replace("'", "''") + "'" for file in files)
        self._connection.execute(f"CREATE VIEW {TABLE} AS SELECT * FROM read_parquet([{listed}])")

    def run(self, statement: exp.Expression) -> pa.Table:
        """The result of a statement as Arrow."""
        return self._arrow(statement.sql(dialect=self.dialect))

    def truth(self, predicate: exp.Expression, column: str, values: pa.Array) -> npt.NDArray[np.int8]:
        """Evaluates the predicate on a table of the domain's values."""
        domain = pa.table([values, pa.array(np.arange(len(values)))], names=[column, "scumble place"])
        self._connection.register("scumble_domain", domain)
        try:
            case = truth_case(predicate).sql(dialect=self.dialect)
            result = self._arrow(f'SELECT CAST({case} AS TINYINT) AS truth FROM scumble_domain ORDER BY "scumble place"')
        finally:
            self._connection.unregister("scumble_domain")
        return np.asarray(result.column(0).combine_chunks().to_numpy(zero_copy_only=False))

    def _arrow(self, sql: str) -> pa.Table:
        try:
            relation = self._connection.sql(sql)
            return relation.to_arrow_table()
        except duckdb.Error as error:
            first = str(error).splitlines()[0]
            raise QueryError(f"the question cannot be computed: {first}") from None
