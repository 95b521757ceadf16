"""Disclosure by differentially private answers: two noisy counts give a person's chance of a sensitive value.

An attacker asks for x, the number of people like the target, and y, how many of them have the value; each answer has
Laplace noise of scale b = sensitivity * queries / epsilon. With X = x + Lap(b), Y = y + Lap(b), to second order of Taylor

    E[Y/X] ~ (y/x) (1 + 2 b^2/x^2)        Var[Y/X] ~ (2 b^2/x^2) (1 + y^2/x^2)

so that both errors are bounded by multiples of (b/x)^2: from b/x <= 1/20 on the ratio is as good as known, whatever epsilon.
X has a density at 0, so the exact mean of Y/X does not exist: a simulation is summed up by its median and quantiles.

where x = `x`, y = `y`, b = `scale`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.core.entropy import Stream
from scumble.core.errors import ParameterError
from scumble.core.parameters import number

DISCLOSURE = 1 / 20
"""The largest b/x at which the ratio counts as disclosed."""


@dataclass(frozen=True)
class RatioDisclosure:
    """What the ratio of two noisy counts tells, by Taylor."""

    x: float
    y: float
    scale: float
    """b, the scale of the noise."""

    @property
    def ratio(self) -> float:
        """y/x, the target's chance of the value."""
        return self.y / self.x

    @property
    def relative_scale(self) -> float:
        """b/x, also the mean relative error of the answer X."""
        return self.scale / self.x

    @property
    def bias_bound(self) -> float:
        """2 (b/x)^2, at least the bias; twice that is at least the variance."""
        return 2 * self.relative_scale**2

    @property
    def expectation(self) -> float:
        """(y/x) (1 + 2 b^2/x^2)."""
        return self.ratio * (1 + self.bias_bound)

    @property
    def variance(self) -> float:
        """(2 b^2/x^2) (1 + y^2/x^2)."""
        return self.bias_bound * (1 + self.ratio**2)

    @property
    def discloses(self) -> bool:
        """Whether b/x <= 1/20."""
        return self.relative_scale <= DISCLOSURE


def ratio_disclosure(x: Any, y: Any, epsilon: Any, sensitivity: Any = 1, queries: int = 2) -> RatioDisclosure:
    """What two counts answered under epsilon-differential privacy disclose of their ratio.

    x, y         the true counts, 0 <= y <= x
    epsilon      the budget of all queries together
    sensitivity  by how much one person changes one answer
    queries      the number of queries that share the budget

    >>> found = ratio_disclosure(501, 420, epsilon=0.5)
    >>> found.scale, round(found.ratio, 4), round(found.expectation, 4), round(found.variance**0.5, 4), found.discloses
    (4.0, 0.8383, 0.8384, 0.0147, True)
    """
    people, having = number(x, "x"), number(y, "y")
    if not 0 <= having <= people or people == 0:
        raise ParameterError(f"0 <= y <= x and x > 0 must hold, because y counts some of x, not x = {x}, y = {y}")
    budget, change = number(epsilon, "epsilon"), number(sensitivity, "sensitivity")
    if budget <= 0 or change <= 0 or queries < 1:
        raise ParameterError(
            f"epsilon and sensitivity must be above 0 and queries at least 1, not {epsilon}, {sensitivity}, {queries}"
        )
    return RatioDisclosure(people, having, change * queries / budget)


@dataclass(frozen=True, eq=False)
class RatioSimulation:
    """Noisy answers, trial by trial."""

    asked: RatioDisclosure
    ratios: npt.NDArray[np.float64]
    """Y/X of each trial."""
    errors_x: npt.NDArray[np.float64]
    """|X - x|/x of each trial."""
    errors_y: npt.NDArray[np.float64]
    """|Y - y|/y of each trial; infinite where y = 0."""

    @property
    def median(self) -> float:
        """The median of Y/X."""
        return float(np.median(self.ratios))

    def quantiles(self, *levels: float) -> list[float]:
        """Quantiles of Y/X; 5%, 25%, 75% and 95% when none are named."""
        return [float(q) for q in np.quantile(self.ratios, levels or (0.05, 0.25, 0.75, 0.95))]

    def within(self, relative: float) -> float:
        """The share of trials whose ratio is within that relative distance of y/x."""
        return float(np.mean(np.abs(self.ratios - self.asked.ratio) <= relative * self.asked.ratio))


def simulate(asked: RatioDisclosure, stream: Stream, trials: int = 10_000) -> RatioSimulation:
    """Noisy answers from a stream of `scumble.core.entropy`.

    Noise is made from 53-bit uniforms, enough to look at a distribution. It must not protect anything: the gaps between
    floating-point noises tell the true answer.

    >>> from scumble.core.entropy import Entropy
    >>> found = simulate(ratio_disclosure(501, 420, epsilon=0.5), Entropy.seeded(1).stream("doc"))
    >>> round(found.median, 2), round(found.within(0.05), 1)
    (0.84, 1.0)
    """
    if trials < 1:
        raise ParameterError(f"a simulation needs at least 1 trial, not {trials}")
    first, second = (laplace(stream, trials, asked.scale) for _ in range(2))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = (asked.y + second) / (asked.x + first)
        return RatioSimulation(asked, ratios, np.abs(first) / asked.x, np.abs(second) / asked.y)


def laplace(stream: Stream, count: int, scale: float) -> npt.NDArray[np.float64]:
    """Laplace noise for simulations: an exponential variable with a random sign.

    >>> from scumble.core.entropy import Entropy
    >>> laplace(Entropy.seeded(1).stream("doc"), 3, 1.0).shape
    (3,)
    """
    words = stream.integers(count, 64)
    uniform = ((words >> np.uint64(11)) + 0.5) * 2.0**-53
    return np.asarray(np.where(words & np.uint64(1), 1.0, -1.0) * -scale * np.log(uniform))
