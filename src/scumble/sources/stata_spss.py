"""Files of statistics packages, by pyreadstat: Stata (.dta), SPSS (.sav, .zsav, .por) and SAS (.sas7bdat, .xpt).

Values are those that are stored, not their labels: a code is what a code list explains.
"""

import os
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from scumble.core.errors import TableError, did_you_mean
from scumble.core.extras import need
from scumble.sources import source
from scumble.sources.problems import demand_names

READERS = {
    ".dta": "read_dta",
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}


class StatisticsFileSource:
    """One file, read in chunks whose types are those of the first."""

    stable = True
    guesses = "always"
    """A whole number becomes a double where one is missing: the types that are read follow the rows."""

    @staticmethod
    def opens(thing: Any) -> bool:
        """Whether it is the path of such a file."""
        return isinstance(thing, str | os.PathLike) and Path(thing).suffix.lower() in READERS and Path(thing).is_file()

    def __init__(self, thing: Any, *, text: Sequence[str] = ()) -> None:
        self._path = Path(thing)
        self.name, self.files = self._path.name, [self._path]
        self._statistics = need("pyreadstat", "stats")
        self._read = getattr(self._statistics, READERS[self._path.suffix.lower()])
        need("pandas", "stats")
        about = self._call(metadataonly=True)[1]
        self.rows: int | None = about.number_rows
        for name in text:
            if name not in about.column_names:
                raise TableError(f"column {name!r} is not in {self.name}{did_you_mean(name, about.column_names)}")
        demand_names(about.column_names, self.name)
        first = next(iter(self._chunks(about.column_names)), None)
        schema = pa.Schema.from_pandas(first, preserve_index=False).remove_metadata() if first is not None else None
        kinds = {f.name: f.type for f in schema} if schema is not None else {}
        types = [(n, pa.string() if n in text or pa.types.is_null(kinds[n]) else kinds[n]) for n in kinds]
        self.schema: pa.Schema = pa.schema(types or [(name, pa.string()) for name in about.column_names])

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        for frame in self._chunks(columns):
            texts = [f.name for f in schema if pa.types.is_string(f.type) and frame[f.name].dtype.kind != "O"]
            frame = frame.astype(dict.fromkeys(texts, "string")) if texts else frame
            try:
                yield from pa.Table.from_pandas(frame[list(columns)], schema, preserve_index=False).to_batches()
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise TableError(f"{self.name} cannot be read: {str(error).splitlines()[0]}") from None

    def _chunks(self, columns: Sequence[str]) -> Iterator[Any]:
        start = 0
        while True:
            frame, _ = self._call(row_offset=start, row_limit=source.BATCH, usecols=list(columns))
            if not len(frame):
                return
            yield frame
            start += len(frame)

    def _call(self, **how: Any) -> Any:
        try:
            return self._read(str(self._path), **how)
        except (self._statistics.ReadstatError, self._statistics.PyreadstatError, OSError, ValueError) as error:
            raise TableError(f"{self.name} cannot be read: {str(error).splitlines()[0]}") from None
