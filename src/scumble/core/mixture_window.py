"""A part of a mixture that tells about where a number is: good for sums, and for ranges that are not small.

A number is rounded at random to one of two neighbouring knots, of `steps` + 1 knots at equal distances from the first number to the last,
so that its mean is kept. Published is one of `reach` neighbouring codes, gamma times as likely as any other. With one step and a reach of 1 these are
the two ends and randomized response (one bit, Duchi et al.); with many it is the piecewise mechanism (Wang et al.), on a circle that is as long
as the windows of all knots together.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.core.channel_base import Places, Vector
from scumble.core.circle import Circle
from scumble.core.mixture_part import Part
from scumble.core.once import once


@dataclass(frozen=True, eq=False)
class WindowPart(Part):
    """Knots at equal distances, each with `reach` neighbouring codes.

    grain   the ticks by which numbers are rounded; exact fractions where it is 0

    >>> from scumble.core.mixture_part import Numbers
    >>> ends = WindowPart(Numbers(5), 1, 1)
    >>> ends.codes, ends.spread(np.array([0.0, 1.0])).tolist()
    (2, [0.0, 0.25, 0.5, 0.75, 1.0])
    """

    steps: int
    reach: int
    grain: int = 0

    @once
    def circle(self) -> Circle:
        """Room for the windows of all knots, which do not meet beyond the ends, and for that of a missing value beside them."""
        room = self.steps + self.reach * (1 + self.numbers.missing)
        return Circle(room, np.arange(self.reach))

    @property
    def spelling(self) -> str:
        """Steps and reach."""
        return f"window {self.steps} {self.reach}"

    @property
    def used(self) -> int:
        """A place for each knot."""
        return self.steps + 1 + self.numbers.missing

    @property
    def absent(self) -> int:
        """Where its codes are those of no knot."""
        return self.steps + self.reach

    @property
    def words(self) -> str:
        """The ends, or neighbouring knots."""
        if self.steps == 1:
            return "one of the two ends"
        return f"{self.reach:,} neighbours of {self.steps + 1:,} knots at equal distances"

    def chance(self, codes: Places, values: Places) -> Vector:
        """Of the two knots of a number."""
        low = self.circle.holds(codes, self.placed(values))
        inner = np.minimum(values, self.numbers.points - 1)
        up = np.where(values < self.numbers.points, self._knots[1][inner], 0.0)
        return np.asarray(low * (1 - up) + self.circle.holds(codes, self.placed(values) + 1) * up)

    def lower(self, values: Places) -> Places:
        """The knot at or below each number."""
        return values * self.steps // (self.numbers.points - 1)

    def raised(self, values: Places, ticks: int) -> npt.NDArray[np.int64]:
        """In proportion to the distance from the lower knot, rounded down."""
        return values * self.steps % (self.numbers.points - 1) * ticks // (self.numbers.points - 1)

    @once
    def _knots(self) -> tuple[Places, Vector]:
        """The lower knot of each number, and how probably it is put on the next one."""
        values, whole = np.arange(self.numbers.points), self.numbers.points - 1
        exact = values * self.steps % whole / whole
        return self.lower(values), self.raised(values, self.grain) / self.grain if self.grain else exact

    @property
    def held(self) -> Places:
        """The places of knots, and of a missing value."""
        return np.array([*range(self.steps + 1), *[self.absent] * self.numbers.missing], dtype=np.intp)

    @once
    def _holds(self) -> Vector:
        """Which codes stand for which places of `held`."""
        codes, places = np.meshgrid(np.arange(self.codes), self.held, indexing="ij")
        return self.circle.holds(codes, places).astype(np.float64)

    def products(self, gamma: float) -> Vector:
        """Z^2 P^T P between the places of `held`, with P = Pr[code | place]."""
        columns = 1 + (gamma - 1) * self._holds
        return np.asarray(columns.T @ columns)

    @once
    def held_by_chance(self) -> Vector | float:
        """That of values of which each is as likely as any other: codes beyond the ends stand for few of them."""
        shares = self.gather(np.full(self.numbers.size, 1 / self.numbers.size))
        return np.asarray(self._holds @ shares[self.held])

    def contrasts(self, gamma: float) -> Vector:
        """P^T diag(1/v) P of the places of `held`, where v is what is expected and P is Pr[code | place] less that."""
        told = self._holds - np.asarray(self.held_by_chance)[:, None]
        factor = (gamma - 1) ** 2 / self.unit(gamma, 1.0) ** 2
        return np.asarray(factor * (told.T / self.expected(gamma)) @ told)

    def around(self, knot: int, width: int) -> tuple[int, Vector]:
        """The rounding to a knot, of the points of all intervals of a width in which it is not 0; and where these begin."""
        lower, up = self._knots
        first, last = np.searchsorted(lower, [knot - 1, knot + 1])
        start, stop = first // width * width, min(-(-last // width) * width, self.numbers.points)
        near, share = lower[start:stop], up[start:stop]
        return int(start), np.asarray((near == knot) * (1 - share) + (near == knot - 1) * share)

    def gather_some(self, by_point: Vector, first: int) -> Vector:
        """R z by knot, of some points from `first` on."""
        lower, up = (numbers[first : first + len(by_point)] for numbers in self._knots)
        below = np.bincount(lower, weights=by_point * (1 - up), minlength=self.steps + 1)
        above = np.bincount(lower + 1, weights=by_point * up, minlength=self.steps + 2)
        return np.asarray(below + above[: self.steps + 1])

    def gather(self, by_value: Vector) -> Vector:
        """Sums over the numbers of a knot; those of a knot are neighbours, and each knot has some."""
        lower, up = self._knots
        points = by_value[: self.numbers.points]
        share = up.reshape(-1, *(1,) * (points.ndim - 1))
        starts = np.searchsorted(lower, np.arange(self.steps + 1))
        on_knots = np.add.reduceat(points * (1 - share), starts, axis=0)
        on_knots[1:] += np.add.reduceat(points * share, starts, axis=0)[:-1]
        return self._circled(on_knots, by_value)

    def spread(self, by_place: Vector) -> Vector:
        """Between those of two knots."""
        lower, up = self._knots
        share = up.reshape(-1, *(1,) * (by_place.ndim - 1))
        following = np.minimum(lower + 1, self.steps)
        return self._beside(by_place[lower] * (1 - share) + by_place[following] * share, by_place)

    def squares(self, by_code: Vector, gamma: float) -> Vector:
        """With a and b the indicators of the windows of both knots: (1 + s ((1 - u) a + u b))^2, u the probability of the upper one."""
        held, both = self.circle.back(by_code), Circle(self.codes, np.arange(1, self.reach)).back(by_code)
        lower, up = self._knots
        share, rise = up.reshape(-1, *(1,) * (by_code.ndim - 1)), gamma - 1
        following = np.minimum(lower + 1, self.steps)
        crossed = (1 - share) ** 2 * held[lower] + share**2 * held[following] + 2 * share * (1 - share) * both[lower]
        own = held[self.absent : self.absent + 1] if self.numbers.missing else held[:0]
        return np.asarray(by_code.sum(axis=0) + 2 * rise * self.spread(held) + rise**2 * np.concatenate([crossed, own]))

    def _code_by_code(self, gamma: float) -> Iterator[Vector]:
        """Z P[y, x] of all values, for one code y after another: windows have few."""
        places = np.arange(self.codes)
        for code in range(self.codes):
            yield 1 + (gamma - 1) * self.spread(self.circle.holds(np.full(self.codes, code), places).astype(np.float64))

    def extremes(self, by_code: Vector, gamma: float) -> tuple[Vector, Vector]:
        """Of all codes."""
        largest, smallest = np.full(self.numbers.size, -np.inf), np.full(self.numbers.size, np.inf)
        for row, number in zip(self._code_by_code(gamma), by_code, strict=True):
            largest, smallest = np.maximum(largest, row * number), np.minimum(smallest, row * number)
        return largest, smallest

    def likeliest(self, by_value: Vector, gamma: float) -> tuple[Places, Vector]:
        """Of all values."""
        joint = [row * by_value for row in self._code_by_code(gamma)]
        value = np.array([int(np.argmax(row)) for row in joint], dtype=np.intp)
        return value, np.array([row[place] for row, place in zip(joint, value, strict=True)])
