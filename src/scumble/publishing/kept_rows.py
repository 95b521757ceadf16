"""A table of which some rows are kept: what every reader of it sees is these."""

from collections.abc import Generator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.sources.source import Source


class KeptRows:
    """The rows of a table that a mask keeps, in their order. The table is read anew each time, so it must be stable."""

    stable = True

    def __init__(self, table: Source, kept: npt.NDArray[np.bool_]) -> None:
        self._table = table
        self._kept = kept
        self.name = table.name
        self.schema = table.schema
        self.rows: int | None = int(kept.sum())

    @property
    def files(self) -> Sequence[Path]:
        """The files of the table, of which a release must not replace any."""
        return self._table.files

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns of the kept rows."""
        start = 0
        for batch in self._table.batches(columns):
            kept = self._kept[start : start + batch.num_rows]
            start += batch.num_rows
            if kept.any():
                yield batch.filter(pa.array(kept))
