"""The public set of values of a column: categories, or a numeric grid.

A domain turns values into codes 0..m-1 and back. Whatever is outside it is refused by name: a value that the channel
could never have produced would be known to be true.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.arrow_types import decoded, is_number
from scumble.core.errors import NotOnGrid, SchemaError

LARGEST_GRID = 10_000_000
MOST_DIGITS = 38
"""Of the numbers of a grid, on either side of the point: as many as a decimal of 128 bits has."""

Codes = npt.NDArray[np.unsignedinteger]


class Domain(ABC):
    """`size` values of the Arrow type `type`, in a fixed order."""

    type: pa.DataType

    @property
    @abstractmethod
    def size(self) -> int:
        """How many values there are."""

    @property
    @abstractmethod
    def values(self) -> pa.Array:
        """All of them, in the order of their codes; a missing value, where it belongs to the domain, is a null."""

    @abstractmethod
    def encode(self, column: pa.Array, name: str) -> Codes:
        """The codes of a column's values; a value outside the domain is refused."""

    @abstractmethod
    def holds(self, column: pa.Array) -> pa.Array:
        """Which values of a column lie in the domain, so that `encode` takes them."""

    @property
    def code_type(self) -> np.dtype[np.unsignedinteger]:
        """The narrowest unsigned integer that holds every code."""
        return np.dtype(np.min_scalar_type(self.size - 1))

    @property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The values as numbers; refused where they are none."""
        if not is_number(self.type):
            raise SchemaError(f"values of type {self.type} are not numbers")
        return np.asarray(self.values.cast(pa.float64()).to_numpy(zero_copy_only=False))


@dataclass(frozen=True, eq=False)
class Categories(Domain):
    """A list of values; None stands for a missing one.

    >>> domain = Categories(["flu", "cold", None], pa.string())
    >>> domain.encode(pa.array(["cold", None, "flu"]), "disease").tolist()
    [1, 2, 0]
    """

    listed: Sequence[Any]
    type: pa.DataType

    def __post_init__(self) -> None:
        if any(value != value for value in self.listed):
            raise SchemaError("a domain cannot hold NaN; use a missing value instead")
        if len(set(self.listed)) != len(self.listed):
            twice = next(v for i, v in enumerate(self.listed) if v in self.listed[:i])
            raise SchemaError(f"a domain lists each value once, but {twice!r} stands in it twice")
        try:
            values = pa.array(self.listed, type=self.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            words = any(isinstance(value, str) for value in self.listed) and not pa.types.is_temporal(self.type)
            way = "; where the table is a file, read the column as text (text = true, --text), or list its values as it has them"
            raise SchemaError(
                f"the values {_shown(self.listed)} do not fit a column of type {self.type}{way if words else ''}"
            ) from None
        object.__setattr__(self, "_values", values)

    @property
    def size(self) -> int:
        """How many values are listed."""
        return len(self.listed)

    @property
    def values(self) -> pa.Array:
        """The listed values."""
        return self._values  # type: ignore[attr-defined]

    def encode(self, column: pa.Array, name: str) -> Codes:
        """The places of the values in the list."""
        if pa.types.is_dictionary(column.type):
            return self._encode_dictionary(column, name)
        return self._lookup(column, name)

    def holds(self, column: pa.Array) -> pa.Array:
        """Those that are listed."""
        return pc.is_valid(self._known(decoded(column)))

    def _known(self, column: pa.Array) -> pa.Array:
        """The places of values in the list; none of those that are not in it."""
        if pa.types.is_floating(column.type):
            column = pc.add(column, pa.scalar(0.0, column.type))  # -0.0 is 0.0
        return pc.index_in(column if column.type == self.type else column.cast(self.type), value_set=self.values)

    def _encode_dictionary(self, column: pa.DictionaryArray, name: str) -> Codes:
        used = column.dictionary
        positions = column.indices
        if column.null_count:
            used = pa.concat_arrays([used, pa.nulls(1, used.type)])
            positions = positions.fill_null(len(used) - 1)
        places = positions.to_numpy(zero_copy_only=False)
        known = pc.index_in(used.cast(self.type), value_set=self.values)
        if known.null_count:  # a dictionary may hold values that no row has
            unused = np.setdiff1d(np.arange(len(used)), places)
            known = pc.if_else(pa.array(np.isin(np.arange(len(used)), unused)), pa.scalar(0, pa.int32()), known)
            self._refuse_unknown(used, known, name)
        return np.asarray(known.to_numpy(zero_copy_only=False).astype(self.code_type)[places])

    def _lookup(self, column: pa.Array, name: str) -> Codes:
        known = self._known(column)
        self._refuse_unknown(column, known, name)
        return np.asarray(known.to_numpy(zero_copy_only=False).astype(self.code_type))

    def _refuse_unknown(self, column: pa.Array, known: pa.Array, name: str) -> None:
        if known.null_count == 0:
            return
        outside = column.filter(known.is_null()).unique().to_pylist()
        if None in outside:
            raise SchemaError(
                f"column {name!r} has missing values, which are not in its domain; "
                "add them as a value of their own (missing = true in the spec, None in domains=) or fill them"
            )
        raise SchemaError(
            f"column {name!r} has values outside its domain: {_shown(outside)}; add them to the domain or clean the table"
        )


@dataclass(frozen=True, eq=False)
class Grid(Domain):
    """The numbers low, low + step, ..., high. Values between two points are rounded to the nearer one.

    The three are decimals, so that 0.1 is a tenth and a replaced value has the same digits as a kept one.

    >>> Grid("0", "1", "0.25", pa.float64()).values.to_pylist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """

    low: str
    high: str
    step: str
    type: pa.DataType
    exact: bool = False
    """Whether every value is a point, so that one between two is refused and none is rounded."""

    def __post_init__(self) -> None:
        try:
            low, high, step = (Decimal(str(x)) for x in (self.low, self.high, self.step))
        except InvalidOperation:
            raise SchemaError(f"a grid needs numbers, not {self.low!r}, {self.high!r}, {self.step!r}") from None
        if any(_endless(part) for part in (low, high, step)):
            raise SchemaError(f"the numbers of a grid have {MOST_DIGITS} digits at most on either side of the point")
        if not (low.is_finite() and high.is_finite() and step.is_finite() and step > 0 and low < high):
            raise SchemaError(f"a grid needs low < high and step > 0, not low = {low}, high = {high}, step = {step}")
        if (high - low) % step != 0:
            raise SchemaError(f"a grid's high must be low plus a whole number of steps, not {low} .. {high} by {step}")
        if (high - low) / step >= LARGEST_GRID:
            raise SchemaError(
                f"a grid may have {LARGEST_GRID:,} points, not {(high - low) / step:,.0f}; use a wider step"
            )
        if pa.types.is_integer(self.type) and (low % 1 or step % 1):
            raise SchemaError(f"a column of type {self.type} needs a grid of whole numbers, not {low} by {step}")
        digits = max(0, -int(low.as_tuple().exponent), -int(step.as_tuple().exponent))
        scale = 10**digits
        for key, value in (("_first", int(low * scale)), ("_step", int(step * scale)), ("_scale", scale)):
            object.__setattr__(self, key, value)
        object.__setattr__(self, "_size", int((high - low) / step) + 1)
        self._refuse_misfit(low, high, step)

    def _refuse_misfit(self, low: Decimal, high: Decimal, step: Decimal) -> None:
        """A point that the column's type cannot hold would be published as another number, and be known to be a replaced one."""
        exact = pa.types.is_integer(self.type) or pa.types.is_decimal(self.type)
        if not exact and not pa.types.is_floating(self.type):
            return  # a column of text, say: refused by name when it is read
        try:
            if exact:
                pa.array([low, high, low + step], pa.decimal256(76, 38)).cast(self.type)
            fine = self.roomy or self._told_apart()
        except (pa.ArrowInvalid, OverflowError):
            fine = False
        if not fine:
            raise SchemaError(
                f"a column of type {self.type} cannot hold all points of a grid {low} .. {high} by {step}; "
                "give the column a wider type, or narrow the grid"
            )

    @property
    def reach(self) -> Decimal:
        """How far a value of the column's type lies from its point at most; 0 where every value is a point."""
        if self.exact:
            return Decimal(0)
        step = Decimal(str(self.step))
        if pa.types.is_integer(self.type) or pa.types.is_decimal(self.type):
            unit = Decimal(1).scaleb(-self.type.scale if pa.types.is_decimal(self.type) else 0)
            return (step / unit // 2) * unit
        return step / 2

    @property
    def roomy(self) -> bool:
        """Whether the type has numbers between any two points, so that one halfway is neither of them."""
        whole = pa.types.is_integer(self.type) or pa.types.is_decimal(self.type)
        number = np.float64 if whole else self.type.to_pandas_dtype()
        with np.errstate(over="ignore", invalid="ignore"):  # neighbours are farthest apart at the largest number
            gap = float(np.spacing(number(max(abs(Decimal(str(self.low))), abs(Decimal(str(self.high)))))))
        return 4 * gap <= float(self.step)

    def _told_apart(self) -> bool:
        """Whether each point, as it is published, is read as itself again."""
        places = self._places(np.asarray(self.values.cast(pa.float64(), safe=False)))
        return bool((places == np.arange(self.size)).all())

    def _places(self, x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The nearest points, also beyond the ends."""
        low, width = self._first / self._scale, self._step / self._scale  # type: ignore[attr-defined]
        return np.asarray(np.rint((x - low) / width))

    @property
    def size(self) -> int:
        """How many points the grid has."""
        return self._size  # type: ignore[attr-defined,no-any-return]

    @property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The points, each the double nearest to its decimal."""
        whole = self._first + self._step * np.arange(self.size, dtype=np.int64)  # type: ignore[attr-defined]
        return np.asarray(whole / self._scale)  # type: ignore[attr-defined]

    @property
    def values(self) -> pa.Array:
        """The points in the type of the column."""
        return pa.array(self.numbers).cast(self.type, safe=False)

    def encode(self, column: pa.Array, name: str) -> Codes:
        """The nearest points; missing, infinite and outlying values are refused."""
        x = _doubles(column, name)
        missing, infinite = _gaps(column, x)
        if missing or infinite:
            raise NotOnGrid(name, missing, infinite)
        places = self._places(x)
        outside = (places < 0) | (places >= self.size)
        if outside.any():
            shown = _shown(np.unique(x[outside]).tolist())
            raise SchemaError(
                f"column {name!r} has values outside its grid {self.low} .. {self.high}: {shown}; widen the grid"
            )
        if self.exact:
            self._refuse_between(x, places, name)
        return np.asarray(places.astype(self.code_type))

    def holds(self, column: pa.Array) -> pa.Array:
        """Numbers that are nearest to a point; with `exact`, those that are one."""
        x = _doubles(decoded(column), "column")
        places = self._places(x)
        inside = np.isfinite(x) & (places >= 0) & (places < self.size)
        if self.exact:
            points = np.asarray(self.values.cast(pa.float64(), safe=False))
            inside[inside] = x[inside] == points[places[inside].astype(np.int64)]
        return pa.array(inside)

    def _refuse_between(self, x: npt.NDArray[np.float64], places: npt.NDArray[np.float64], name: str) -> None:
        """Refuses values between two points, where the publisher said that there are none."""
        points = np.asarray(self.values.cast(pa.float64(), safe=False))[places.astype(np.int64)]
        between = x != points
        if between.any():
            shown = _shown(np.unique(x[between]).tolist())
            raise SchemaError(
                f"column {name!r} has values between the points of its grid, which on_grid says it has not: {shown}; "
                "narrow the step, or leave on_grid out, and they are rounded"
            )


def _endless(part: Decimal) -> bool:
    """Whether a number has more digits than any column: 1e999999 is short to write, and long to compute with."""
    return part.is_finite() and (abs(part.adjusted()) > MOST_DIGITS or len(part.as_tuple().digits) > 2 * MOST_DIGITS)


def code_domain(codes: int) -> Grid:
    """The numbers that are published where values have codes.

    >>> code_domain(121).size
    121
    """
    return Grid("0", str(codes - 1), "1", pa.int64())


def count_gaps(columns: Iterable[pa.Array], name: str) -> NotOnGrid:
    """What a grid has no place for, over all batches of a column."""
    gaps = [_gaps(column, _doubles(column, name)) for column in columns]
    return NotOnGrid(name, sum(missing for missing, _ in gaps), sum(infinite for _, infinite in gaps))


def _gaps(column: pa.Array, x: npt.NDArray[np.float64]) -> tuple[int, int]:
    """How many values are missing, and how many NaN or infinite."""
    return column.null_count, int((~np.isfinite(x)).sum()) - column.null_count


def _doubles(column: pa.Array, name: str) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SchemaError(f"column {name!r} has type {column.type}, but its domain is a grid of numbers") from None


def _shown(values: Sequence[Any]) -> str:
    text = ", ".join(repr(v) for v in values[:3])
    return text + (f" and {len(values) - 3} more" if len(values) > 3 else "")
