"""A table that was read once: what `scumble init` makes of its columns, and rows of it to draw pictures from."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import decoded
from scumble.core.progress import Progress
from scumble.engines import open_engine
from scumble.engines.engine import TABLE
from scumble.engines.lone_rows import lone_rows
from scumble.sources.source import Source
from scumble.spec.coarsening import coarsen
from scumble.spec.spec import Spec
from scumble.spec.suggest import Suggestion, suggestions

MOST_ROWS = 200_000
"""Rows that are kept: of a longer table every second, fourth, eighth ... row."""


class Thinned:
    """A source that keeps some of the rows that are read from it, evenly spread over all of them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.name, self.schema, self.rows, self.stable = source.name, source.schema, source.rows, source.stable
        self._kept: list[pa.RecordBatch] = []
        self._stride, self._number = 1, 0
        self.read = 0

    @property
    def files(self) -> Sequence[Path]:
        """Those of the source."""
        return self._source.files

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """Those of the source, seen on their way."""
        for batch in self._source.batches(columns):
            self._keep(batch)
            yield batch

    def _keep(self, batch: pa.RecordBatch) -> None:
        first = -self.read % self._stride
        self.read += batch.num_rows
        places = pa.array(range(first, batch.num_rows, self._stride), pa.int64())
        self._kept.append(batch if self._stride == 1 else batch.take(places))
        self._number += len(places)
        while self._number > MOST_ROWS:
            self._stride *= 2
            whole = self.table()
            thinner = whole.take(pa.array(range(0, whole.num_rows, 2), pa.int64()))
            self._kept, self._number = thinner.to_batches(), thinner.num_rows

    def table(self) -> pa.Table:
        """The rows that were kept, text as text."""
        whole = pa.Table.from_batches(self._kept) if self._kept else self.schema.empty_table()
        columns = [decoded(column) for column in whole.columns]
        return pa.table(columns, names=whole.column_names)


@dataclass(frozen=True, eq=False)
class TableScan:
    """What one scan gave."""

    suggested: list[Suggestion]
    rows: int
    sample: pa.Table

    @property
    def whole(self) -> bool:
        """Whether the sample is the table."""
        return bool(self.sample.num_rows == self.rows)

    @property
    def said(self) -> str:
        """Of which rows figures are, where not of all; empty else."""
        return "" if self.whole else f"of a sample of {self.sample.num_rows:,} of {self.rows:,} rows"

    def suggestion(self, name: str) -> Suggestion | None:
        """What is suggested for a column."""
        return next((column for column in self.suggested if column.seen.name == name), None)

    def alone(self, name: str) -> int:
        """Rows whose value in one column no other row has."""
        counts = pc.value_counts(self.sample.column(name)).field("counts")
        return int(pc.sum(pc.equal(counts, 1)).as_py() or 0)

    def unique(self, spec: Spec, without: str | None = None) -> int:
        """Rows that are alone with their values in all public columns, as the spec coarsens them."""
        public = [
            n for n, c in spec.columns.items() if c.role == "public" and n != without and n in self.sample.column_names
        ]
        if not public:
            return int(self.sample.num_rows == 1)
        columns = [_coarse(self.sample.column(name), spec, name) for name in public]
        engine = open_engine({TABLE: pa.table(columns, names=public)})
        return lone_rows(engine, public, self.sample.num_rows)


def _coarse(column: pa.ChunkedArray, spec: Spec, name: str) -> pa.ChunkedArray:
    how = spec.columns[name].coarsen
    return column if how is None else pa.chunked_array([coarsen(column.combine_chunks(), how, name)])


def read_through(source: Source, progress: Progress) -> TableScan:
    """One scan of a table."""
    thinned = Thinned(source)
    suggested = suggestions(thinned, progress)
    return TableScan(suggested, thinned.read, thinned.table())
