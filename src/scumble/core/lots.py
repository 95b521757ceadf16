"""Lots: whole numbers 0 to W - 1, of which each value holds some in a row. Which value holds a lot is looked up for millions at once.

A table has the holder of the first lot of each of up to 2^16 stretches. Nearly always it holds the whole stretch; the few lots of which that
is not so are searched for.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

STRETCHES = 1 << 16


class Holders:
    """Who holds each lot, where value j holds so many.

    >>> Holders(np.array([2, 1, 3], np.uint64)).of(np.arange(6, dtype=np.uint64)).tolist()
    [0, 0, 1, 2, 2, 2]
    """

    def __init__(self, lots: npt.NDArray[np.uint64]) -> None:
        self._last = np.cumsum(lots, dtype=np.uint64) - np.uint64(1)
        whole = int(self._last[-1]) + 1
        self._shift = max(0, (whole - 1).bit_length() - STRETCHES.bit_length() + 1)
        starts = np.arange(((whole - 1) >> self._shift) + 1, dtype=np.uint64) << np.uint64(self._shift)
        self._first = np.searchsorted(self._last, starts).astype(np.min_scalar_type(len(lots)))

    def of(self, lots: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[Any]:
        """The holder of each; of a number that is no lot, some value."""
        kind, last = lots.dtype.type, self._last.astype(lots.dtype)
        holder = self._first.take(lots >> kind(self._shift), mode="clip")
        beyond = np.flatnonzero((lots > last.take(holder)) & (lots <= last[-1]))
        holder[beyond] = np.searchsorted(last, lots[beyond])
        return holder
