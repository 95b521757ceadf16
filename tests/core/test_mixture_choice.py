"""Which mixture is taken, and how exact it makes answers: against formulas of other channels at the same gamma."""

import math

import numpy as np
import pytest

from scumble import Channel
from scumble.core.channel_base import BaseChannel, Vector
from scumble.core.errors import ParameterError
from scumble.core.mixture_choice import KINDS, best_mixture, widths
from scumble.core.mixture_level import LevelPart
from scumble.core.mixture_part import Numbers


def error(channel: BaseChannel, h: Vector) -> float:
    """The standard error of the sum of h for each root of rows, numbers alike."""
    return math.sqrt(channel.variance(h).mean())


def questions(points: int) -> tuple[Vector, Vector, Vector]:
    """The sum in units of the range, the lower half, and one number."""
    x = np.arange(points)
    return x / (points - 1), (x < points // 2).astype(float), (x == points // 3).astype(float)


@pytest.mark.parametrize(
    ("points", "gamma", "errors"),
    [(101, 3.0, (1.4, 3.8, 2.4)), (1000, 3.0, (1.4, 6.0, 2.6)), (101, 9.0, (0.7, 1.7, 1.1))],
)
def test_balanced_mixtures_are_as_exact_as_this(points: int, gamma: float, errors: tuple[float, ...]) -> None:
    """Uniform replacement has 15, 26 and 5.1 of 101 numbers at gamma = 3, and 145, 250 and 15.8 of 1,000."""
    mixture, uniform = best_mixture(Numbers(points), gamma), Channel.from_gamma(points, gamma)
    for h, most in zip(questions(points), errors, strict=True):
        assert error(mixture, h) < most
        assert error(mixture, h) < error(uniform, h)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, math.log(3), 2.0, 3.0])
def test_sums_are_as_exact_as_those_of_the_best_peer(epsilon: float) -> None:
    """One bit (Duchi et al.) and the piecewise mechanism (Wang et al.), by their formulas, for numbers that are alike: 1.05 times at most."""
    x, e, t = np.linspace(-1, 1, 101), math.exp(epsilon), math.exp(epsilon / 2)
    one_bit = ((e + 1) / (e - 1)) ** 2 - x**2
    piecewise = x**2 / (t - 1) + (t + 3) / (3 * (t - 1) ** 2)
    best = math.sqrt(min(one_bit.mean(), piecewise.mean())) / 2
    assert error(best_mixture(Numbers(101), e, ("sum",)), (x + 1) / 2) < 1.05 * best
    assert error(best_mixture(Numbers(101), e), (x + 1) / 2) < 1.7 * best


@pytest.mark.parametrize("gamma", [1.5, 3.0, 9.0])
@pytest.mark.parametrize("missing", [False, True])
def test_what_is_asked_is_more_exact_than_what_is_not(gamma: float, missing: bool) -> None:
    numbers = Numbers(200, missing)
    padded = [np.append(h, [0.0] * missing) for h in questions(200)]
    balanced = best_mixture(numbers, gamma)
    for place, kind in enumerate(KINDS):
        alone = best_mixture(numbers, gamma, (kind,))
        assert error(alone, padded[place]) < error(balanced, padded[place])
        assert all(error(alone, h) < 40 * error(balanced, h) for h in padded)  # everything has an answer


def test_every_mixture_tells_single_numbers_apart() -> None:
    for asked in (("sum",), ("range", "sum"), KINDS):
        mixture = best_mixture(Numbers(300), 3.0, asked)
        finest = [
            w for p, w in zip(mixture.parts, mixture.shares, strict=True) if isinstance(p, LevelPart) and p.width == 1
        ]
        assert finest[0] >= 0.0099
        assert sum(mixture.shares) == pytest.approx(1)


@pytest.mark.parametrize("asked", [(), ("mean",), ("sum", "median")])
def test_what_cannot_be_asked_is_named(asked: tuple[str, ...]) -> None:
    with pytest.raises(ParameterError, match="asked is a list of sum, range, point"):
        best_mixture(Numbers(10), 3.0, asked)


def test_the_order_in_which_it_is_asked_does_not_matter() -> None:
    assert best_mixture(Numbers(50), 3.0, ("range", "sum")) == best_mixture(Numbers(50), 3.0, ("sum", "range"))


@pytest.mark.parametrize("points", [2, 3, 4, 9])
def test_few_numbers_have_a_mixture_too(points: int) -> None:
    mixture = best_mixture(Numbers(points), 3.0)
    x = np.arange(points, dtype=float)
    np.testing.assert_allclose(mixture.matrix().T @ mixture.weights(x), x, atol=1e-9)


@pytest.mark.slow
def test_millions_of_numbers_are_planned_and_weighed_without_a_matrix() -> None:
    """Cents up to 20,000: the sum is as exact as that of a hundred numbers, and weights are unbiased."""
    numbers = Numbers(2_000_001)
    mixture = best_mixture(numbers, 3.0)
    assert widths(numbers)[-1] == 4**9
    h = np.linspace(0, 1, numbers.points)
    phi = mixture.weights(h)
    np.testing.assert_allclose(mixture.expect(phi), h, atol=1e-8)
    assert math.sqrt((mixture.expect(phi**2) - h**2).mean()) < 1.6
