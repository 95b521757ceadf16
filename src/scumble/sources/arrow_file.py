"""A file of Arrow batches (.arrow, .feather, .arrows): in the format of files or of streams, whichever it is."""

import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from scumble.core.errors import TableError
from scumble.sources import source
from scumble.sources.problems import demand_names, one_line, without_index

ENDINGS = (".arrow", ".feather", ".arrows", ".ipc")
MAGIC = b"ARROW1"
OLD = b"FEA1"


class ArrowFileSource:
    """The batches of a file, as often as they are wanted."""

    stable = True
    rows: int | None = None

    @staticmethod
    def opens(thing: Any) -> bool:
        """Whether it is the path of such a file."""
        return isinstance(thing, str | os.PathLike) and str(thing).lower().endswith(ENDINGS) and Path(thing).is_file()

    def __init__(self, thing: Any, *, text: Sequence[str] = ()) -> None:
        self._path = Path(thing)
        self.name, self.files = self._path.name, [self._path]
        with self._path.open("rb") as opened:
            self._magic = opened.read(len(MAGIC))
        if self._magic.startswith(OLD):
            raise TableError(f"{self.name} is of the first version of Feather; write it anew, or as Parquet")
        with one_line(self._path), self._opened() as reader:
            schema = reader.schema
        demand_names(schema.names, self.name)
        self.schema: pa.Schema = without_index(schema).remove_metadata()

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns."""
        with one_line(self._path), self._opened() as reader:
            yield from source.cut(_batches(reader), columns)

    def _opened(self) -> Any:
        mapped = pa.memory_map(str(self._path))
        return pa.ipc.open_file(mapped) if self._magic == MAGIC else pa.ipc.open_stream(mapped)


def _batches(reader: Any) -> Generator[pa.RecordBatch]:
    if isinstance(reader, pa.RecordBatchFileReader):
        yield from (reader.get_batch(place) for place in range(reader.num_record_batches))
    else:
        yield from reader
