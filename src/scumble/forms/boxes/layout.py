"""The values that the sides of boxes hold, laid out: all of a set, and of a range all or so many in even distances.

Boxes that have the same side are numbered once; what is laid out is laid out for each different side and not for each box.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

POINTS = 512
"""Values of a range that are laid out, at most: of a longer one, and of numbers that are not whole, so many in even distances."""

Places = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """A public column of the table: the published columns that have its two ends, or its set of values."""

    name: str
    columns: Sequence[str]
    type: str


@dataclass(frozen=True)
class Laid:
    """The values of the different sides of one column, one below the other: side, value, and how many a side has."""

    box: Places
    """The side of each box."""
    start: Places
    """Where the values of a side begin."""
    length: Places
    values: pa.Array

    @classmethod
    def of(cls, side: Side, boxes: pa.Table) -> "Laid":
        """Lays out a side of all boxes."""
        columns = [boxes.column(name).combine_chunks() for name in side.columns]
        if len(columns) == 1:
            return cls._of_sets(columns[0])
        codes = [_codes(column) for column in columns]
        box, first = _numbered(codes)
        low, high = (column.take(pa.array(first)) for column in columns)
        length, values = _range(side.type, low, high)
        return cls(box, np.cumsum(length) - length, length, values)

    @classmethod
    def _of_sets(cls, sets: pa.ListArray) -> "Laid":
        whole = sets.cast(pa.large_list(sets.type.value_type))
        ends, codes = whole.offsets.to_numpy(), _codes(whole.values)
        texts = [codes[a:b].tobytes() for a, b in pairwise(ends)]
        known: dict[bytes, int] = {}
        box = np.array([known.setdefault(text, len(known)) for text in texts], dtype=np.int64)
        _, first = np.unique(box, return_index=True)
        length = (ends[1:] - ends[:-1])[first].astype(np.int64)
        taken = np.repeat(ends[:-1][first], length) + _steps(length)
        return cls(box, np.cumsum(length) - length, length, whole.values.take(pa.array(taken)))


def combined(sides: Sequence[Side], laid: Sequence[Laid]) -> tuple[Places, pa.Table]:
    """For several columns: the combination of sides that each box has, and all values of each combination with their share.

    The table has the columns `scumble id` and `scumble f` beside those of the sides.
    """
    box, first = _numbered([laid_side.box for laid_side in laid])
    ids, shares = np.arange(len(first)), np.ones(len(first))
    places: list[Places] = []
    for laid_side in laid:
        own = laid_side.box[first][ids]
        length = laid_side.length[own]
        repeated = np.repeat(np.arange(len(ids)), length)
        places = [place[repeated] for place in places]
        places.append(np.repeat(laid_side.start[own], length) + _steps(length))
        ids, shares = ids[repeated], (shares / np.maximum(length, 1))[repeated]
    named = zip(sides, laid, places, strict=True)
    values = {side.name: laid_side.values.take(pa.array(place)) for side, laid_side, place in named}
    return box, pa.table({"scumble id": ids, "scumble f": shares, **values})


def _codes(values: pa.Array) -> Places:
    """A number for each different value, also for one that is missing."""
    encoded = values.dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False)).astype(np.int64)


def _numbered(codes: Sequence[Places]) -> tuple[Places, Places]:
    """The number of each combination of codes, and where it is first found."""
    whole = np.zeros(len(codes[0]), dtype=np.int64)
    for code in codes:
        _, whole = np.unique(whole * (int(code.max(initial=0)) + 1) + code, return_inverse=True)
    _, first, number = np.unique(whole, return_index=True, return_inverse=True)
    return number.astype(np.int64), first.astype(np.int64)


def _steps(length: Places) -> Places:
    """0, 1, ... for each length.

    >>> _steps(np.array([2, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)


def _range(kind: str, low: pa.Array, high: pa.Array) -> tuple[Places, pa.Array]:
    """The middles of equal parts of each range: all of its values, where they are whole and not too many; a missing one is missing."""
    missing = np.asarray(pc.or_(low.is_null(), high.is_null()).to_numpy(zero_copy_only=False))
    whole, plain = "int" in kind or kind.startswith("date"), _plain_type(kind)
    a, b = (np.asarray(end.cast(plain).fill_null(0).to_numpy(zero_copy_only=False)) for end in _plain(kind, low, high))
    span = (b.astype(np.uint64) - a.astype(np.uint64) if plain != pa.float64() else b - a).astype(np.float64)
    width = span + 1 if whole else span
    length = np.minimum(width, POINTS) if whole else np.where(span == 0, 1, POINTS)
    length = np.where(missing, 1, length).astype(np.int64)
    offset = (_steps(length) + 0.5) / np.repeat(length, length) * np.repeat(width, length)
    values = _placed(np.repeat(a, length), np.floor(offset) if whole else offset)
    return length, _typed(kind, low.type, pa.array(values, mask=np.repeat(missing, length)))


def _plain_type(kind: str) -> pa.DataType:
    """The numbers that a range is laid out in."""
    if kind == "uint64":
        return pa.uint64()
    return pa.int64() if "int" in kind or kind.startswith(("date", "timestamp")) else pa.float64()


def _plain(kind: str, *ends: pa.Array) -> list[pa.Array]:
    """Days, microseconds, or the numbers themselves."""
    if kind.startswith("date"):
        return [end.cast(pa.date32()).cast(pa.int32()) for end in ends]
    if kind.startswith("timestamp"):
        return [end.cast(pa.timestamp("us", end.type.tz), safe=False).cast(pa.int64()) for end in ends]
    return list(ends)


def _placed(start: npt.NDArray[Any], offset: Floats) -> npt.NDArray[Any]:
    """Start and offset added; whole numbers as such, so that none of their digits is lost."""
    if start.dtype.kind == "f":
        return np.asarray(start + offset)
    return np.asarray((start.astype(np.uint64) + np.rint(offset).astype(np.uint64)).astype(start.dtype))


def _typed(kind: str, published: pa.DataType, values: pa.Array) -> pa.Array:
    if kind.startswith("date"):
        return values.cast(pa.int32()).cast(pa.date32())
    return values.cast(pa.timestamp("us", published.tz)) if kind.startswith("timestamp") else values
