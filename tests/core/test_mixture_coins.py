"""The coins of mixtures: every word there is, and gamma in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from scumble.core.difference_set import one_place, singer
from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError
from scumble.core.mixture_choice import KINDS, best_mixture
from scumble.core.mixture_coins import MixtureCoins
from scumble.core.mixture_level import LevelPart
from scumble.core.mixture_part import Numbers
from scumble.core.mixture_window import WindowPart


def coins(numbers: Numbers) -> MixtureCoins:
    """Of few words, of every kind of part."""
    places = -(-numbers.points // 4) + numbers.missing
    parts = [
        WindowPart(numbers, 3, 2),
        WindowPart(numbers, 1, 1),
        LevelPart(numbers, 1, singer(2, 3)),
        LevelPart(numbers, 4, one_place(places)),
    ]
    return MixtureCoins(parts, [61, 40, 20, 15], 12, 5, 2)


@pytest.mark.parametrize("numbers", [Numbers(6), Numbers(7), Numbers(5, missing=True)])
def test_odds_change_by_exactly_gamma_in_whole_numbers(numbers: Numbers) -> None:
    """Every word there is, once, for every value: of each code the likeliest and the unlikeliest value, as a fraction."""
    small = coins(numbers)
    words = np.arange(1 << small.bits, dtype=np.uint64)
    counts = np.zeros((small.codes, numbers.size), dtype=object)
    for value in range(numbers.size):
        drawn, again = small.decide(np.full(len(words), value, np.uint8), words)
        assert again.sum() == (1 << small.bits) - sum(small.spans)
        for code, times in zip(*np.unique(drawn[~again], return_counts=True), strict=True):
            counts[code, value] = int(times)
    ratios = [Fraction(max(row), min(row)) for row in counts]
    assert max(ratios) == small.amplification == Fraction(5, 2)


def test_a_number_is_rounded_by_so_many_ticks_and_no_others() -> None:
    """The mean of the knots of a number is the number, up to a tick."""
    window = WindowPart(Numbers(11), 3, 2)
    values = np.arange(11)
    knots = window.lower(values) + window.raised(values, 1000) / 1000
    np.testing.assert_allclose(knots, values * 3 / 10, atol=1e-3)
    assert (knots <= values * 3 / 10 + 1e-12).all()


@pytest.mark.parametrize("gamma", [1.001, 2.06, 3.0, 19.7, 5000.0])
@pytest.mark.parametrize("asked", [("sum",), KINDS])
def test_gamma_is_rounded_down_by_a_millionth_at_most(gamma: float, asked: tuple[str, ...]) -> None:
    made = MixtureCoins.of(best_mixture(Numbers(101, missing=True), gamma, asked))
    assert Fraction(gamma) * (1 - Fraction(1, 10**6)) <= made.amplification <= Fraction(gamma)
    assert sum(made.spans) <= 1 << made.bits


def test_shares_are_those_of_the_plan() -> None:
    mixture = best_mixture(Numbers(101), 3.0)
    np.testing.assert_allclose(MixtureCoins.of(mixture).channel().shares, mixture.shares, atol=1e-6)


def test_gamma_that_no_whole_numbers_have_is_refused() -> None:
    with pytest.raises(ParameterError, match="too near 1"):
        MixtureCoins.of(best_mixture(Numbers(101), 1 + 1e-9))


@pytest.mark.slow
def test_rows_have_the_law_of_the_channel_and_of_no_other() -> None:
    """Chi-square over 300,000 draws of three values, at 1e-7 each; with a share moved by 1 of 100 it rejects."""
    from scipy.stats import chi2

    made = MixtureCoins.of(best_mixture(Numbers(40, missing=True), 3.0))
    matrix, wrong = made.channel().matrix(), MixtureCoins.of(best_mixture(Numbers(40, missing=True), 3.0))
    moved = list(wrong.ticks)
    moved[0] = int(moved[0] * 1.02)
    off = MixtureCoins(wrong.parts, moved, wrong.bits, wrong.inside, wrong.outside).channel().matrix()
    for value in (0, 17, 40):
        drawn = made.flip(np.full(300_000, value, np.uint8), Entropy.seeded(value).stream("law"))
        seen = np.bincount(drawn, minlength=made.codes)
        limit = chi2.isf(1e-7, made.codes - 1)
        statistic = [float((((seen - 3e5 * p[:, value]) ** 2) / (3e5 * p[:, value])).sum()) for p in (matrix, off)]
        assert statistic[0] < limit
        assert statistic[1] > statistic[0]
