"""How many published rows lie in each combination of cells, straight from the codes of Parquet files.

A question about perturbed columns alone needs no SQL over the rows. Each column becomes the number of its cell by ONE lookup in a table
over its values (for words over the dictionary that the file has anyway), the numbers are added into one place for each row, and the
places are counted. An engine that must compare values and group rows does several times that work.

Row groups are counted by as many threads as there are processors, so memory follows the largest of them, not the table.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from scumble.domain import Domain, Grid, is_text
from scumble.engines.engine import Axis
from scumble.errors import SchemaError

MOST_CELLS = 1 << 16
"""Combinations, at most: beyond, the places of a row group are more than fit a processor's cache."""

WIDEST = 1 << 16
"""Whole numbers that a table is made for, at most."""

Counts = npt.NDArray[np.int64]
Places = npt.NDArray[np.unsignedinteger]


def tally(files: Sequence[Path], axes: Sequence[Axis]) -> Counts | None:
    """The counts, in the order of the axes; None where a statement is the better way, or the one that says what is wrong with a file."""
    cells = int(np.prod([axis.count for axis in axes], dtype=object))
    told = [axis for axis in axes if axis.count > 1]
    if len(told) < 2 or cells > MOST_CELLS or not all(_quick(axis.domain) for axis in told):
        return None
    columns, unit = list[_Column](), cells
    for axis in told:
        unit //= axis.count
        numbers = pa.types.is_integer(axis.domain.type)
        adds = (axis.cells * unit).astype(np.min_scalar_type(cells - 1))
        columns.append((_Numbers if numbers else _Column)(axis.name, axis.domain, adds))
    try:
        return _over_groups(files, columns, cells)
    except (SchemaError, KeyError, OSError, pa.ArrowException):
        return None


def _quick(domain: Domain) -> bool:
    """Whether the values of a domain are looked up faster than compared."""
    if pa.types.is_integer(domain.type):
        first, last = _ends(domain)
        return last - first < WIDEST and last <= np.iinfo(np.int64).max
    return is_text(domain.type) or isinstance(domain, Grid)


def _ends(domain: Domain) -> tuple[int, int]:
    """The smallest and the largest of whole numbers; from 0 on where that is near."""
    numbers = domain.values.drop_null().to_pylist() or [0]
    first = min(numbers)
    return (0 if 0 < first < WIDEST else first), max(numbers)


class _Column:
    """A column, and what each value of its domain adds to the place of a row."""

    def __init__(self, name: str, domain: Domain, adds: Places) -> None:
        self.name, self.domain, self.adds = name, domain, adds

    def places(self, values: pa.Array) -> Places:
        """What each row adds."""
        if not pa.types.is_dictionary(values.type):
            return np.asarray(self.adds.take(self.domain.encode(values, self.name)))
        words, indices = values.dictionary, values.indices
        if values.null_count:
            words, indices = pa.concat_arrays([words, pa.nulls(1, words.type)]), indices.fill_null(len(words))
        return np.asarray(self.adds[self.domain.encode(words, self.name)].take(indices.to_numpy(), mode="clip"))


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


def _over_groups(files: Sequence[Path], columns: Sequence[_Column], cells: int) -> Counts:
    words = [column.name for column in columns if is_text(column.domain.type)]
    total = np.zeros(cells, dtype=np.int64)

    def count(group: tuple[Path, pq.FileMetaData, int]) -> Counts:
        path, metadata, place = group
        # read by this thread alone: others have row groups of their own
        with pq.ParquetFile(path, metadata=metadata, read_dictionary=words, pre_buffer=False) as file:
            rows = file.read_row_group(place, columns=[column.name for column in columns], use_threads=False)
        return _counted(rows, columns, cells)

    pool = ThreadPoolExecutor(pa.cpu_count())
    try:
        for counts in pool.map(count, _groups(files)):
            total += counts
    finally:
        pool.shutdown(cancel_futures=True)
    return total


def _groups(files: Sequence[Path]) -> list[tuple[Path, pq.FileMetaData, int]]:
    """The row groups of files."""
    heads = [(path, pq.read_metadata(path)) for path in files]
    return [(path, head, i) for path, head in heads for i in range(head.num_row_groups)]


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
