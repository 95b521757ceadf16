"""A lazy frame of Polars: run once, in its streaming engine, into a private file that is gone with its source.

A query may give other rows, or another order, when it runs again. Whoever reads twice reads the file.
"""

from collections.abc import Generator, Sequence
from typing import Any

import pyarrow as pa

from scumble.core.errors import TableError
from scumble.core.scratch import PrivateFile
from scumble.sources.arrow_file import ArrowFileSource
from scumble.sources.problems import first_line


class LazyFrameSource(ArrowFileSource):
    """The rows that a query gave."""

    @staticmethod
    def opens(thing: Any) -> bool:
        """Whether it is such a frame, without loading Polars."""
        return type(thing).__module__.startswith("polars.") and type(thing).__name__ == "LazyFrame"

    def __init__(self, thing: Any, *, text: Sequence[str] = ()) -> None:
        import polars

        self._file = PrivateFile(".arrow")
        try:
            thing.sink_ipc(self._file.path, compression="lz4", compat_level=polars.CompatLevel.oldest())
        except (polars.exceptions.PolarsError, OSError) as error:
            raise TableError(f"the lazy frame cannot be read: {first_line(error)}") from None
        super().__init__(self._file.path)
        self.name, self.files = "the lazy frame", []
        self.schema = pa.schema([(field.name, _plain(field.type)) for field in self.schema])

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns."""
        wanted = pa.schema([self.schema.field(name) for name in columns])
        for batch in super().batches(columns):
            yield batch.cast(wanted)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Polars counts the bytes of texts in 64 bits, which no batch of ours needs."""
    return pa.string() if pa.types.is_large_string(kind) else kind
