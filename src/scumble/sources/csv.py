"""A CSV or TSV file, with its types guessed from its beginning, once."""

import csv
import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from scumble.core.errors import TableError, did_you_mean
from scumble.sources import source
from scumble.sources.problems import demand_names, one_line

ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".txt")


class CsvSource:
    """What the header names, what separates fields and which types they have is found out once; every reading goes by it."""

    stable = True
    guesses = "types"

    @staticmethod
    def opens(thing: Any) -> bool:
        """Whether it is the path of such a file."""
        if not isinstance(thing, str | os.PathLike):
            return False
        path = Path(thing)
        return path.name.lower().endswith(ENDINGS) and path.exists() and not path.is_dir()

    def __init__(self, thing: Any, *, text: Sequence[str] = ()) -> None:
        from scumble.engines.duckdb.csv_files import CsvFile, EngineError

        self._path = Path(thing)
        self.name = self._path.name
        self.files = [self._path]
        self.rows: int | None = None
        with one_line(self._path, EngineError):
            names, separator = _header(self._path)
            for name in text:
                if name not in names:
                    raise TableError(f"column {name!r} is not in {self.name}{did_you_mean(name, names)}")
            self._file = CsvFile(self._path, names, separator, text if text is not source.EVERY else None)
            self.schema: pa.Schema = self._file.schema()

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns. A field that is empty and unquoted is a missing value."""
        from scumble.engines.duckdb.csv_files import EngineError

        with one_line(self._path, EngineError):
            yield from self._file.reader(columns, source.BATCH)


def _header(path: Path) -> tuple[list[str], str]:
    """The names in the first line, and what separates them: the one of , ; tab | that it has most of."""
    with pa.input_stream(str(path), compression="detect") as stream:
        first = stream.read(1 << 16).decode("utf-8", "replace").lstrip("\ufeff").splitlines()
    if not first or not first[0].strip():
        raise TableError(f"{path.name} is empty; a table has a line of column names and rows below it")
    separator = max(",;\t|", key=first[0].count)
    names = next(csv.reader([first[0]], delimiter=separator))
    demand_names(names, path.name)
    return names, separator
