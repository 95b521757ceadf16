"""What the parts of a mixture are: what is published of a number, with some probability, by one of them.

A column has `points` numbers in order, 0 to points - 1, and perhaps a missing value, which comes last. A part puts each number on a place of
a circle of K, and publishes a code (place + d) mod K, each d of its set D gamma times as likely as each other one.

    level     intervals of neighbouring numbers (core/mixture_level.py)
    window    knots at equal distances (core/mixture_window.py)

A missing value is a place of its own in each part. With R the rounding, R[place, x] = Pr[x is put on the place],

    gather     R z      sums over the values of each place
    spread     R^T g    the mean of g for each value
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.core.channel_base import Places, Vector
from scumble.core.circle import Circle


@dataclass(frozen=True)
class Numbers:
    """The values of a column of numbers: so many points, and whether a missing value is one more."""

    points: int
    missing: bool = False

    @property
    def size(self) -> int:
        """All values."""
        return self.points + self.missing


@dataclass(frozen=True, eq=False)
class Part(ABC):
    """What is published with some probability."""

    numbers: Numbers

    @property
    @abstractmethod
    def circle(self) -> Circle:
        """Its codes, and its set."""

    @property
    @abstractmethod
    def spelling(self) -> str:
        """What tells it from all others of the same numbers."""

    @property
    @abstractmethod
    def used(self) -> int:
        """How many places have values, the first of the circle; that of a missing value is `absent`."""

    @property
    @abstractmethod
    def absent(self) -> int:
        """The place of a missing value, where there is one."""

    @abstractmethod
    def lower(self, values: Places) -> Places:
        """The place of each number, the lower one where there are two."""

    def placed(self, values: Places) -> Places:
        """The same of all values: that of a missing one is its own."""
        return np.where(
            values < self.numbers.points, self.lower(np.minimum(values, self.numbers.points - 1)), self.absent
        )

    @abstractmethod
    def raised(self, values: Places, ticks: int) -> npt.NDArray[np.int64]:
        """Of so many ticks how many put a number on the next place instead."""

    @abstractmethod
    def gather(self, by_value: Vector) -> Vector:
        """R z, on the whole circle."""

    @abstractmethod
    def spread(self, by_place: Vector) -> Vector:
        """R^T g."""

    def chance(self, codes: Places, values: Places) -> Vector:
        """How probably a value is put on a place that a code stands for, pair by pair."""
        return self.circle.holds(codes, self.placed(values)).astype(np.float64)

    @property
    @abstractmethod
    def words(self) -> str:
        """What a code stands for."""

    @abstractmethod
    def squares(self, by_code: Vector, gamma: float) -> Vector:
        """sum over codes y of (Z P[y, x])^2 g_y, for each value x."""

    @abstractmethod
    def extremes(self, by_code: Vector, gamma: float) -> tuple[Vector, Vector]:
        """For each value x the largest and the smallest of Z P[y, x] g_y over codes y; g is positive."""

    @abstractmethod
    def likeliest(self, by_value: Vector, gamma: float) -> tuple[Places, Vector]:
        """For each code y the value with the largest Z P[y, x] f_x, and that number."""

    @property
    @abstractmethod
    def held_by_chance(self) -> Vector | float:
        """How probably each code stands for the place of a number that nothing is known of: what weights are made for."""

    def expected(self, gamma: float) -> Vector | float:
        """How probable each code is then."""
        return (1 + (gamma - 1) * self.held_by_chance) / self.unit(gamma, 1.0)

    @property
    def codes(self) -> int:
        """K."""
        return self.circle.codes

    def unit(self, inside: float, outside: float) -> float:
        """How much all codes weigh together, where each of the set weighs `inside` and each other one `outside`."""
        k = len(self.circle.offsets)
        return k * inside + (self.codes - k) * outside

    def _circled(self, of_points: Vector, by_value: Vector) -> Vector:
        """Numbers of the places of points, and that of the missing value, on the circle."""
        whole = np.zeros((self.codes, *by_value.shape[1:]))
        whole[: len(of_points)] = of_points
        if self.numbers.missing:
            whole[self.absent] = by_value[-1]
        return whole

    def _beside(self, of_points: Vector, by_place: Vector) -> Vector:
        """Numbers of points, with that of the missing value."""
        if not self.numbers.missing:
            return of_points
        return np.concatenate([of_points, by_place[self.absent : self.absent + 1]])
