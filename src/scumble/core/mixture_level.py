"""A part of a mixture that tells intervals: of `width` neighbouring numbers each, whose codes are those of a design (core/design.py)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.core.channel_base import Places, Vector
from scumble.core.circle import Circle
from scumble.core.difference_set import DifferenceSet
from scumble.core.mixture_part import Part
from scumble.core.once import once


@dataclass(frozen=True, eq=False)
class LevelPart(Part):
    """Intervals of neighbouring numbers, each with a place of its own.

    >>> from scumble.core.mixture_part import Numbers
    >>> level = LevelPart(Numbers(5), 2, DifferenceSet(3, np.array([0])))
    >>> level.gather(np.array([1.0, 2, 3, 4, 5])).tolist(), level.spread(np.array([1.0, 2, 3])).tolist()
    ([3.0, 7.0, 5.0], [1.0, 1.0, 2.0, 2.0, 3.0])
    """

    width: int
    blocks: DifferenceSet

    @once
    def circle(self) -> Circle:
        """The circle of its set."""
        return Circle(self.blocks.codes, self.blocks.offsets)

    @property
    def spelling(self) -> str:
        """Width and set."""
        return (
            f"level {self.width} {self.blocks.codes} {self.blocks.order} {self.blocks.dimension} {self.blocks.digest}"
        )

    @property
    def intervals(self) -> int:
        """How many there are."""
        return -(-self.numbers.points // self.width)

    @property
    def used(self) -> int:
        """A place for each interval."""
        return self.intervals + self.numbers.missing

    @property
    def absent(self) -> int:
        """After the last interval."""
        return self.intervals

    @property
    def words(self) -> str:
        """Single numbers, or intervals."""
        k = len(self.circle.offsets)
        what = "numbers" if self.width == 1 else f"intervals of {self.width:,} numbers"
        return f"{k:,} of {self.intervals:,} {what}" if k > 1 else f"one of {self.intervals:,} {what}"

    @property
    def held_by_chance(self) -> Vector | float:
        """All codes alike, which they nearly are."""
        return len(self.blocks.offsets) / self.codes

    def lower(self, values: Places) -> Places:
        """The interval."""
        return values // self.width

    def raised(self, values: Places, ticks: int) -> npt.NDArray[np.int64]:
        """Never."""
        return np.zeros(len(values), dtype=np.int64)

    def gather(self, by_value: Vector) -> Vector:
        """Sums over intervals."""
        points = by_value[: self.numbers.points]
        if self.width > 1:
            points = np.add.reduceat(points, np.arange(0, self.numbers.points, self.width), axis=0)
        return self._circled(points, by_value)

    def spread(self, by_place: Vector) -> Vector:
        """That of its interval for each number."""
        return self._beside(np.repeat(by_place[: self.intervals], self.width, axis=0)[: self.numbers.points], by_place)

    def products(self, gamma: float) -> tuple[float, float]:
        """What any two columns of Pr[code | place] have as a product, and how much more each has with itself."""
        k, repeats, rise = len(self.blocks.offsets), self.blocks.repeats, gamma - 1
        unit = self.unit(gamma, 1.0) ** 2
        return (self.codes + 2 * rise * k + rise**2 * repeats) / unit, rise**2 * (k - repeats) / unit

    def squares(self, by_code: Vector, gamma: float) -> Vector:
        """Each code has gamma or 1."""
        return np.asarray(by_code.sum(axis=0) + (gamma**2 - 1) * self.spread(self.circle.back(by_code)))

    def extremes(self, by_code: Vector, gamma: float) -> tuple[Vector, Vector]:
        """Those of its interval."""
        largest, smallest = self.circle.extremes(by_code, gamma)
        return self.spread(largest), self.spread(smallest)

    def likeliest(self, by_value: Vector, gamma: float) -> tuple[Places, Vector]:
        """The likeliest value of the likeliest interval."""
        falling = np.argsort(-by_value, kind="stable")
        _, first = np.unique(self.placed(np.arange(self.numbers.size))[falling], return_index=True)
        best = falling[first]
        top = np.full(self.codes, -1.0)  # places without values are never likeliest
        top[: self.used] = by_value[best]
        place, joint = self.circle.likeliest(top, gamma)
        return best[place], joint
