"""The coins of designs: every word has one outcome, and gamma is exactly the fraction that the manifest will have."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble import Design
from scumble.core.design_coins import DesignCoins
from scumble.core.difference_set import singer
from scumble.core.entropy import Entropy


@pytest.mark.parametrize("size", [5, 7])
@pytest.mark.parametrize(("inside", "outside"), [(20000, 1000), (9000, 8999), (3, 2)])
def test_all_words_enumerated_give_the_design(size: int, inside: int, outside: int) -> None:
    """With 16-bit words all 65,536 outcomes can be counted: a code of the block has `inside` words, any other `outside`, the rest is drawn again."""
    coins = DesignCoins(size, singer(2, 3), 16, inside, outside)
    words = np.arange(1 << 16, dtype=np.uint16)
    for value in range(size):
        published, again = coins.decide(np.full(1 << 16, value, np.uint8), words)
        times = np.bincount(published[~again], minlength=7)
        held = [value in coins.channel().block(code) for code in range(7)]
        assert times.tolist() == [inside if each else outside for each in held]
        assert again.sum() == (1 << 16) - times.sum()


def test_a_code_too_few_is_seen() -> None:
    """The test above can fail: with one word moved, the counts are others."""
    coins, wrong = (DesignCoins(7, singer(2, 3), 16, inside, 1000) for inside in (20000, 19999))
    words, codes = np.arange(1 << 16, dtype=np.uint16), np.zeros(1 << 16, np.uint8)
    (one, again), (two, too) = coins.decide(codes, words), wrong.decide(codes, words)
    assert np.bincount(one[~again]).tolist() != np.bincount(two[~too]).tolist()


@pytest.mark.slow
@settings(max_examples=60)
@given(st.integers(2, 300), st.floats(1.001, 1000))
def test_gamma_is_rounded_toward_more_privacy_and_hardly(size: int, gamma: float) -> None:
    coins = DesignCoins.of(Design(size, gamma))
    assert coins.amplification <= Fraction(gamma)
    assert float(coins.amplification) > gamma * (1 - 2e-6)
    assert coins.channel().amplification == pytest.approx(float(coins.amplification), rel=1e-15)


@pytest.mark.parametrize(("size", "gamma"), [(46, 2.06), (5000, 3)])
def test_published_codes_are_codes_and_come_as_often_as_they_should(size: int, gamma: float) -> None:
    """200,000 rows of one value: the share of codes that hold it is A within 5 standard errors (false alarm below 1e-6)."""
    coins = DesignCoins.of(Design(size, gamma))
    published = coins.flip(np.full(200_000, size - 1, np.uint16), Entropy.seeded(3).stream("x"))
    design = coins.channel()
    assert published.max() < design.codes
    share = design.matches(np.bincount(published, minlength=design.codes))[-1] / 200_000
    assert abs(share - design.held) < 5 * np.sqrt(design.held * (1 - design.held) / 200_000)
    assert abs(share - design.held * 1.02) > 5 * np.sqrt(design.held * (1 - design.held) / 200_000)
