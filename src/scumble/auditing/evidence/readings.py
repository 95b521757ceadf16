"""The whole numbers that a column may stand for: its own, or those that its text says in decimal, backwards, in hexadecimal or in Base64.

What all values begin or end with ("P-", "-X", the same day, the fixed parts of a UUID) says nothing and is taken away.
"""

import base64
import binascii
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import is_text

Numbers = npt.NDArray[np.int64]

DECIMAL, HEXADECIMAL = r"^\d{1,18}$", r"^[0-9a-fA-F]{1,15}$"
LONGEST = 24
"""Characters of Base64 beyond which nobody has a number in mind."""


def readings(column: pa.ChunkedArray) -> Iterator[Numbers]:
    """Each way to read all values of a column that has no missing ones."""
    if pa.types.is_integer(column.type):
        yield _numbers(column)
    elif pa.types.is_temporal(column.type) and not pa.types.is_interval(column.type):
        ticks = pa.int32() if column.type.bit_width == 32 else pa.int64()
        yield _numbers(column.cast(ticks))
    elif pa.types.is_floating(column.type):
        values = column.to_numpy()
        if np.isfinite(values).all() and np.abs(values).max() < 1 << 53 and (values == np.rint(values)).all():
            yield values.astype(np.int64)
    elif is_text(column.type):
        yield from _of_text(column.cast(pa.string()))


def _numbers(column: pa.ChunkedArray) -> Numbers:
    values = column.to_numpy()
    return np.asarray(
        values.astype(np.int64) if values.dtype != np.uint64 else (values >> np.uint64(1)).astype(np.int64)
    )


def _of_text(column: pa.ChunkedArray) -> Iterator[Numbers]:
    texts = bare(column)
    digits = pc.replace_substring_regex(texts, r"\D+", "")
    if _all(digits, DECIMAL):
        yield digits.cast(pa.int64()).to_numpy()
        shortest = pc.utf8_ltrim(digits, "0")
        for text in (digits, pc.if_else(pc.equal(shortest, ""), "0", shortest)):
            yield pc.utf8_reverse(text).cast(pa.int64()).to_numpy()
    if _all(texts, HEXADECIMAL):
        yield np.array([int(text, 16) for text in texts.to_pylist()], dtype=np.int64)
    yield from _base64(column)


def bare(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text without what all values begin and end with; zeros are kept, because numbers may be padded with them.

    >>> bare(pa.chunked_array([["P-001-X", "P-012-X"]])).to_pylist()
    ['001', '012']
    """
    for _ in range(2):
        ends = pc.min_max(column).as_py()
        same = next(
            (i for i, (a, b) in enumerate(zip(ends["min"], ends["max"], strict=False)) if a != b),
            min(map(len, ends.values())),
        )
        begun = ends["min"][:same].rstrip("0123456789")
        column = pc.utf8_reverse(pc.utf8_slice_codeunits(column, len(begun)))
    return column


def _all(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, pattern)).as_py())


def _base64(column: pa.ChunkedArray) -> Iterator[Numbers]:
    """Bytes that are a number, or digits of one."""
    decoded = []
    if pc.max(pc.utf8_length(column)).as_py() > LONGEST or not _all(column, r"^[A-Za-z0-9+/_-]+=*$"):
        return
    for text in column.to_pylist():
        try:
            decoded.append(base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), altchars=b"-_"))
        except binascii.Error:
            return
    if all(word.isdigit() and len(word) <= 18 for word in decoded):
        yield np.array([int(word) for word in decoded], dtype=np.int64)
    elif max(map(len, decoded)) <= 7:
        yield np.array([int.from_bytes(word, "big") for word in decoded], dtype=np.int64)
        yield np.array([int.from_bytes(word, "little") for word in decoded], dtype=np.int64)
