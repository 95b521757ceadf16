"""The files of a release, read: what is no Parquet file, or a broken one, is a changed release and no failure of ours."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from scumble.core.errors import ChangedRelease

BROKEN = "cannot be read as the table that its manifest describes; get the release again from its publisher"


@contextmanager
def readable(path: Path | str) -> Iterator[None]:
    """What Arrow and the system say about a file that cannot be read, in one sentence."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        raise ChangedRelease(f"{Path(path).name} {BROKEN}") from None


def rows_in(path: Path) -> int:
    """How many rows a file says that it has."""
    with readable(path):
        return int(pq.read_metadata(path).num_rows)


def schema_of(path: Path) -> pa.Schema:
    """The columns of a file."""
    with readable(path):
        return pq.read_schema(path)


def table_of(paths: Sequence[Path], columns: list[str] | None = None, words: list[str] | None = None) -> pa.Table:
    """The rows of files, below each other; `words` are columns that are left as places of words."""
    parts = []
    for path in paths:
        with readable(path):
            parts.append(pq.read_table(path, columns=columns, read_dictionary=words))
    return pa.concat_tables(parts)
