"""How many published rows lie in each combination of cells, straight from the codes of Parquet files.

A question about perturbed columns alone needs no SQL over the rows. Each column becomes the number of its cell by ONE lookup in a table
over its values (for words over the dictionary that the file has anyway), the numbers are added into one place for each row, and the
places are counted. An engine that compares values and groups rows takes about twice as long, and three times with words.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.arrow_types import is_text
from scumble.core.domain import Domain, Grid
from scumble.core.errors import SchemaError
from scumble.engines.duckdb.row_groups import added_up, files_at, read, words_of
from scumble.engines.engine import Axis

MOST_CELLS = 1 << 16
"""Combinations, at most: beyond, the places of a row group are more than fit a processor's cache."""

WIDEST = 1 << 16
"""Whole numbers that a table is made for, at most."""

MOST_ENDS = 8
"""Ends of ranges of a grid that numbers are compared with, at most."""

Counts = npt.NDArray[np.int64]
Places = npt.NDArray[np.unsignedinteger]


def tally(files: Sequence[Path], axes: Sequence[Axis]) -> Counts | None:
    """The counts, in the order of the axes; None where a statement is the better way, or the one that says what is wrong with a file."""
    cells = int(np.prod([axis.count for axis in axes], dtype=object))
    several = [axis for axis in axes if axis.count > 1]
    if len(several) < 2 or cells > MOST_CELLS or not all(_quick(axis) for axis in several):
        return None
    columns, unit = list[_Column](), cells
    for axis in several:
        unit //= axis.count
        columns.append(_column(axis, (axis.cells * unit).astype(np.min_scalar_type(cells - 1))))
    try:
        return _over_groups(files, columns, cells)
    except (SchemaError, KeyError, OSError, pa.ArrowException):
        return None


def _quick(axis: Axis) -> bool:
    """Whether a column has a quicker way to its cells than a statement."""
    if pa.types.is_integer(axis.domain.type):
        first, last = _ends(axis.domain)
        return last - first < WIDEST and last <= np.iinfo(np.int64).max
    return is_text(axis.domain.type) or _in_ranges(axis)


def _in_ranges(axis: Axis) -> bool:
    """Whether the cells are few ranges of a grid."""
    binary = pa.types.is_integer(axis.domain.type) or pa.types.is_floating(axis.domain.type)
    return isinstance(axis.domain, Grid) and binary and bool(np.count_nonzero(np.diff(axis.cells)) <= MOST_ENDS)


def _ends(domain: Domain) -> tuple[int, int]:
    """The smallest and the largest of whole numbers; from 0 on where that is near."""
    numbers = domain.values.drop_null().to_pylist() or [0]
    first = min(numbers)
    return (0 if 0 < first < WIDEST else first), max(numbers)


def _column(axis: Axis, adds: Places) -> "_Column":
    if isinstance(axis.domain, Grid) and _in_ranges(axis):
        return _Ranges(axis.name, axis.domain, adds)
    return (_Numbers if pa.types.is_integer(axis.domain.type) else _Column)(axis.name, axis.domain, adds)


class _Column:
    """A column, and what each value of its domain adds to the place of a row."""

    def __init__(self, name: str, domain: Domain, adds: Places) -> None:
        self.name, self.domain, self.adds = name, domain, adds

    def places(self, values: pa.Array) -> Places:
        """What each row adds."""
        if not pa.types.is_dictionary(values.type):
            return np.asarray(self.adds.take(self.domain.encode(values, self.name)))
        words, places = words_of(values)
        return np.asarray(self.adds[self.domain.encode(words, self.name)].take(places, mode="clip"))


class _Numbers(_Column):
    """Whole numbers, which are looked up as they are."""

    def __init__(self, name: str, domain: Domain, adds: Places) -> None:
        super().__init__(name, domain, adds)
        self._first, last = _ends(domain)
        known = np.array([number - self._first for number in domain.values.drop_null().to_pylist()], dtype=np.intp)
        self._adds = np.zeros(last - self._first + 1, dtype=adds.dtype)
        self._adds[known] = adds[domain.values.is_valid().to_numpy(zero_copy_only=False)]
        self._gaps = np.ones(len(self._adds), dtype=np.bool_)
        self._gaps[known] = False

    def places(self, values: pa.Array) -> Places:
        """What each row adds."""
        if values.null_count or not len(values) or not pa.types.is_integer(values.type):
            return super().places(values)
        numbers = values.to_numpy()
        low, high = int(numbers.min()) - self._first, int(numbers.max()) - self._first
        if low < 0 or high >= len(self._adds):
            raise SchemaError(f"column {self.name!r} has values outside its domain")
        places = numbers.astype(np.int64) - self._first if self._first or numbers.dtype == np.uint64 else numbers
        if self._gaps[low : high + 1].any() and self._gaps.take(places, mode="clip").any():
            raise SchemaError(f"column {self.name!r} has values outside its domain")
        return np.asarray(self._adds.take(places, mode="clip"))


class _Ranges(_Column):
    """Numbers of a grid, which are compared with the ends of ranges; these lie halfway between two points, or at the first where nothing is between."""

    def __init__(self, name: str, domain: Grid, adds: Places) -> None:
        super().__init__(name, domain, adds)
        points, last = domain.numbers, np.flatnonzero(np.diff(adds.astype(np.int64)))
        ends = (points[last] + points[last + 1]) / 2 if domain.roomy else points[last]
        self._ends = [float(end) for end in ends]
        self._steps = np.diff(adds)[last]  # a step down is a large step up: the sum comes round to it
        self._low, self._high = points[0] - (points[1] - points[0]) / 2, points[-1] + (points[1] - points[0]) / 2

    def places(self, values: pa.Array) -> Places:
        """What each row adds."""
        if values.null_count or not len(values):
            return super().places(values)
        numbers = values.to_numpy()
        if not (self._low < numbers.min() and numbers.max() < self._high):  # nor is NaN
            raise SchemaError(f"column {self.name!r} has values outside its domain")
        places = np.full(len(numbers), self.adds[0])
        for end, step in zip(self._ends, self._steps, strict=True):
            places += (numbers > end).view(np.uint8) * step
        return places


def _over_groups(files: Sequence[Path], columns: Sequence[_Column], cells: int) -> Counts:
    names = [column.name for column in columns]
    words = [column.name for column in columns if is_text(column.domain.type)]
    tasks = [(file, [group]) for file in files_at(files) for group in range(file.footer.num_row_groups)]
    nothing = np.zeros(cells, dtype=np.int64)
    return added_up(lambda task: _counted(read(task, names, words), columns, cells), tasks, np.add, nothing)


def _counted(rows: pa.Table, columns: Sequence[_Column], cells: int) -> Counts:
    """How many rows have each place."""
    places = np.zeros(rows.num_rows, dtype=columns[0].adds.dtype)
    for column in columns:
        start = 0
        for chunk in rows.column(column.name).chunks:
            places[start : start + len(chunk)] += column.places(chunk)
            start += len(chunk)
    if places.dtype != np.uint8:
        return np.bincount(places, minlength=cells).astype(np.int64, copy=False)
    # two rows at a time: half as many steps
    even = len(places) // 2 * 2
    pairs = np.bincount(places[:even].view(np.uint16), minlength=1 << 16).reshape(256, 256)
    counts = pairs.sum(axis=0) + pairs.sum(axis=1) + np.bincount(places[even:], minlength=256)
    return np.asarray(counts[:cells])
