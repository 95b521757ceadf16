"""Row groups of Parquet files, counted side by side: what tally.py and coded.py share, who read codes where an engine would compare values.

As many threads as there are processors have some row groups each, read with words as places in the dictionary that the file has anyway, so that memory
follows the row groups and not the table.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from scumble.core.stopping import current

T = TypeVar("T")


@dataclass(frozen=True)
class File:
    """A file whose footer was read."""

    path: Path
    footer: pq.FileMetaData


Task = tuple[File, Sequence[int]]
"""A file, and the row groups of it that are read together."""


def files_at(paths: Iterable[Path]) -> list[File]:
    """The files, each footer read once."""
    return [File(path, pq.read_metadata(path)) for path in paths]


def read(task: Task, columns: Sequence[str], words: Sequence[str]) -> pa.Table:
    """Some columns of row groups, by this thread alone: others have row groups of their own."""
    file, groups = task
    with pq.ParquetFile(file.path, metadata=file.footer, read_dictionary=words, pre_buffer=False) as opened:
        return opened.read_row_groups(groups, columns=columns, use_threads=False)


def added_up(count: Callable[[Task], T], tasks: Iterable[Task], plus: Callable[[T, T], T], start: T) -> T:
    """The sum of what tasks count; where one fails, or the question is to end, the others are not begun."""
    pool, question = ThreadPoolExecutor(pa.cpu_count()), current()

    def counted(task: Task) -> T:
        if question is not None:
            question.look()
        return count(task)

    try:
        return reduce(plus, pool.map(counted, tasks), start)
    finally:
        pool.shutdown(cancel_futures=True)


def words_of(column: pa.DictionaryArray) -> tuple[pa.Array, npt.NDArray[np.integer[Any]]]:
    """The words of a column, a missing one behind them where there is one, and the place of each row's.

    >>> words, places = words_of(pa.array(["b", None, "a", "b"]).dictionary_encode())
    >>> words.to_pylist(), places.tolist()
    (['b', 'a', None], [0, 2, 1, 0])
    """
    words, places = column.dictionary, column.indices
    if column.null_count:
        words, places = pa.concat_arrays([words, pa.nulls(1, words.type)]), places.fill_null(len(words))
    return words, places.to_numpy()
