"""What a row's guarantee comes to for a person with several rows, beside what enumeration says."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from scumble.core.channel import Channel
from scumble.mechanisms.counted_terms import dp_guarantee, k_guarantee
from scumble.mechanisms.noisy_count_matrix import NoisyCountMatrix
from scumble.privacy.guarantee import amplification_guarantee, rho_guarantee
from scumble.privacy.persons import EMPTY, for_person, is_empty


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_the_factor_of_rows_with_their_own_coins_is_the_power_that_enumeration_finds(rows: int) -> None:
    """All values and all published values of three rows or fewer: the bound is reached, so a smaller one would be wrong."""
    channel = Channel(0.3, size=3)
    promise = for_person(amplification_guarantee(["d"], Fraction(channel.amplification)), rows)
    assert promise is not None
    matrix, places = channel.matrix(), list(itertools.product(range(3), repeat=rows))
    chance = np.array(
        [[np.prod([matrix[y, x] for y, x in zip(ys, xs, strict=True)]) for xs in places] for ys in places]
    )
    worst = float((chance.max(axis=1) / chance.min(axis=1)).max())
    assert promise.parameters["gamma"] == pytest.approx(worst, rel=1e-12)
    assert promise.parameters["epsilon"] == pytest.approx(rows * math.log(channel.amplification))
    assert promise.parameters["gamma"] >= channel.amplification**rows * (1 - 1e-15)


def _loss(matrix: NoisyCountMatrix, rows: int, epsilon: float) -> float:
    """The delta that is needed at an epsilon, for one tuple with so many rows more or fewer, over counts to 60."""
    published = np.arange(300)
    chance = [matrix.probabilities(np.full(300, i), published) for i in range(60 + rows)]
    pairs = [(chance[i], chance[i + rows]) for i in range(60)]
    return max(float(np.maximum(a - math.exp(epsilon) * b, 0).sum()) for p in pairs for a, b in (p, p[::-1]))


@pytest.mark.parametrize("rows", [2, 3])
def test_the_delta_of_several_tuples_holds_and_that_of_one_does_not(rows: int) -> None:
    matrix = NoisyCountMatrix(10, 1, 1e-5)
    promise = for_person(dp_guarantee(["d"], matrix), rows)
    assert promise is not None
    epsilon, delta = promise.parameters["epsilon"], promise.parameters["delta"]
    assert epsilon == rows
    assert delta == pytest.approx(1e-5 * sum(math.exp(i) for i in range(rows)))
    assert 1e-5 < _loss(matrix, rows, epsilon) <= delta, (
        "the delta of one row is too small, and that of the person holds"
    )


def test_where_nothing_follows_nothing_is_said() -> None:
    assert for_person(k_guarantee(["d"], 10), 2) is None
    assert for_person(rho_guarantee(["d"], 0.1, 0.3), 2) is None
    assert for_person(amplification_guarantee(["d"], Fraction(20)), 5000) is None, "no number holds it"


def test_empty_is_a_factor_above_a_million() -> None:
    promises = [for_person(amplification_guarantee(["d"], Fraction(10)), rows) for rows in (6, 7)]
    assert [promise is not None and is_empty(promise) for promise in promises] == [False, True]
    assert EMPTY == 1e6
