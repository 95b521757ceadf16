"""Cyclic designs: as exact as they are said to be, at exactly the gamma that is asked for."""

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble import Channel, Design
from scumble.core.channel_base import BaseChannel, Vector
from scumble.core.design import variance
from scumble.core.difference_set import singer
from scumble.core.errors import ParameterError

RATIOS = [
    (14, 2.06, 1.35),
    (46, 2.06, 2.39),
    (100, 5, 2.28),
    (973, 2.06, 10.9),
    (973, 5, 6.96),
    (5000, 3, 20.4),
]
"""Values, gamma, and how many times larger the standard error of a uniform channel is."""


def of_a_rare_value(channel: BaseChannel) -> float:
    """The standard error of the count of a value, for each root of rows that do not have it: as the weights have it."""
    of_one = channel.variance(np.eye(1, channel.size)[0])
    return math.sqrt(of_one[1:].mean())


@pytest.mark.parametrize(("size", "gamma", "ratio"), RATIOS)
def test_standard_errors_are_smaller_than_those_of_a_uniform_channel(size: int, gamma: float, ratio: float) -> None:
    """By the formula to the last digit; by the weights, which are better by their mean on unused places, at least as much."""
    design, uniform = Design(size, gamma), Channel.from_gamma(size, gamma)
    blocks = design.blocks
    by_formula = math.sqrt(
        variance(size, 1, 0, gamma) / variance(blocks.codes, len(blocks.offsets), blocks.repeats, gamma)
    )
    assert by_formula == pytest.approx(ratio, rel=0.004)
    assert of_a_rare_value(uniform) / of_a_rare_value(design) > 0.995 * ratio


@pytest.mark.parametrize(
    ("size", "gamma", "field"), [(46, 2.06, (3, 5, 121)), (100, 5, (5, 4, 156)), (973, 2.06, (3, 7, 1093))]
)
def test_the_field_that_is_chosen(size: int, gamma: float, field: tuple[int, int, int]) -> None:
    blocks = Design(size, gamma).blocks
    assert (blocks.order, blocks.dimension, blocks.codes) == field


def subset_selection(size: int, gamma: float) -> float:
    """The variance of the best subset selection (Ye and Barg), which has binomial(m, k) codes: about the least that there is."""
    found = []
    for k in range(1, size):
        unit = gamma * k + size - k
        held, other = gamma * k / unit, k * (gamma * (k - 1) + size - k) / (size - 1) / unit
        found.append(other * (1 - other) / (held - other) ** 2)
    return min(found)


@pytest.mark.parametrize("size", [46, 100, 973, 5000])
@pytest.mark.parametrize("gamma", [2, 5, 9])
def test_a_design_is_within_six_percent_of_subset_selection(size: int, gamma: float) -> None:
    blocks = Design(size, gamma).blocks
    own = variance(blocks.codes, len(blocks.offsets), blocks.repeats, gamma)
    assert math.sqrt(own / subset_selection(size, gamma)) < 1.06


@pytest.mark.slow
@settings(max_examples=60)
@given(st.integers(2, 400), st.floats(1.05, 40))
def test_a_design_is_never_worse_than_uniform(size: int, gamma: float) -> None:
    blocks = Design(size, gamma).blocks
    own = variance(blocks.codes, len(blocks.offsets), blocks.repeats, gamma)
    assert own <= variance(size, 1, 0, gamma) * (1 + 1e-12)


@pytest.mark.parametrize(("size", "gamma"), [(2, 1.5), (14, 9), (5, 3)])
def test_few_values_have_a_uniform_channel(size: int, gamma: float) -> None:
    design = Design(size, gamma)
    assert design.uniform
    np.testing.assert_allclose(design.matrix(), Channel.from_gamma(size, gamma).matrix(), rtol=1e-12)


@pytest.mark.parametrize(("size", "gamma"), [(46, 2.06), (40, 5), (7, 1.2)])
def test_each_ratio_is_gamma_or_one(size: int, gamma: float) -> None:
    """Whatever two values: a code is equally likely of both, or gamma times as likely of one."""
    matrix = Design(size, gamma).matrix()
    ratios = (matrix[:, :, None] / matrix[:, None, :]).ravel()
    np.testing.assert_allclose(np.unique(ratios.round(9)), np.round([1 / gamma, 1, gamma], 9))


def test_a_code_stands_for_its_block() -> None:
    design = Design(46, 2.06)
    matrix = design.matrix()
    for code in (0, 5, 120):
        assert design.block(code).tolist() == np.flatnonzero(matrix[code] > 1.5 * matrix.min()).tolist()


@pytest.mark.parametrize("members", [[3], [1, 2, 5, 40], list(range(45))])
def test_cells_have_the_weights_of_their_values(members: list[int]) -> None:
    """Put together by a question, values and codes give the same weights; and one value, or all but one, has two probabilities."""
    design, cells = Design(46, 2.06), np.zeros(46, np.intp)
    cells[members] = 1
    small, places = design.collapse(cells, 2), design.places(cells, 2)
    np.testing.assert_allclose(small.weights([0.0, 1.0])[places], design.weights(cells == 1), rtol=1e-9)
    np.testing.assert_allclose(small.matrix().sum(axis=0), 1, rtol=1e-12)
    pair = small.pair(np.array([False, True]))
    if len(members) == 4:
        assert pair is None
        return
    assert pair is not None
    matching = design.matrix()[pair.matches[places]].sum(axis=0)
    np.testing.assert_allclose(matching, np.where(cells == 1, pair.kept, pair.drawn), rtol=1e-12)


def test_a_value_against_all_others_is_kept_or_drawn_as_in_a_uniform_channel() -> None:
    design = Design(100, 5)
    p, r = design.against_others
    assert p + (1 - p) * r[0] == pytest.approx(design.held)
    assert (1 - p) * r[0] == pytest.approx(design.others)


def test_many_values_are_planned_in_a_second() -> None:
    """Of processor time, with much room; a set is kept once it was made, so that these are others than those of other tests."""
    singer.cache_clear()
    begun = time.process_time()
    Design(10_000, 7)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("size", "gamma", "words"), [(46, 1, "above 1"), (0, 2, "at least one"), (2.5, 2, "whole number")]
)
def test_what_is_no_design_is_refused(size: float, gamma: float, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Design(size, gamma)  # type: ignore[arg-type]


def test_a_set_without_room_is_refused() -> None:
    with pytest.raises(ParameterError, match="no room for 8 values"):
        Design(8, 2, singer(2, 3))


def simulated(design: Design, counts: Vector) -> Vector:
    """Counts that are published and estimated, many times over."""
    draw = np.random.default_rng(5)
    matrix = design.matrix()
    published = [sum(draw.multinomial(int(n), matrix[:, x]) for x, n in enumerate(counts)) for _ in range(400)]
    return np.stack([design.solve(each) for each in published])


def test_estimates_and_variances_are_right_by_simulation() -> None:
    """400 tables of 3,000 rows: means within 5 standard errors, variances within 35% (false alarm below 1e-6 each), and a wrong A is seen."""
    design, counts = Design(20, 2), np.linspace(0, 300, 20).round()
    found = simulated(design, counts)
    variances = np.stack([counts @ design.variance(row) for row in np.eye(20)])
    errors = (found.mean(axis=0) - counts) / np.sqrt(variances / 400)
    assert np.abs(errors).max() < 5
    assert np.abs(found.var(axis=0) / variances - 1).max() < 0.35
    design.held *= 1.02
    wrong = (simulated(design, counts).mean(axis=0) - counts) / np.sqrt(variances / 400)
    assert np.abs(wrong).max() > 5
