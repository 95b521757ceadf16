"""Rows that lie together because they were sorted by what they publish: within such a run every order is alike likely, and nothing may be told by it.

A release is written in row groups, each sorted by columns of few values (`publishing.shuffle.alike`), rows that are equal in these in random order. The runs are worked out in the same way from the published
values. Where a file is not in that order, and of tables that another tool made, the columns by which rows are sorted are looked for, as a whole or piece by piece.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from scumble.auditing.evidence.publication import Codes, Publication, together
from scumble.core.arrow_types import is_text
from scumble.publishing.encode import SensitiveColumn, sorted_dictionary
from scumble.publishing.shuffle import alike
from scumble.release.manifest import Manifest

PIECE, PIECES = 1 << 17, 16
"""A table may have been written in pieces that are sorted each by itself: so many, or of so many rows at least."""


HEAD = 1 << 20
"""Rows whose runs are worked out where an excerpt of a table is looked at: the first ones."""


def runs_of(publication: Publication, which: int, files: list[Path]) -> tuple[Codes, Codes]:
    """The rows of one of its tables whose runs are known, as places in it, and the number of the run of each."""
    table, manifest = publication.tables[which], publication.manifest
    rows = np.arange(table.num_rows)
    if publication.excerpt.whole:
        written = _as_written(manifest, files, table) if manifest is not None and table.num_rows > 1 else None
        return rows, sorted_runs(table)[1] if written is None else written
    if manifest is None or not files:
        return rows[:0], rows[:0]
    run, places = _as_written(manifest, files), publication.places[which]
    if run is None:
        return rows[:0], rows[:0]
    known = rows[places < len(run)]
    return known, run[places[known]]


def in_order(manifest: Manifest, files: list[Path]) -> bool:
    """Whether all rows are in the order in which a release is written."""
    return all(keys is not None for keys in _keys(manifest, files))


def _as_written(manifest: Manifest, files: list[Path], table: pa.Table | None = None) -> Codes | None:
    """The runs of the rows of files, or of the first ones; nothing where they are not in that order."""
    runs, first = [np.zeros(0, dtype=np.int64)], 0
    for keys in _keys(manifest, files):
        if keys is None:
            return None
        run = np.concatenate([[0], np.cumsum(np.diff(keys) != 0)]) + first
        runs.append(run)
        first = int(run[-1]) + 1
        if table is None and sum(map(len, runs)) >= HEAD:
            break
    made = np.concatenate(runs)
    return made if table is None or len(made) == table.num_rows else None


def _keys(manifest: Manifest, files: list[Path]) -> Iterator[npt.NDArray[np.uint32] | None]:
    """The numbers that each row group is sorted by; nothing where it is not."""
    for path in files:
        file = pq.ParquetFile(path)
        coded = coded_columns(file)
        for number in range(file.metadata.num_row_groups):
            if file.metadata.row_group(number).num_rows:
                keys = sort_keys(manifest, file.read_row_group(number), coded)
                yield None if (np.diff(keys.astype(np.int64)) < 0).any() else keys


def coded_columns(file: pq.ParquetFile) -> set[str]:
    """The columns of a file whose values are listed once."""
    if not file.metadata.num_row_groups:
        return set()
    group = file.metadata.row_group(0)
    columns = (group.column(i) for i in range(group.num_columns))
    return {column.path_in_schema for column in columns if "RLE_DICTIONARY" in column.encodings}


def sort_keys(manifest: Manifest, part: pa.Table, coded: set[str]) -> npt.NDArray[np.uint32]:
    """The numbers by which the rows of a row group are sorted; all the same where there is nothing to sort by."""
    made = alike([key for name in part.column_names for key in _key(manifest, part, name, coded)], part.num_rows)
    return np.zeros(part.num_rows, dtype=np.uint32) if made is None else made


def _key(manifest: Manifest, part: pa.Table, name: str, coded: set[str]) -> Iterator[pa.Array]:
    column = part.column(name).combine_chunks()
    record = manifest.column(name)
    if record is not None and record.role == "sensitive" and record.domain is not None:
        if record.records and record.records[0].coded is not None:
            yield column
            return
        domain = record.values
        yield SensitiveColumn(name, domain).key(pa.array(domain.encode(column, name)), column)
    elif is_text(column.type) or pa.types.is_dictionary(column.type):
        if name in coded:
            words = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
            used = words.dictionary.take(words.indices).dictionary_encode()  # only words of this row group
            yield sorted_dictionary(used).indices
    else:
        yield column


def _turns_by_chance(codes: Codes, pairs: int) -> float:
    """How many of so many pairs of neighbours fall, in random order."""
    shares = np.bincount(codes) / len(codes)
    return pairs * float(1 - (shares**2).sum()) / 2


def sorted_runs(table: pa.Table) -> tuple[list[str], Codes]:
    """The columns by which the rows are sorted, rising or falling, piece by piece; and the number of each row's run of equal ones.

    >>> names, run = sorted_runs(pa.table({"x": [1, 3, 2, 3], "y": [1, 1, 2, 2]}))
    >>> names, run.tolist()
    (['y', 'x'], [0, 1, 2, 3])
    """
    findings: list[str] = []
    same = np.ones(max(0, table.num_rows - 1), dtype=np.bool_)
    pieces = max(PIECES, table.num_rows // PIECE)
    while same.any():
        for name in table.column_names:
            if name in findings:
                continue
            (codes,), count = together([name], table)
            step = np.diff(codes)
            inside = step[same]
            turns = min(int((inside < 0).sum()), int((inside > 0).sum()))
            if count > 1 and inside.any() and turns <= min(pieces, _turns_by_chance(codes, len(inside)) / 5):
                findings.append(name)
                same &= step == 0
                break
        else:
            break
    return findings, np.concatenate([[0], np.cumsum(~same)]).astype(np.int64)
