"""The inverse of what a row of a mixture tells, without its matrix: intervals within intervals, and a part of small rank.

    N = H + U S U^T

H has ones on the intervals of each level (core/nested.py), U has the number 1 and the roundings R^T of windows as columns, and S is as small
as windows have knots. By Woodbury's identity

    N^-1 h = H^-1 (h - U C U^T H^-1 h),        C = S (I + U^T H^-1 U S)^-1
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from scumble.core.channel_base import Vector
from scumble.core.errors import ParameterError
from scumble.core.mixture_part import Numbers
from scumble.core.mixture_window import WindowPart
from scumble.core.nested import Nested
from scumble.core.once import once


class Information:
    """N of some levels, of which one is that of single points, and of windows.

    common    what any two values have in common: this times a matrix of ones
    levels    width -> beta
    windows   each with its matrix between places
    """

    def __init__(
        self,
        numbers: Numbers,
        common: float,
        levels: Mapping[int, float],
        windows: Sequence[tuple[WindowPart, Vector]],
    ) -> None:
        if 1 not in levels:
            raise ParameterError("a mixture has a level of single points: nothing else tells neighbours apart")
        self._numbers, self._common, self._windows = numbers, common, windows
        self._nested = Nested(numbers.points, sorted(levels), [levels[width] for width in sorted(levels)])

    def solve(self, h: Vector) -> Vector:
        """N^-1 h, with one step that makes up for rounding; further dimensions are separate."""
        first = self._solved(h)
        return np.asarray(first + self._solved(h - self.times(first)))

    def times(self, z: Vector) -> Vector:
        """N z."""
        inner = np.tensordot(self._own, self._down(z), axes=1)
        points = self._nested.times(z[: self._numbers.points])
        absent = z[self._numbers.points :] * sum(self._nested.betas)
        return np.asarray(np.concatenate([points, absent]) + self._up(inner))

    def _solved(self, h: Vector) -> Vector:
        alone = self._alone(h)
        inner = np.tensordot(self._correction, self._down(alone), axes=1)
        return np.asarray(alone - self._alone(self._up(inner)))

    def _alone(self, h: Vector) -> Vector:
        """H^-1 h."""
        points = self._nested.solve(h[: self._numbers.points])
        if not self._numbers.missing:
            return points
        return np.concatenate([points, h[-1:] / sum(self._nested.betas)])

    def _down(self, z: Vector) -> Vector:
        """U^T z."""
        return np.concatenate([z.sum(axis=0)[np.newaxis], *(p.gather(z)[p.held] for p, _ in self._windows)])

    def _up(self, inner: Vector) -> Vector:
        """U v."""
        by_value, start = np.repeat(inner[:1], self._numbers.size, axis=0), 1
        for part, _ in self._windows:
            on_circle = np.zeros((part.codes, *inner.shape[1:]))
            on_circle[part.held] = inner[start : start + part.used]
            by_value, start = by_value + part.spread(on_circle), start + part.used
        return by_value

    @once
    def _correction(self) -> Vector:
        """C."""
        inner, own = self._inner(), self._own
        return np.asarray(np.linalg.solve((np.eye(len(own)) + inner @ own).T, own.T).T)

    @once
    def _own(self) -> Vector:
        """S."""
        blocks: list[Vector] = [np.array([[self._common]]), *(own for _, own in self._windows)]
        ends = np.cumsum([0, *map(len, blocks)])
        whole = np.zeros((ends[-1], ends[-1]))
        for start, block in zip(ends, blocks, strict=False):
            whole[start : start + len(block), start : start + len(block)] = block
        return whole

    def _inner(self) -> Vector:
        """U^T H^-1 U, a column at a time: a knot is told of by the widest intervals around it, and by no others."""
        columns = [self._down(self._alone(np.ones(self._numbers.size)))]
        columns += [column for part, _ in self._windows for column in self._columns(part)]
        inner = np.stack(columns, axis=1)
        inner[0] = inner[:, 0]  # both are the same, and the first column is of all points
        return inner

    def _columns(self, part: WindowPart) -> Iterator[Vector]:
        for knot in range(part.steps + 1):
            start, rounding = part.around(knot, self._nested.widest)
            solved = self._nested.solve(rounding, start)
            yield np.concatenate([np.zeros(1), *[self._some(window, solved, start) for window, _ in self._windows]])
        if self._numbers.missing:
            absent = np.zeros(self._numbers.size)
            absent[-1] = 1.0
            yield self._down(self._alone(absent))

    def _some(self, part: WindowPart, solved: Vector, start: int) -> Vector:
        """What some points tell of the knots of a window; of a missing value nothing."""
        return np.append(part.gather_some(solved, start), np.zeros(int(self._numbers.missing)))
