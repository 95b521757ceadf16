"""Bytes of a Parquet file that nothing accounts for: readers never look at them, and a whole table fits in.

Accounted for are the column chunks, page indexes and Bloom filters that the footer points to, the copy of a chunk's metadata that some writers
leave behind it, and the footer itself. Zeros may lie anywhere, because some writers align by them.
"""

import mmap
from collections.abc import Iterator
from pathlib import Path

from scumble.auditing.evidence.thrift import Struct, ThriftReader

Span = tuple[int, int]

MAGIC = b"PAR1"
# numbers of fields in the format's definition: of FileMetaData, of RowGroup, of ColumnChunk, of ColumnMetaData and of BloomFilterHeader
ROW_GROUPS, COLUMNS, FILE_OFFSET, META, INDEXES = 4, 1, 2, 3, ((4, 5), (6, 7))
LENGTH, DATA_AT, DICTIONARY_AT, BLOOM_AT, BLOOM_LENGTH, BLOOM_BYTES = 7, 9, 11, 14, 15, 1


def stray_bytes(path: Path) -> int:
    """How many bytes of a file are not zero and belong to nothing."""
    return sum(len(gap.replace(b"\0", b"")) for gap in _gaps(path))


def gap_bytes(path: Path) -> int:
    """How many bytes belong to nothing, zeros too."""
    return sum(map(len, _gaps(path)))


def _gaps(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = len(data) - 8
        start = end - int.from_bytes(data[end : end + 4], "little")
        footer = ThriftReader(data[start:end])
        spans = sorted(_spans(data, footer.struct()))
        place = len(MAGIC)
        for first, last in [*spans, (start, start + footer.place), (end, end)]:
            if first > place:
                yield data[place:first]
            place = max(place, last)


def _spans(data: mmap.mmap, footer: Struct) -> Iterator[Span]:
    for group in footer.get(ROW_GROUPS, []):
        for column in group.get(COLUMNS, []):
            yield from _of_column(data, column)


def _of_column(data: mmap.mmap, column: Struct) -> Iterator[Span]:
    meta = column.get(META, {})
    if LENGTH in meta and DATA_AT in meta:
        start = min(filter(None, (meta[DATA_AT], meta.get(DICTIONARY_AT))), default=0)  # 0 is no place
        end = start + meta[LENGTH]
        yield start, end
        if column.get(FILE_OFFSET) == end:
            yield end, _struct_at(data, end)[1]
    for at, length in INDEXES:
        if at in column and length in column:
            yield column[at], column[at] + column[length]
    if BLOOM_AT in meta:
        start = meta[BLOOM_AT]
        header, end = _struct_at(data, start)
        yield start, start + meta[BLOOM_LENGTH] if BLOOM_LENGTH in meta else end + header.get(BLOOM_BYTES, 0)


def _struct_at(data: mmap.mmap, start: int) -> tuple[Struct, int]:
    """A structure in the middle of the file, and where it ends; nothing, where there is none."""
    reader = ThriftReader(data[start : start + (1 << 16)])
    try:
        struct = reader.struct()
    except ValueError:
        return {}, start
    return struct, start + reader.place
