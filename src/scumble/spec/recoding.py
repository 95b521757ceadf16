"""Recodings that are fixed before the data is seen, and what is published under them.

k-DGS: recode every value by a public rule that does not look at the data, then suppress each row whose whole published tuple occurs fewer
than k times. A row that is published has k - 1 others in its place: replacing it by one of them changes nothing (semantic
k-anonymity, epsilon = 0). Intervals, prefixes and dates are `scumble.spec.coarsening`; here are groups of values and hierarchies.

`fixed_midpoints` is the second method, a partitioning into boxes (Mondrian) whose splits are at the midpoints of declared ranges.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import decoded
from scumble.core.errors import ParameterError, SchemaError
from scumble.core.parameters import plain

Range = tuple[float, float]


@dataclass(frozen=True)
class Recoding:
    """A public table from values to what is published for them."""

    values: tuple[Any, ...]
    labels: tuple[str, ...]

    def recode(self, column: pa.Array, name: str) -> pa.Array:
        """The column as it is published; a value that the recoding misses is refused, a missing one stays missing.

        >>> respiratory = groups({"respiratory": ["flu", "asthma"], "other": ["ulcer"]})
        >>> respiratory.recode(pa.array(["asthma", None, "ulcer"]), "disease").to_pylist()
        ['respiratory', None, 'other']
        >>> respiratory.recode(pa.array(["flu", "gout"]), "disease")
        Traceback (most recent call last):
        ...
        scumble.core.errors.SchemaError: column 'disease': the recoding has no place for 'gout'; add it
        """
        plain = decoded(column)
        places = pc.index_in(plain, value_set=self._listed(plain.type, name))
        missed = pc.and_(pc.is_null(places), pc.is_valid(plain))
        if pc.any(missed).as_py():
            self._refuse(pc.unique(plain.filter(missed)).to_pylist(), name)
        return pa.array(self.labels, pa.string()).take(places)

    def has(self, column: pa.Array) -> pa.Array:
        """Which values have a place; a missing one has."""
        known = pc.is_in(column, value_set=self._listed(column.type, "column"))
        return pc.or_(known, pc.is_null(column))

    def _listed(self, kind: pa.DataType, name: str) -> pa.Array:
        try:
            return pa.array(self.values).cast(kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            raise SchemaError(f"column {name!r} is of type {kind}, and not all values of its recoding are") from None

    def _refuse(self, missed: list[Any], name: str) -> None:
        more = f" and {len(missed) - 1} more values" if missed[1:] else ""
        raise SchemaError(
            f"column {name!r}: the recoding has no place for {missed[0]!r}{more}; add {'them' if more else 'it'}"
        )


def groups(members: Mapping[str, Sequence[Any]]) -> Recoding:
    """The recoding of each group's values to the group's name.

    >>> groups({"low": [1, 2], "high": [3]}).recode(pa.array([3, 1]), "level").to_pylist()
    ['high', 'low']
    """
    values = tuple(value for listed in members.values() for value in listed)
    _demand_distinct(values, "group")
    return Recoding(values, tuple(label for label, listed in members.items() for _ in listed))


def hierarchy(rows: Sequence[Sequence[str]], level: int) -> Recoding:
    """The recoding of a hierarchy's values to their labels at a level; level 0 is the value itself.

    rows   as in the common CSV form: one row for each value, which stands first, and one column for each level

    >>> rows = [["90210", "902**", "*"], ["90211", "902**", "*"], ["10001", "100**", "*"]]
    >>> hierarchy(rows, 1).recode(pa.array([90211, 10001]), "zip").to_pylist()
    ['902**', '100**']
    """
    widths = {len(row) for row in rows}
    if len(widths) != 1:
        shape = f"rows of {sorted(widths)} columns" if widths else "no rows"
        raise SchemaError(f"a hierarchy has one row for each value and equally many levels in all; there are {shape}")
    height = widths.pop()
    if not 0 <= level < height:
        raise SchemaError(f"the hierarchy has levels 0 to {height - 1}, not {level}")
    values = tuple(row[0] for row in rows)
    _demand_distinct(values, "row of the hierarchy")
    _demand_nested(rows, height)
    return Recoding(values, tuple(str(row[level]) for row in rows))


def occurrences(columns: Sequence[pa.Array]) -> npt.NDArray[np.int64]:
    """For each row, how often its tuple occurs, over ALL columns given; missing values are alike.

    >>> occurrences([pa.array(["a", "a", "b"]), pa.array([1, 1, None])]).tolist()
    [2, 2, 1]
    """
    if not columns:
        raise ParameterError("tuples of no columns cannot be counted; give every column that is published")
    place = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        codes = (
            pc.dictionary_encode(column, null_encoding="encode") if not pa.types.is_dictionary(column.type) else column
        )
        indices = pc.fill_null(codes.indices, len(codes.dictionary)).to_numpy(zero_copy_only=False)
        place = np.unique(place * (len(codes.dictionary) + 1) + indices, return_inverse=True)[1]
    return np.bincount(place)[place]


def frequent(columns: Sequence[pa.Array], k: int) -> npt.NDArray[np.bool_]:
    """Which rows k-DGS publishes: those whose tuple occurs at least k times, every published column counted.

    >>> frequent([pa.array(["a", "a", "b"])], 2).tolist()
    [True, True, False]
    """
    demand_k(k)
    return occurrences(columns) >= k


@dataclass(frozen=True)
class HalvedBoxes:
    """A partition: the box of each row (-1: suppressed, where there are fewer than k rows in all), and the boxes' sides."""

    cells: npt.NDArray[np.int64]
    sides: list[list[Range]]


def fixed_midpoints(rows: Any, ranges: Sequence[Range], k: int, *, whole: bool = False) -> HalvedBoxes:
    """Rows in boxes of at least k, found by halving the declared ranges; a box is published as its sides, never as its rows' extent.

    A box has ONE side that may be split, the longest in proportion to its declared range (the first of equals), at its midpoint; it
    is split if both halves hold k rows. A row of a box B that is not split can then be replaced unseen by k - 1 others of B: if its
    half holds fewer than k, by any, because that half stays too small; otherwise by those of its half. Trying the sides in turn until one
    splits, as Mondrian does, may give more boxes but breaks this: a row may have too few others that keep EVERY side from splitting. For the same
    reason the guarantee holds where `rows` has all published attributes (a category as its place in a declared order).

    whole   the numbers are whole, places in a list say: a side that has room for one of them only is never the one

    >>> found = fixed_midpoints([[20], [80], [150], [900], [950]], [(0, 1000)], 2)
    >>> found.cells.tolist(), found.sides
    ([0, 0, 0, 1, 1], [[(0, 500.0)], [(500.0, 1000)]])
    """
    points = np.asarray(rows, dtype=np.float64)
    _demand_inside(points, ranges)
    demand_k(k)
    cells = np.full(len(points), -1, np.int64)
    if len(points) < k:
        return HalvedBoxes(cells, [])
    widths = np.array([high - low for low, high in ranges])
    sides: list[list[Range]] = []
    waiting = [(np.arange(len(points)), list(ranges))]
    while waiting:
        inside, box = waiting.pop()
        halves = _halve(points, inside, box, widths, k, whole)
        if halves:
            waiting += reversed(halves)
        else:
            cells[inside] = len(sides)
            sides.append(box)
    return HalvedBoxes(cells, sides)


def _halve(
    points: npt.NDArray[np.float64],
    inside: npt.NDArray[np.int64],
    box: list[Range],
    widths: npt.NDArray[np.float64],
    k: int,
    whole: bool,
) -> list[tuple[npt.NDArray[np.int64], list[Range]]]:
    """The two halves of a box with their rows, or nothing where one would hold fewer than k."""
    lengths = [
        (high - low) / width * (not whole or np.ceil(high) - np.ceil(low) > 1)
        for (low, high), width in zip(box, widths, strict=True)
    ]
    side = int(np.argmax(lengths))
    if not lengths[side]:
        return []
    low, high = box[side]
    middle = low + (high - low) / 2
    if not low < middle < high:
        return []
    upper = points[inside, side] >= middle
    parts = inside[~upper], inside[upper]
    if min(len(part) for part in parts) < k:
        return []
    sides = (low, middle), (middle, high)
    return [(part, [*box[:side], half, *box[side + 1 :]]) for part, half in zip(parts, sides, strict=True)]


def _demand_inside(points: npt.NDArray[np.float64], ranges: Sequence[Range]) -> None:
    if points.ndim != 2 or points.shape[1] != len(ranges):
        raise ParameterError(
            f"rows of {len(ranges)} numbers are needed, one for each declared range, not shape {points.shape}"
        )
    for number, (low, high) in enumerate(ranges):
        if not low < high:
            raise ParameterError(f"range {number} must have its low end below its high end, not {low} and {high}")
        outside = ~((points[:, number] >= low) & (points[:, number] <= high))
        if outside.any():
            raise SchemaError(
                f"{plain(points[outside, number][0])} is outside the declared range {plain(low)} to {plain(high)} of column {number}"
            )


def _demand_distinct(values: Sequence[Any], where: str) -> None:
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise SchemaError(f"value {twice[0]!r} is in more than one {where}; a value has one place")


def _demand_nested(rows: Sequence[Sequence[str]], height: int) -> None:
    for level in range(1, height - 1):
        above: dict[str, str] = {}
        for row in rows:
            if above.setdefault(row[level], row[level + 1]) != row[level + 1]:
                sentence = f"{above[row[level]]!r} and {row[level + 1]!r}"
                raise SchemaError(
                    f"{row[level]!r} at level {level} is in both {sentence} at level {level + 1}; levels must nest"
                )


def demand_k(k: int) -> None:
    """A crowd has somebody in it."""
    if k < 1:
        raise ParameterError(f"k is the size of a crowd and must be at least 1, not {k}")
