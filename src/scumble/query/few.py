"""Intervals of counts over one perturbed column from few coins: the law of what is published, inverted.

Of n rows c have a value of a set; each is published in the set with probability q = p + b, and each other row with b = (1 - p) r(set).
So the number Y of published matches is Bin(c, q) + Bin(n - c, b), and with Y = y observed the interval is

    {c in 0..n : P[Y >= y | c] > alpha / 2 and P[Y <= y | c] > alpha / 2},

which holds the truth with probability 1 - alpha or more, whatever n, c, p and b are (query/inversion.py finds its ends). The score interval
of query/intervals.py does not where few coins decide, because Y takes few values then.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Tensor = npt.NDArray[np.float64]

MANY = 25.0
"""The variance of Y from which on the score interval serves."""

AT_ONCE = 2048
"""Lines that are inverted together, which bounds the memory."""


@dataclass(frozen=True)
class Draws:
    """What a count over one perturbed column was drawn from, for every row of the answer."""

    published: Tensor
    """y."""
    rows: Tensor
    """n."""
    kept: Tensor
    """q, the probability of a row that counts."""
    drawn: Tensor
    """b, the probability of any other row."""
    most: float = MANY
    """The variance of Y from which on the score interval serves."""

    def few(self, value: Tensor) -> npt.NDArray[np.bool_]:
        """Where Y, as it is drawn at the estimated count, has little variance; not where nothing is drawn."""
        count = np.clip(value, 0, self.rows)
        variance = count * self.kept * (1 - self.kept) + (self.rows - count) * self.drawn * (1 - self.drawn)
        return np.asarray((self.drawn + 1 - self.kept > 0) & (variance < self.most))

    def ends(self, few: npt.NDArray[np.bool_], tail: float) -> tuple[Tensor, Tensor]:
        """The ends of the intervals of some lines; lines that were drawn alike are inverted once."""
        if not few.any():
            return np.zeros(0), np.zeros(0)
        from scumble.query.inversion import inverted  # loads scipy

        lines = np.stack([np.rint(self.published), np.rint(self.rows), self.kept, self.drawn])[:, few]
        first, which = _alike(lines)
        kinds = lines[:, first]
        parts = [kinds[:, at : at + AT_ONCE] for at in range(0, kinds.shape[1], AT_ONCE)]
        ends = np.concatenate([inverted(part[0], part[1], part[2], part[3], tail) for part in parts], axis=1)
        low, high = ends[:, which]
        return low, high


def _alike(lines: Tensor) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The columns that differ, by their first places, and which of them each column is; faster than sorting whole columns."""
    which, first = np.zeros(lines.shape[1], dtype=np.intp), np.zeros(1, dtype=np.intp)
    for line in lines:
        values, place = np.unique(line, return_inverse=True)
        _, first, which = np.unique(which * len(values) + place, return_index=True, return_inverse=True)
    return first, which
