"""A table of which some rows are kept: what every reader of it sees is these."""

from collections.abc import Generator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.sources.source import Source

WEIGHT = "weight"
"""The column that a release has beside those of the table, where its rows have weights."""


class KeptRows:
    """The rows of a table that have a weight above 0, in their order. The table is read anew each time, so it must be stable.

    weighted   whether the weights are a column of the table
    """

    stable = True

    def __init__(self, table: Source, weights: npt.NDArray[np.float64], weighted: bool = False) -> None:
        self._table = table
        self._weights = weights
        self.name = table.name
        self.schema = table.schema.append(pa.field(WEIGHT, pa.float64())) if weighted else table.schema
        self.rows: int | None = int((weights > 0).sum())

    @property
    def files(self) -> Sequence[Path]:
        """The files of the table, of which a release must not replace any."""
        return self._table.files

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns of the kept rows."""
        start, own = 0, [name for name in columns if name in self._table.schema.names]
        for batch in self._table.batches(own or self._table.schema.names[:1]):
            weights = self._weights[start : start + batch.num_rows]
            start += batch.num_rows
            kept = weights > 0
            if kept.any():
                arrays = {name: batch.column(name).filter(pa.array(kept)) for name in own}
                arrays |= {} if WEIGHT in own else {WEIGHT: pa.array(weights[kept])}
                yield pa.record_batch([arrays[name] for name in columns], names=list(columns))
