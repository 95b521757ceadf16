"""Least squares over intervals within intervals: a matrix of ones on blocks, solved without being built.

    H = sum over levels l of beta_l sum over the intervals I of l of 1_I 1_I^T

where each interval of a level lies in one of the next, and those of the first level are single points. H z = h is solved by one pass up
and one down, in O(points). Within an interval I of level l the solution of H_I z = h has the sum

    t_I = (sum of t_J over the intervals J of the level before) / (1 + beta_l s_I),       s_I the same of h = 1

and with t known, what is left for the level before is h less the constant beta_l t_I.
"""

from collections.abc import Sequence

import numpy as np

from scumble.core.channel_base import Vector


class Nested:
    """H of some widths, the first of which is 1 and each of which divides the next, with a positive number for the first.

    >>> Nested(4, [1, 2], [1.0, 0.5]).solve(np.array([1.0, 0, 0, 0])).tolist()
    [0.75, -0.25, 0.0, 0.0]
    """

    def __init__(self, points: int, widths: Sequence[int], betas: Sequence[float]) -> None:
        self.points, self.widths, self.betas = points, list(widths), list(betas)
        self._own = [np.full(points, 1 / self.betas[0])]
        self._kept = [np.ones(1)]
        for place in range(1, len(self.widths)):
            sums = self._added(self._own[-1], place)
            self._kept.append(1 / (1 + self.betas[place] * sums))
            self._own.append(sums * self._kept[-1])

    @property
    def widest(self) -> int:
        """No interval is wider: beyond the ends of these nothing is told of each other."""
        return self.widths[-1]

    def solve(self, h: Vector, first: int = 0) -> Vector:
        """H^-1 h, of points from `first` on, which is the beginning of a widest interval; further dimensions are separate."""
        totals = [h / self.betas[0]]
        for place in range(1, len(self.widths)):
            sums = self._added(totals[-1], place)
            totals.append(sums * self._some(self._kept, place, first, sums))
        shift = np.zeros((1, *h.shape[1:]))
        for place in reversed(range(1, len(self.widths))):
            above = self._fitted(shift, place, len(totals[place]))
            shift = above + self.betas[place] * (totals[place] - above * self._some(self._own, place, first, above))
        return np.asarray((h - self._fitted(shift, 0, len(h))) / self.betas[0])

    def times(self, z: Vector) -> Vector:
        """H z."""
        sums = [z]
        for place in range(1, len(self.widths)):
            sums.append(self._added(sums[-1], place))
        total = np.zeros((1, *z.shape[1:]))
        for place in reversed(range(len(self.widths))):
            total = self._fitted(total, place, len(sums[place])) + self.betas[place] * sums[place]
        return np.asarray(total)

    def _added(self, sums: Vector, place: int) -> Vector:
        """Sums of a level over the intervals of the next."""
        starts = np.arange(0, len(sums), self.widths[place] // self.widths[place - 1])
        return np.asarray(np.add.reduceat(sums, starts, axis=0))

    def _some(self, numbers: Sequence[Vector], place: int, first: int, like: Vector) -> Vector:
        """The numbers of as many intervals, from that of a point on, with as many dimensions."""
        some = numbers[place][first // self.widths[place] :][: len(like)]
        return some.reshape(-1, *(1,) * (like.ndim - 1))

    def _fitted(self, shift: Vector, place: int, count: int) -> Vector:
        """A number for each interval of the next level as one for each of this one."""
        if place == len(self.widths) - 1:
            return np.broadcast_to(shift, (count, *shift.shape[1:]))
        return np.repeat(shift, self.widths[place + 1] // self.widths[place], axis=0)[:count]
