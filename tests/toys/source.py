"""A source of one file: tables that live in a dictionary, by an address of their own.

Registered by one line in the list of sources: "toys.source:ToySource".
"""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

TABLES: dict[str, pa.Table] = {}
"""What there is to be read, by address."""


class ToySource:
    """The table at toy://name."""

    stable = True
    files: Sequence[Path] = ()

    @staticmethod
    def opens(thing: Any) -> bool:
        return isinstance(thing, str) and thing.startswith("toy://")

    def __init__(self, thing: str, *, text: Sequence[str] = ()) -> None:
        self.name = thing
        self._table = TABLES[thing]
        self.rows: int | None = self._table.num_rows
        self.schema: pa.Schema = self._table.schema

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        yield from self._table.select(list(columns)).to_batches()
