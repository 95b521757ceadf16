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


def runs_of(publication: Publication, table: pa.Table, files: list[Path]) -> tuple[Codes, bool]:
    """The number of each row's run, and whether rows are in the order in which a release is written."""
    if publication.manifest is not None and table.num_rows > 1:
        written = _as_written(publication.manifest, table, files)
        if written is not None:
            return written, True
    return sorted_runs(table)[1], False


def _as_written(manifest: Manifest, table: pa.Table, files: list[Path]) -> Codes | None:
    starts, start, first = [], 0, 0
    for path in files:
        file = pq.ParquetFile(path)
        coded = coded_columns(file)
        for size in (file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)):
            if size:
                keys = sort_keys(manifest, table.slice(start, size), coded)
                if keys is None or (np.diff(keys.astype(np.int64)) < 0).any():
                    return None
                run = np.concatenate([[0], np.cumsum(np.diff(keys) != 0)]) + first
                starts.append(run)
                start, first = start + size, int(run[-1]) + 1
    return np.concatenate(starts) if start == table.num_rows else None


def coded_columns(file: pq.ParquetFile) -> set[str]:
    """The columns of a file whose values are listed once."""
    if not file.metadata.num_row_groups:
        return set()
    group = file.metadata.row_group(0)
    columns = (group.column(i) for i in range(group.num_columns))
    return {column.path_in_schema for column in columns if "RLE_DICTIONARY" in column.encodings}


def sort_keys(manifest: Manifest, part: pa.Table, coded: set[str]) -> npt.NDArray[np.uint32] | None:
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
