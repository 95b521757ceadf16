"""The published records that are most like a person's, by some columns: numbers are as far apart as their difference in the range of both tables, words and labels either fit or do not.

    distance = sum over columns of  |a - b| / range   or  0 where b stands for a, else 1

A label such as `20-29` stands for the values that it names (`attacks.generalized`). Missing values fit each other.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.auditing.attacks.generalized import coded, members
from scumble.auditing.evidence.column_law import Numbers
from scumble.auditing.evidence.publication import Codes
from scumble.core.arrow_types import decoded, is_number

AT_ONCE = 4_000_000
"""Pairs of records that are compared at a time."""

Distances = npt.NDArray[np.float32]


def nearest(people: pa.Table, published: pa.Table, names: Sequence[str], count: int = 1) -> Codes:
    """For each person the places of the published records that are most like, the first ones where several are alike."""
    sides = [_Side(people.column(name), published.column(name)) for name in names]
    step = max(1, AT_ONCE // max(1, published.num_rows))
    count = min(count, published.num_rows)
    found = np.empty((people.num_rows, count), dtype=np.int64)
    for start in range(0, people.num_rows, step):
        some = slice(start, min(start + step, people.num_rows))
        distance = sum(side.distances(some) for side in sides)
        assert isinstance(distance, np.ndarray)
        best = (
            np.argpartition(distance, count - 1, axis=1)[:, :count] if count > 1 else distance.argmin(axis=1)[:, None]
        )
        found[some] = best
    return found


class _Side:
    """One column of both tables."""

    def __init__(self, people: pa.ChunkedArray, published: pa.ChunkedArray) -> None:
        ours, theirs = decoded(people), decoded(published)
        self._numbers = is_number(ours.type) and is_number(theirs.type)
        if self._numbers:
            self._ours, self._theirs = (_numbers(column) for column in (ours, theirs))
            both = np.concatenate([self._ours, self._theirs])
            self._range = float(np.nanmax(both) - np.nanmin(both)) if np.isfinite(both).any() else 0.0
        else:
            values, self._value = coded(ours)
            labels, self._label = coded(theirs)
            missing = np.array([[v is None and label is None for label in labels] for v in values], dtype=np.bool_)
            fits = members(values, labels) & np.array([label is not None for label in labels])
            self._table = (~(fits | missing.reshape(fits.shape))).astype(np.float32)

    def distances(self, some: slice) -> Distances:
        if not self._numbers:
            return np.asarray(self._table[self._value[some]][:, self._label])
        far = np.abs(self._ours[some, np.newaxis] - self._theirs[np.newaxis, :]) / (self._range or 1.0)
        lacking = np.isnan(self._ours[some])[:, np.newaxis] != np.isnan(self._theirs)[np.newaxis, :]
        return np.where(lacking, 1.0, np.nan_to_num(far, nan=0.0)).astype(np.float32)


def _numbers(column: pa.ChunkedArray) -> Numbers:
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
