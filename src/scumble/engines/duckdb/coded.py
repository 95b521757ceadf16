"""Counting tuples of few words and small whole numbers straight from the codes of Parquet files.

Each row becomes one place: a word has the number under which it was first met, for which the file's own dictionary is looked up once, a whole number
its distance from the least. Places are counted for some row groups at a time, and the counts added up. An engine that hashes and
compares tuples takes twice as long. Where there are more combinations than worth it, columns of other types, or whole numbers that are missing,
nothing is counted and the engine's way remains.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from scumble.core.arrow_types import is_text
from scumble.engines.duckdb.row_groups import File, Task, added_up, files_at, read, words_of

MOST_CELLS = 1 << 20
"""Combinations of values, at most."""

MOST_WORDS = 1 << 12
"""Different words of a column, at most: each row group lists its own, and they are looked up one by one."""

AT_ONCE = 1 << 22
"""Values that a thread has in memory, about."""

LARGEST = 1 << 24
"""Values of a row group, at most: it is read whole."""

Counts = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


class _TooManyError(Exception):
    """There are more combinations than it is worth."""


def coded_tuples(files: Sequence[Path], names: Sequence[str], least: int) -> tuple[pa.Table, Counts] | None:
    """The tuples that occur at least that often, in the order of their codes, and how often; None where the engine has to count."""
    try:
        paths = files_at(files)
        kinds = {field.name: field.type for field in paths[0].footer.schema.to_arrow_schema()}
        if not all(_worded(kinds[n]) or _whole(kinds[n]) for n in names):
            return None
        columns = [_Words(n, kinds[n]) if _worded(kinds[n]) else _Numbers(n, kinds[n]) for n in names]
        box = _over_files(paths, columns)
    except (_TooManyError, KeyError, OSError, UnicodeDecodeError, pa.ArrowException):
        return None
    if box is None:
        return None
    places = np.flatnonzero(box.counts.ravel() >= max(least, 1))
    codes = np.unravel_index(places, box.counts.shape)
    values = {c.name: c.values(own + low) for c, own, low in zip(columns, codes, box.lows, strict=True)}
    return pa.table(values), box.counts.ravel()[places]


def _worded(kind: pa.DataType) -> bool:
    return is_text(kind) or bool(pa.types.is_boolean(kind))


def _whole(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) and not pa.types.is_uint64(kind))


class _Words:
    """Text and truth values: each value has the number under which it was first met."""

    def __init__(self, name: str, kind: pa.DataType) -> None:
        self.name, self._kind = name, kind
        self._known: dict[object, int] = {}
        self._lock = Lock()

    def codes(self, column: pa.ChunkedArray) -> tuple[int, int, Codes]:
        """The first code, how many there are at most, and those of the rows."""
        parts = [self._part(chunk) for chunk in column.chunks]
        return 0, len(self._known), np.concatenate(parts) if len(parts) != 1 else parts[0]

    def _part(self, chunk: pa.Array) -> Codes:
        if not pa.types.is_dictionary(chunk.type):
            chunk = chunk.dictionary_encode()
        words, places = words_of(chunk)
        with self._lock:
            own = np.array([self._known.setdefault(word, len(self._known)) for word in words.to_pylist()], np.int32)
        if len(self._known) > MOST_WORDS:
            raise _TooManyError
        return np.asarray(own.take(places, mode="clip"))

    def values(self, codes: npt.NDArray[np.intp]) -> pa.Array:
        """The values of codes."""
        return pa.array(list(self._known), self._kind).take(pa.array(codes))


class _Numbers:
    """Whole numbers: each is its own code."""

    def __init__(self, name: str, kind: pa.DataType) -> None:
        self.name, self._kind = name, kind

    def codes(self, column: pa.ChunkedArray) -> tuple[int, int, Codes]:
        """The least, how many there are up to the largest, and their distances from it."""
        if column.null_count:
            raise _TooManyError
        ends = pc.min_max(column).as_py()
        first, last = int(ends["min"]), int(ends["max"])
        if last - first >= MOST_CELLS:
            raise _TooManyError
        parts = [chunk.to_numpy() for chunk in column.chunks]
        numbers = np.concatenate(parts) if len(parts) != 1 else parts[0]
        if numbers.itemsize < 4:  # the distance may be larger than the type is wide
            numbers = numbers.astype(np.int32)
        return first, last - first + 1, (numbers - numbers.dtype.type(first)).astype(np.int32, copy=False)

    def values(self, codes: npt.NDArray[np.intp]) -> pa.Array:
        """The numbers of codes."""
        return pa.array(codes).cast(self._kind)


@dataclass(frozen=True)
class _Box:
    """Counts of combinations: an axis for each column, which begins at a code of its own."""

    lows: tuple[int, ...]
    counts: Counts

    def plus(self, other: "_Box") -> "_Box":
        """The sum, in a box around both."""
        if self.lows == other.lows and self.counts.shape == other.counts.shape:
            return _Box(self.lows, self.counts + other.counts)
        lows = tuple(map(min, self.lows, other.lows))
        ends = [max(a, b) for a, b in zip(self._ends, other._ends, strict=True)]
        counts = np.zeros(_demand([end - low for end, low in zip(ends, lows, strict=True)]), np.int64)
        for box in (self, other):
            counts[tuple(slice(a - low, b - low) for a, b, low in zip(box.lows, box._ends, lows, strict=True))] += (
                box.counts
            )
        return _Box(lows, counts)

    @property
    def _ends(self) -> list[int]:
        return [low + size for low, size in zip(self.lows, self.counts.shape, strict=True)]


def _demand(sizes: Sequence[int]) -> tuple[int, ...]:
    if int(np.prod(sizes, dtype=object)) > MOST_CELLS:
        raise _TooManyError
    return tuple(sizes)


def _over_files(files: Sequence[File], columns: Sequence[_Words | _Numbers]) -> _Box | None:
    """The first row group tells whether it is worth it; the others are counted side by side."""
    tasks = [(file, groups) for file in files for groups in _together(file.footer, len(columns))]
    if not tasks:
        return None
    (file, (first, *others)), *rest = tasks
    left = [(file, others), *rest] if others else rest
    return added_up(lambda task: _box(task, columns), left, _Box.plus, _box((file, [first]), columns))


def _together(metadata: pq.FileMetaData, columns: int) -> list[list[int]]:
    """Row groups that are counted together."""
    sets: list[list[int]] = []
    held = AT_ONCE
    for place in range(metadata.num_row_groups):
        values = metadata.row_group(place).num_rows * columns
        if values > LARGEST:
            raise _TooManyError
        if values and held + values > AT_ONCE:
            sets.append([])
            held = 0
        if values:
            sets[-1].append(place)
            held += values
    return sets


def _box(task: Task, columns: Sequence[_Words | _Numbers]) -> _Box:
    words = [column.name for column in columns if isinstance(column, _Words)]
    rows = read(task, [column.name for column in columns], words)
    coded = [column.codes(rows.column(column.name)) for column in columns]
    sizes = _demand([size for _, size, _ in coded])
    places = np.zeros(rows.num_rows, np.int32)
    for _, size, codes in coded:
        places *= size
        places += codes
    counts = np.bincount(places, minlength=int(np.prod(sizes))).astype(np.int64, copy=False)
    return _Box(tuple(low for low, _, _ in coded), counts.reshape(sizes))
