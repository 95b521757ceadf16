"""A data frame that speaks the Arrow protocol, or a stream of Arrow batches."""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from scumble.core.errors import TableError
from scumble.sources import source
from scumble.sources.problems import demand_names, first_line, without_index


class FrameSource:
    """A frame can be read again and again, a stream once."""

    name = "the data frame"
    files: Sequence[Path] = ()

    @staticmethod
    def opens(thing: Any) -> bool:
        """Whether it gives its rows by the Arrow protocol."""
        return hasattr(thing, "__arrow_c_stream__")

    def __init__(self, thing: Any, *, text: Sequence[str] = ()) -> None:
        self._frame = thing
        self.stable = not isinstance(thing, pa.RecordBatchReader)
        self._spent = False
        try:
            reader = pa.RecordBatchReader.from_stream(thing) if self.stable else thing
        except (pa.ArrowException, ValueError, TypeError) as error:
            raise TableError(f"{self.name} cannot be read: {first_line(error)}") from None
        demand_names(reader.schema.names, self.name)
        self.schema: pa.Schema = without_index(reader.schema)
        if self.stable:
            reader.close()
        self.rows: int | None = len(thing) if hasattr(thing, "__len__") else None

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns; a stream that runs once can be read once."""
        if self._spent:
            raise TableError(
                "this stream was read once and is spent; give the domains, or pass a table instead of a stream"
            )
        self._spent = not self.stable
        with pa.RecordBatchReader.from_stream(self._frame) if self.stable else self._frame as reader:
            yield from source.cut(reader, columns)
