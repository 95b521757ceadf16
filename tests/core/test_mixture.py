"""Mixtures: unbiased to the last digits, of least squares, and computed without their matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.core.channel_base import Vector
from scumble.core.difference_set import one_place, singer
from scumble.core.errors import NotEstimable, ParameterError
from scumble.core.mixture import Mixture
from scumble.core.mixture_choice import KINDS, best_mixture
from scumble.core.mixture_level import LevelPart
from scumble.core.mixture_part import Numbers
from scumble.core.mixture_window import WindowPart
from scumble.core.nested import Nested

ASKED = [("sum",), ("range",), ("point",), KINDS]


def made_by_hand(points: int, missing: bool, gamma: float) -> Mixture:
    """Every kind of part at once."""
    numbers = Numbers(points, missing)
    places = -(-points // 4) + missing
    parts = [
        WindowPart(numbers, min(7, points - 1), min(4, points - 1)),
        WindowPart(numbers, 1, 1),
        LevelPart(numbers, 1, singer(3, 4)),
        LevelPart(numbers, 4, one_place(places)),
    ]
    return Mixture(parts, [0.3, 0.1, 0.4, 0.2], gamma)


def working_variance(mixture: Mixture) -> Vector:
    """v, of each code."""
    parts = zip(mixture.parts, mixture.shares, strict=True)
    return np.concatenate([np.ones(part.codes) * part.expected(mixture.gamma) * share for part, share in parts])


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 39),
    st.booleans(),
    st.floats(1.01, 200),
    st.lists(st.floats(-5, 5), min_size=3, max_size=3),
)
def test_weights_are_unbiased_whatever_the_function(
    points: int, missing: bool, gamma: float, coefficients: list[float]
) -> None:
    mixture = made_by_hand(points, missing, gamma)
    x = np.arange(mixture.size) / mixture.size
    h = np.polyval(coefficients, x) + (x > 0.4)
    np.testing.assert_allclose(mixture.expect(mixture.weights(h)), h, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("gamma", [1.02, 3.0, 60.0])
@pytest.mark.parametrize(("points", "missing"), [(2, False), (33, True), (365, False)])
def test_chosen_mixtures_are_unbiased_too(points: int, missing: bool, gamma: float, asked: tuple[str, ...]) -> None:
    """Numbers, their squares and a range; also where gamma is near 1, so that each code tells next to nothing."""
    mixture = best_mixture(Numbers(points, missing), gamma, asked)
    x = np.arange(mixture.size, dtype=np.float64)
    h = np.stack([x, x**2, x < points / 3], axis=1)
    np.testing.assert_allclose(mixture.expect(mixture.weights(h)) / h.max(axis=0), h / h.max(axis=0), atol=2e-9)


@pytest.mark.parametrize("missing", [False, True])
def test_weights_are_those_of_least_squares(missing: bool) -> None:
    """Against the dense matrix: of all unbiased weights that are 1 for h = 1, none has a smaller variance for the working one."""
    mixture = made_by_hand(30, missing, 3.0)
    P, v = mixture.matrix(), working_variance(mixture)
    h = np.cos(np.arange(mixture.size))
    told = P - np.outer(v, np.ones(mixture.size))
    t = ((mixture.gamma - 1) / (mixture.gamma + 1)) ** 2
    z = np.linalg.solve(told.T @ (told / v[:, None]) + t, h - h.mean())
    np.testing.assert_allclose(mixture.weights(h), h.mean() + t * z.sum() + told @ z / v, rtol=1e-9)


def test_the_working_variance_is_that_of_numbers_that_are_alike() -> None:
    """Of windows exactly; codes of a design are nearly as likely as each other."""
    mixture = best_mixture(Numbers(101), 3.0)
    alike = mixture.apply(np.full(101, 1 / 101))
    windows = sum(part.codes for part in mixture.parts if isinstance(part, WindowPart))
    np.testing.assert_allclose(working_variance(mixture)[:windows], alike[:windows], rtol=1e-12)
    np.testing.assert_allclose(working_variance(mixture)[windows:], alike[windows:], rtol=0.2)


def test_the_ends_are_one_bit_of_randomized_response() -> None:
    """Half a range times (gamma + 1) / (gamma - 1) either way, as Duchi, Jordan and Wainwright have it."""
    numbers = Numbers(11)
    mixture = Mixture([WindowPart(numbers, 1, 1), LevelPart(numbers, 1, one_place(11))], [1 - 1e-9, 1e-9], 3.0)
    np.testing.assert_allclose(mixture.weights(np.arange(11) / 10)[:2], [0.5 - 1, 0.5 + 1], rtol=1e-4)


def test_intervals_within_intervals_are_solved() -> None:
    """Against the matrix of ones on intervals, also where the last one is shorter, and from a widest interval on."""
    widths, betas, points = [1, 3, 12], [0.5, 0.2, 0.7], 31
    dense = sum(
        beta * (np.arange(points)[:, None] // w == np.arange(points) // w)
        for w, beta in zip(widths, betas, strict=True)
    )
    nested, h = Nested(points, widths, betas), np.sin(np.arange(points * 2.0)).reshape(points, 2)
    np.testing.assert_allclose(nested.solve(h), np.linalg.solve(dense, h), rtol=1e-10)
    np.testing.assert_allclose(nested.times(h), dense @ h, rtol=1e-10)
    np.testing.assert_allclose(nested.solve(h[12:24], 12), np.linalg.solve(dense[12:24, 12:24], h[12:24]), rtol=1e-10)


def test_a_mixture_without_single_numbers_is_refused() -> None:
    numbers = Numbers(8)
    with pytest.raises(ParameterError, match="level of single points"):
        Mixture([WindowPart(numbers, 1, 1), LevelPart(numbers, 2, one_place(4))], [0.5, 0.5], 3.0).weights(np.arange(8))


def test_a_line_for_each_of_very_many_numbers_is_refused() -> None:
    mixture = best_mixture(Numbers(100_000), 3.0)
    with pytest.raises(NotEstimable, match="ask for ranges"):
        mixture.solve_squares(np.zeros(mixture.codes))


def test_values_of_a_cell_have_the_weights_of_all_of_them() -> None:
    mixture, cells = best_mixture(Numbers(40), 3.0), (np.arange(40) >= 25).astype(np.intp)
    small = mixture.collapse(cells, 2)
    np.testing.assert_allclose(small.weights([0.0, 1.0])[mixture.places(cells, 2)], mixture.weights(cells), rtol=1e-9)
    np.testing.assert_allclose(small.matrix().sum(axis=0), 1, rtol=1e-12)
    alone = np.zeros(40, dtype=np.intp)
    assert mixture.collapse(alone, 1).codes == 1
    assert mixture.places(alone, 1).max() == 0
    assert mixture.collapse(np.arange(40), 40) is mixture


def test_a_mixture_is_told_from_others_and_shows_itself() -> None:
    mixture = best_mixture(Numbers(40), 3.0)
    assert mixture == best_mixture(Numbers(40), 3.0)
    assert mixture != best_mixture(Numbers(40), 2.0)
    assert mixture != "mixture"
    assert "parts=" in repr(mixture)
    assert "single" not in repr(mixture)
    assert "knots at equal distances" in str(mixture.card())


def test_a_code_stands_for_the_values_that_make_it_likeliest() -> None:
    mixture = best_mixture(Numbers(40), 3.0)
    matrix = mixture.matrix()
    for code in (0, 20, mixture.codes - 1):
        assert mixture.block(code).tolist() == np.flatnonzero(matrix[code] > matrix[code].max() * (1 - 1e-9)).tolist()
