"""Numbers or days at equal distances, in their order, with a place for a missing value where there is one.

A grid (core/domain.py) has numbers and no missing one. A scale is a grid with more: its points may be days, and its last value may be missing.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.domain import Codes, Domain, Grid
from scumble.core.errors import SchemaError


@dataclass(frozen=True, eq=False)
class Scale(Domain):
    """The points of a grid, as days where the type is one of days, and perhaps a missing value after them.

    >>> days = scale("2024-02-28", "2024-03-01", "1", pa.date32(), missing=True)
    >>> [str(day) for day in days.values.to_pylist()]
    ['2024-02-28', '2024-02-29', '2024-03-01', 'None']
    >>> days.encode(pa.array([date(2024, 3, 1), None]), "seen").tolist()
    [2, 3]
    """

    grid: Grid
    """Of days their numbers since 1970-01-01."""
    type: pa.DataType
    low: str
    high: str
    missing: bool = False

    @property
    def step(self) -> str:
        """The distance between two points; of days, in days."""
        return self.grid.step

    @property
    def exact(self) -> bool:
        """Whether every value is a point; days are never rounded."""
        return self.grid.exact

    @property
    def size(self) -> int:
        """Points, and a missing value."""
        return self.grid.size + self.missing

    @property
    def days(self) -> bool:
        """Whether points are days."""
        return bool(pa.types.is_date(self.type))

    @property
    def values(self) -> pa.Array:
        """The points in order, and the missing value last."""
        points = self.grid.values.cast(pa.int32()).cast(self.type) if self.days else self.grid.values
        return pa.concat_arrays([points, pa.nulls(1, self.type)]) if self.missing else points

    @property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The points; NaN for a missing value."""
        if self.days:
            raise SchemaError(f"values of type {self.type} are not numbers")
        return np.append(self.grid.numbers, [np.nan] * self.missing)

    def encode(self, column: pa.Array, name: str) -> Codes:
        """The nearest points, and the last place for missing values."""
        if not column.null_count or not self.missing:
            return self.grid.encode(self._as_numbers(column, name), name).astype(self.code_type)
        codes = np.full(len(column), self.grid.size, dtype=self.code_type)
        codes[column.is_valid().to_numpy(zero_copy_only=False)] = self.grid.encode(
            self._as_numbers(column.drop_null(), name), name
        )
        return codes

    def holds(self, column: pa.Array) -> pa.Array:
        """Those that the grid holds; missing values, where one of them is a value."""
        numbers = pc.cast(pc.cast(column, pa.date32(), safe=False), pa.int32()) if self.days else column
        inside = self.grid.holds(numbers)
        return pc.or_(inside, column.is_null()) if self.missing else inside

    def _as_numbers(self, column: pa.Array, name: str) -> pa.Array:
        if not self.days:
            return column
        if not pa.types.is_temporal(column.type):
            raise SchemaError(f"column {name!r} has type {column.type}, but its domain is a range of days")
        days = column.cast(pa.date32(), safe=False).cast(pa.int32())
        self._refuse_outside(days, column, name)
        return days

    def _refuse_outside(self, days: pa.Array, column: pa.Array, name: str) -> None:
        """Days outside of the range, in words of days."""
        low, high = (pa.scalar(int(end), pa.int32()) for end in (self.grid.low, self.grid.high))
        outside = column.filter(pc.or_(pc.less(days, low), pc.greater(days, high)))
        if len(outside):
            raise SchemaError(
                f"column {name!r} has days outside its range {self.low} .. {self.high}: {outside[0].as_py()}; widen the range"
            )


def scale(
    low: object, high: object, step: object, kind: pa.DataType, *, exact: bool = False, missing: bool = False
) -> Domain:
    """The domain of numbers or days at equal distances: a grid, where it has numbers and no missing one.

    >>> type(scale(0, 9, 1, pa.int64())).__name__, scale(0, 9, 1, pa.int64(), missing=True).size
    ('Grid', 11)
    """
    if pa.types.is_date(kind):
        first, last = (_day(end) for end in (low, high))
        if not str(step).isdigit() or int(str(step)) < 1 or (last - first) % int(str(step)) or last <= first:
            raise SchemaError(
                f"a range of days goes from low to high by a whole number of steps, each of whole days, not {low} .. {high} by {step}"
            )
        grid = Grid(str(first), str(last), str(step), pa.int64(), True)
        return Scale(grid, pa.date32(), str(low), str(high), missing)
    grid = Grid(str(low), str(high), str(step), kind, exact)
    return Scale(grid, kind, grid.low, grid.high, True) if missing else grid


def _day(text: object) -> int:
    """A day, as the number of days since 1970-01-01."""
    try:
        day = text if isinstance(text, date) else date.fromisoformat(str(text))
    except ValueError:
        raise SchemaError(f"a range of days needs days such as 2024-12-31, not {text!r}") from None
    return day.toordinal() - date(1970, 1, 1).toordinal()


def grid_of(domain: Domain) -> Grid | None:
    """The grid of numbers that a domain has, with a missing value or without; None for days and for lists."""
    if isinstance(domain, Scale):
        return None if domain.days else domain.grid
    return domain if isinstance(domain, Grid) else None


def reach_of(domain: Domain) -> Decimal:
    """How far a number may be moved to its point; 0 where none is."""
    grid = grid_of(domain)
    return grid.reach if grid is not None else Decimal(0)


def points_of(domain: Domain) -> tuple[int, bool] | None:
    """How many points in order a domain has, and whether a missing value is one more; None for a list of values."""
    if isinstance(domain, Scale):
        return domain.grid.size, domain.missing
    return (domain.size, False) if isinstance(domain, Grid) else None
