"""Coins: every word has one outcome, and the outcomes are in the published proportions, exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble import Channel
from scumble.core.coins import LONG, SHORT, Coins, word_bits
from scumble.core.entropy import Entropy


@pytest.mark.parametrize("size", [2, 3, 7, 50, 199])
@pytest.mark.parametrize("share", [1, 5, 20])
def test_all_words_enumerated_give_the_published_channel(size: int, share: int) -> None:
    """With 16-bit words all 65,536 outcomes can be counted: the counts ARE the channel, without rounding."""
    threshold = (1 << 16) - size * (((1 << 16) // size) * share // 21 + 1)
    coins = Coins(size, 16, np.array([threshold], np.uint64))
    words = np.arange(1 << 16, dtype=np.uint16)
    for code in (0, size - 1):
        published, open_words = coins.decide(np.full(1 << 16, code, np.uint8), words)
        assert not open_words.any()
        expected = np.full(size, ((1 << 16) - threshold) // size)
        expected[code] += threshold
        assert np.array_equal(np.bincount(published, minlength=size), expected)
        assert coins.channel().matrix()[code, code] == expected[code] / (1 << 16)


def test_a_value_that_is_never_retained_draws_again_from_the_remainder() -> None:
    coins = Coins(7, 16, np.array([0], np.uint64))
    published, open_words = coins.decide(np.zeros(1 << 16, np.uint8), np.arange(1 << 16, dtype=np.uint16))
    assert open_words.sum() == (1 << 16) % 7
    assert len(set(np.bincount(published[~open_words], minlength=7).tolist())) == 1


@given(st.integers(2, 5000), st.floats(0, 1))
def test_retention_is_rounded_toward_more_privacy_and_hardly(size: int, retain: float) -> None:
    coins = Coins.of(Channel(retain, size=size))
    applied = coins.channel().retain
    assert applied <= retain
    assert retain - applied <= 2 * size / 2.0**coins.bits
    assert (1 << coins.bits) - int(coins.thresholds[0]) >= size


@given(st.floats(1.01, 1e4), st.integers(2, 3000))
def test_the_applied_channel_never_exceeds_the_amplification_that_was_asked_for(gamma: float, size: int) -> None:
    assert Coins.of(Channel.from_gamma(size, gamma)).channel().amplification <= gamma * (1 + 1e-12)


def test_word_length_follows_the_domain() -> None:
    assert word_bits(50) == SHORT
    assert word_bits(1_000_000) == LONG


@pytest.mark.slow
@pytest.mark.parametrize("size", [50, 70_000])
def test_kept_and_replaced_values_stay_in_the_domain(size: int) -> None:
    coins = Coins.of(Channel([0.0] * 2 + [0.5] * (size - 2)))
    codes = (np.arange(200_000) % size).astype(np.min_scalar_type(size - 1))
    published = coins.flip(codes, Entropy.seeded(2).stream("x"))
    assert published.dtype == codes.dtype
    assert published.max() < size
    assert 0.45 < (published == codes)[codes > 1].mean() < 0.55
