"""Records of each value that each sub-table gets, handed out at random, one batch after the other.

The records of a value come in a random order, of which only counts are ever known. It is halved again and again before the first batch: each record
falls on the one half or the other by a fair coin. Given its size, the half that comes first is a uniformly random subset, so that every order stays equally
likely. What is left are segments in order, and a batch takes whole ones and a sample without replacement of the next. A batch thus looks at a
segment and not at all that is left: cost grows with the rows, and not with their square.
"""

import numpy as np
import numpy.typing as npt

from scumble.core.draws import half, hypergeometric_split
from scumble.core.entropy import Stream
from scumble.core.errors import TableError

Counts = npt.NDArray[np.int64]

CELLS = 1 << 20
"""Counts that the segments may have in all, at most."""
RECORDS = 1 << 14
"""Records of a segment, about: fewer are not worth halving."""


class Quotas:
    """The planned counts, values by sub-tables, as they are used up.

    >>> from scumble.core.entropy import Entropy
    >>> stream = Entropy.seeded(1).stream("doc")
    >>> quotas = Quotas(np.array([[3, 1], [0, 2]]), stream)
    >>> quotas.take(np.array([4, 1]), stream).tolist(), quotas.spent
    ([[3, 1], [0, 1]], False)
    """

    def __init__(self, counts: Counts, stream: Stream) -> None:
        self._value, self._part = np.nonzero(counts)  # most sub-tables have few of the values
        cells = _segments(counts[self._value, self._part], stream)
        self._before = np.concatenate([np.zeros_like(cells[:1]), np.cumsum(cells, axis=0)])
        self._ends = np.stack([self._sizes(before, len(counts)) for before in self._before])
        self._given = np.zeros_like(counts)

    @property
    def spent(self) -> bool:
        """Whether every record was handed out."""
        return bool(self._given.sum() == self._ends[-1].sum())

    def take(self, wanted: Counts, stream: Stream) -> Counts:
        """So many records of each value, by sub-table: a sample without replacement of those that are left, exactly."""
        until = self._given.sum(axis=1) + wanted
        if np.any(until > self._ends[-1]):
            raise changed()
        segment = (self._ends[1:] < until).sum(axis=0)[self._value]  # the one that the last record comes from
        cells = np.arange(len(self._value))
        base = np.maximum(self._given, self._dense(self._before[segment, cells]))
        rest = self._dense(self._before[segment + 1, cells]) - base
        upto = base + hypergeometric_split(stream, rest, until - base.sum(axis=1))
        given, self._given = upto - self._given, upto
        return np.asarray(given)

    def _dense(self, cells: Counts) -> Counts:
        table = np.zeros_like(self._given)
        table[self._value, self._part] = cells
        return table

    def _sizes(self, cells: Counts, values: int) -> Counts:
        return np.bincount(self._value, weights=cells, minlength=values).astype(np.int64)


def _segments(cells: Counts, stream: Stream) -> Counts:
    """The counts in segments, one after the other: halves of halves."""
    segments = cells[np.newaxis]
    while int(cells.sum()) > RECORDS * len(segments) and 2 * segments.size <= CELLS:
        first = half(stream, segments)
        segments = np.stack([first, segments - first], axis=1).reshape(-1, len(cells))
    return segments


def changed() -> TableError:
    """What is said where the rows of the second reading are not those of the first."""
    return TableError(
        "the table changed between counting it and publishing it; nothing was written. Publish a copy that stays as it is"
    )
