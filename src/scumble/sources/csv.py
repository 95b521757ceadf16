"""A CSV or TSV file, or a folder of such files with one header; types are guessed from the beginning, once.

patients.csv                       UTF-8, or UTF-16 and UTF-32 with a byte order mark
patients.csv?encoding=cp1252       another encoding, by its name
visits/                            all files in the folder, as one table
"""

import csv
import os
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from scumble.core.errors import TableError, did_you_mean
from scumble.sources import source
from scumble.sources.address import behind, option_of
from scumble.sources.encodings import in_utf8
from scumble.sources.folder import files_in
from scumble.sources.parquet import ENDINGS as PARQUET
from scumble.sources.problems import demand_names, one_line

if TYPE_CHECKING:
    from scumble.engines.duckdb.csv_files import CsvFile

PACKED = (".gz", ".zst")
ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst", ".txt")


class CsvSource:
    """What the header names, what separates fields and which types they have is found out once; every reading goes by it."""

    stable = True
    guesses = "types"

    @staticmethod
    def opens(thing: Any) -> bool:
        """Whether it is the path of such a file, or of a folder that has some and no Parquet."""
        if not isinstance(thing, str | os.PathLike):
            return False
        path, _ = behind(thing)
        if path.is_dir():
            return bool(files_in(path, ENDINGS)) and not files_in(path, PARQUET)
        return path.name.lower().endswith(ENDINGS) and path.exists()

    def __init__(self, thing: Any, *, text: Sequence[str] = ()) -> None:
        path, asked = behind(thing)
        self.name = path.name
        encoding = option_of(asked, "encoding", path.name)
        self.folder = path if path.is_dir() else None
        self.files = _each_once(files_in(path, ENDINGS)) if path.is_dir() else [path]
        self.rows: int | None = None
        self._headers = [_Header(file, encoding, lenient=text is source.EVERY) for file in self.files]
        for header in self._headers:
            header.demand(self._headers[0])
        for name in text:
            if name not in self._headers[0].names:
                raise TableError(f"column {name!r} is not in {self.name}{did_you_mean(name, self._headers[0].names)}")
        self._tables = self._typed(None if text is source.EVERY else text)
        self.schema: pa.Schema = self._tables[0].schema()

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns. A field that is empty and unquoted is a missing value."""
        from scumble.engines.duckdb.csv_files import EngineError

        for file, table in zip(self.files, self._tables, strict=True):
            with one_line(file, EngineError):
                yield from table.reader(columns, source.BATCH)

    def _typed(self, words: Sequence[str] | None) -> "list[CsvFile]":
        """The first file decides about types; a value of another one that does not fit is refused with its file and line."""
        from scumble.engines.duckdb.csv_files import CsvFile, EngineError

        first, *others = self._headers
        with one_line(first.file, EngineError):
            table = CsvFile(first.path, first.names, first.separator, words)
        return [table, *(table.alike(other.path, other.separator) for other in others)]


class _Header:
    """The names in the first line of a file, and what separates them: the one of , ; tab | that it has most of."""

    def __init__(self, file: Path, encoding: str | None, *, lenient: bool) -> None:
        self.file = file
        with one_line(file):
            self._text = in_utf8(file, encoding, lenient=lenient)
            self.path = self._text if isinstance(self._text, Path) else self._text.path
            with pa.input_stream(str(self.path), compression="detect") as stream:
                first = stream.read(1 << 16).decode("utf-8", "replace").lstrip("\ufeff").splitlines()
        if not first or not first[0].strip():
            raise TableError(f"{file.name} is empty; a table has a line of column names and rows below it")
        self.separator = max(",;\t|", key=first[0].count)
        self.names = next(csv.reader([first[0]], delimiter=self.separator))
        demand_names(self.names, file.name)

    def demand(self, first: "_Header") -> None:
        """The files of one table have the same names in the same order."""
        if self.names != first.names:
            raise TableError(
                f"{self.file.name} names other columns than {first.file.name}, or in another order; one table has one header: "
                "mend the file, or move it out of the folder"
            )


def _each_once(files: list[Path]) -> list[Path]:
    """The files of a folder; one that is there twice, packed and unpacked, would count each of its rows twice."""
    plain: dict[Path, Path] = {}
    for file in files:
        unpacked = file.with_suffix("") if file.suffix.lower() in PACKED else file
        if unpacked in plain:
            raise TableError(
                f"{plain[unpacked].name} and {file.name} are one file twice, so that each of its rows would count twice; move one out of the folder"
            )
        plain[unpacked] = file
    return files
