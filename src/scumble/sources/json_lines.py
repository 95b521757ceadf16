"""A file of JSON lines (.jsonl, .ndjson), an object a line, typed by its beginning."""

import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json as pj

from scumble.core.errors import TableError, did_you_mean
from scumble.sources import source
from scumble.sources.problems import demand_names, one_line

ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")

BLOCK = 1 << 24
"""Bytes that decide about names and types."""


class JsonLinesSource:
    """The names and types of the first block hold for the whole file; what does not fit them is refused."""

    stable = True
    guesses = "always"
    rows: int | None = None

    @staticmethod
    def opens(thing: Any) -> bool:
        """Whether it is the path of such a file."""
        return isinstance(thing, str | os.PathLike) and str(thing).lower().endswith(ENDINGS) and Path(thing).is_file()

    def __init__(self, thing: Any, *, text: Sequence[str] = ()) -> None:
        self._path = Path(thing)
        self.name, self.files = self._path.name, [self._path]
        with one_line(self._path), self._reader(pj.ParseOptions()) as reader:
            schema = reader.schema
        for name in text:
            if name not in schema.names:
                raise TableError(f"column {name!r} is not in {self.name}{did_you_mean(name, schema.names)}")
        demand_names(schema.names, self.name)
        self.schema: pa.Schema = pa.schema([(f.name, pa.string() if f.name in text else f.type) for f in schema])

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns; a name that the first block does not have is refused."""
        options = pj.ParseOptions(explicit_schema=self.schema, unexpected_field_behavior="error")
        with one_line(self._path), self._reader(options) as reader:
            yield from source.cut(reader, columns)

    def _reader(self, options: pj.ParseOptions) -> Any:
        stream = pa.input_stream(str(self._path), compression="detect")
        return pj.open_json(stream, read_options=pj.ReadOptions(block_size=BLOCK), parse_options=options)
