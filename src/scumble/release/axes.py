"""Columns of a release as axes of tables of counts: each value a place, or public numbers with many values in a dozen ranges."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from scumble.query.estimates import Estimates

if TYPE_CHECKING:
    from scumble.release.release import Release

COUNT = "scumble count"
"""The name of counts in the answers."""
RANGES, FEW = 12, 24
"""Into how many ranges numbers are put, and from how many values on."""


def quoted(name: str) -> str:
    """A name in a question, whatever is in it.

    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


NAN = ("NaN",)
"""The key of a number that is none."""


@dataclass(frozen=True)
class Axis:
    """A column, as it is or in ranges."""

    name: str
    sensitive: bool
    bounds: tuple[float, ...] = ()
    """Where the second range begins, and all others; none where each value is a place."""

    @classmethod
    def of(cls, name: str, values: pa.ChunkedArray | None) -> "Axis":
        """A public column by its different values; a sensitive one without them."""
        if values is None:
            return cls(name, True)
        number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
        if not number or len(values) <= FEW:
            return cls(name, False)
        known = values.drop_null().to_numpy()
        known = known[np.isfinite(known.astype(np.float64))]
        if not len(known):
            return cls(name, False)
        ends = np.unique(np.quantile(known, np.arange(1, RANGES) / RANGES, method="higher"))
        return cls(name, False, tuple(float(end) for end in ends))

    @property
    def sql(self) -> str:
        """What a question groups by."""
        name = quoted(self.name)
        if not self.bounds:
            return name
        steps = " ".join(f"WHEN {name} < {end!r} THEN {place}" for place, end in enumerate(self.bounds))
        return f"CASE WHEN {name} IS NULL THEN -1 {steps} ELSE {len(self.bounds)} END"

    def keys(self, column: pa.ChunkedArray) -> list[Any]:
        """The places of values."""
        values: list[Any] = column.to_pylist()
        if not self.bounds:
            return [_key(value) for value in values]
        return [-1 if value is None else bisect_right(self.bounds, value) for value in values]

    def counts(self, release: "Release", others: "Sequence[Axis]", method: str, **how: Any) -> Estimates:
        """Rows by this axis and others; the columns are called by their places."""
        axes = [self, *others]
        shown = ", ".join(f'{axis.sql} AS "scumble {i}"' for i, axis in enumerate(axes))
        places = ", ".join(str(i + 1) for i in range(len(axes)))
        return release.query(
            f'SELECT {shown}, COUNT(*) AS "{COUNT}" FROM release GROUP BY {places}', method=method, **how
        )


def keys_of(answer: Estimates) -> list[tuple[Any, ...]]:
    """The places of the lines of an answer, on all of its axes."""
    columns = [map(_key, answer.groups.column(name).to_pylist()) for name in answer.labels]
    return list(zip(*columns, strict=True))


def _key(value: Any) -> Any:
    """The value, as a key: every NaN is one, and no NaN is equal to itself."""
    return NAN if value != value else value
