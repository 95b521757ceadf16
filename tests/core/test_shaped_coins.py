"""Coins in a shape: no odds rise by more than was asked, in whole numbers, and hardly less is kept than could be."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.core.channel import Channel
from scumble.core.coins import Coins
from scumble.core.entropy import Entropy
from scumble.core.errors import ParameterError
from scumble.core.shaped_coins import one_retention, own_retentions
from scumble.privacy.values import rise

factors = st.lists(st.floats(1.01, 5000), min_size=2, max_size=60)


@settings(max_examples=80)
@given(factors)
def test_one_retention_is_rounded_toward_more_privacy_and_hardly(bounds: list[float]) -> None:
    exact = [Fraction(bound) for bound in bounds]
    coins = one_retention(exact)
    assert all(found <= bound for found, bound in zip(coins.rises(), exact, strict=True))
    assert coins.parts + int(coins.thresholds[0]) == 1 << coins.bits  # no word is left over
    best = 1 / (1 + sum(1 / (bound - 1) for bound in bounds))
    assert best * (1 - 1e-6) - 1e-7 < coins.retention <= best


@settings(max_examples=40)
@given(factors, st.data())
def test_own_retentions_are_lowered_until_no_odds_rise_more(bounds: list[float], data: st.DataObject) -> None:
    """A channel that is at its bounds, or a little beyond, becomes coins within them; retentions are lost by less than a thousandth."""
    size, exact = len(bounds), [Fraction(bound) for bound in bounds]
    least = np.array([1 / (bound - 1) for bound in bounds])
    kept = 1 / (1 + least.sum()) * np.array(data.draw(st.lists(st.floats(0.5, 1), min_size=size, max_size=size)))
    channel = Channel(kept * (1 + 1e-7), least / least.sum())
    coins = own_retentions(channel, exact)
    assert all(found <= bound for found, bound in zip(coins.rises(), exact, strict=True))
    assert np.all(coins.kept >= channel.retention * 0.999 - 1e-6)


def test_rises_in_whole_numbers_are_those_of_the_channel() -> None:
    coins = Coins(4, 16, np.array([1000, 16, 65536 - 480, 500], np.uint64), lots=np.array([1, 2, 3, 10], np.uint64))
    assert coins.parts == 16
    np.testing.assert_allclose([float(found) for found in coins.rises()], rise(coins.channel()), rtol=1e-12)
    assert float(coins.amplification) == pytest.approx(coins.channel().amplification, rel=1e-12)


def test_published_values_come_as_often_as_they_should() -> None:
    """400,000 rows of one value, 12 values: each share within 5.5 standard errors (false alarm below 1e-6), which a shape off by 3% fails."""
    coins = one_retention([Fraction(n) for n in range(2, 14)])
    drawn = coins.flip(np.full(400_000, 3, np.uint8), Entropy.seeded(4).stream("x"))
    shares, law = np.bincount(drawn, minlength=12) / 400_000, coins.channel().matrix()[:, 3]
    error = np.sqrt(law * (1 - law) / 400_000)
    assert np.all(np.abs(shares - law) < 5.5 * error)
    assert np.any(np.abs(shares - law * np.linspace(0.97, 1.03, 12)) > 5.5 * error)


def test_so_many_values_that_nothing_is_kept_are_refused() -> None:
    with pytest.raises(ParameterError, match="next to nothing"):
        one_retention([Fraction(2**33 + 1, 2**33)] * 2)
