"""Any table, as Arrow batches: what a source is, and the list of those that there are.

Nothing here holds more than a batch. Text columns arrive as dictionaries where the file has them so.
"""

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from scumble.core.errors import TableError

BATCH = 1 << 17
"""Rows of a batch."""

REGISTRY = [
    "scumble.sources.csv:CsvSource",
    "scumble.sources.parquet:ParquetSource",
    "scumble.sources.frame:FrameSource",
    "scumble.sources.lazy_frame:LazyFrameSource",
    "scumble.sources.arrow_file:ArrowFileSource",
    "scumble.sources.json_lines:JsonLinesSource",
    "scumble.sources.excel:ExcelSource",
    "scumble.sources.stata_spss:StatisticsFileSource",
    "scumble.sources.postgres:PostgresSource",
    "scumble.sources.sqlite:SqliteSource",
]
"""The sources, in the order in which they are asked whether they open something; each is loaded when its turn comes.

Packages add theirs behind these by an entry point of the group `scumble.sources`.
"""


class Every(Sequence[str]):
    """All columns, whatever they are called: it holds every name and lists none."""

    def __contains__(self, name: object) -> bool:
        return True

    def __len__(self) -> int:
        return 0

    def __getitem__(self, place: Any) -> Any:
        raise IndexError(place)


EVERY = Every()
"""Read as text: nothing is guessed from the rows, and no single value or line of a file is refused. A line that cannot be read as one is left out."""


class Source(Protocol):
    """A table that is read batch by batch."""

    name: str
    """What messages call it."""
    schema: pa.Schema
    rows: int | None
    """How many rows there are, where that is known without reading them."""
    stable: bool
    """Whether it may be read twice, and has the same rows then; a stream may not."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that it is read from, which a release must not replace; none where there are none."""

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns, a batch at a time."""


class SourceType(Protocol):
    """A class of sources, as the registry names it."""

    def opens(self, thing: Any) -> bool:
        """Whether a table is one of these, by its name or its type."""

    def __call__(self, thing: Any, *, text: Sequence[str] = ()) -> Source:
        """The source; `text` names columns, or is EVERY, that are read as text where the source itself does not say what they are."""


def read(thing: Any, *, text: Sequence[str] = ()) -> Source:
    """The table at a path, or behind a data frame. `text` names CSV columns to be read as text."""
    for kind in _kinds():
        if kind.opens(thing):
            return kind(thing, text=text)
    if not isinstance(thing, str | os.PathLike):
        raise TableError(
            f"a table is a path or a data frame with the Arrow protocol (pandas, Polars, PyArrow, DuckDB), not {type(thing).__name__}"
        )
    path = Path(thing)
    if not path.exists():
        raise TableError(f"there is no table at {str(path)!r}")
    raise TableError(
        f"{path.name!r} is none of .csv, .tsv, .parquet, .arrow, .jsonl, .xlsx, .dta, .sav; convert it, or pass a data frame"
    )


def opens(thing: Any) -> bool:
    """Whether there is a source for it, by its name or its type."""
    return any(kind.opens(thing) for kind in _kinds())


def cut(batches: Iterable[pa.RecordBatch], columns: Sequence[str]) -> Generator[pa.RecordBatch]:
    """Some columns of batches, none longer than ours are."""
    for batch in batches:
        chosen = batch.select(list(columns))
        for start in range(0, chosen.num_rows, BATCH):
            yield chosen.slice(start, BATCH)


def _kinds() -> Iterator[SourceType]:
    for reference in REGISTRY:
        module, _, name = reference.partition(":")
        yield getattr(import_module(module), name)
    for entry in entry_points(group="scumble.sources"):
        yield entry.load()
