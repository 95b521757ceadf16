"""The coins of all sub-tables at once are the coins of each."""

import numpy as np
import pytest

from scumble.core.channel import Channel
from scumble.core.coins import Coins
from scumble.core.entropy import Entropy
from scumble.mechanisms.partitioned import subtable_coins
from scumble.mechanisms.partitioned.subtable_coins import SubtableCoins

SIZE = 6
MEMBERS = [np.array([0, 2, 5]), np.array([1, 2, 3, 4]), np.arange(SIZE)]
CHANNELS = [Channel(0.3, size=3), Channel(np.array([0.1, 0.5, 0.9, 0.2]), size=4), Channel(0.0, size=SIZE)]
COINS = [Coins.of(each).among(own, SIZE) for each, own in zip(CHANNELS, MEMBERS, strict=True)]


def words_near_the_edges(coins: Coins) -> np.ndarray:
    """The words on both sides of every edge of an outcome, and 2,000 others."""
    shares = ((1 << coins.bits) - coins.thresholds.astype(object)) // coins.size
    edges = {int(t + s * j) for t, s in zip(coins.thresholds, shares, strict=True) for j in range(coins.size + 1)}
    near = {edge + step for edge in edges for step in (-1, 0, 1)}
    other = np.random.default_rng(1).integers(0, 1 << coins.bits, 2000).tolist()
    return np.array(sorted({w for w in near if 0 <= w < 1 << coins.bits} | set(other)), dtype=np.uint64)


@pytest.mark.parametrize("part", range(3))
def test_a_word_has_the_outcome_that_the_coins_of_its_sub_table_give(part: int) -> None:
    """Every value, with the words at all edges: the same code is published, and the same words are drawn again."""
    coins, own = COINS[part], MEMBERS[part]
    words = words_near_the_edges(coins)
    both = SubtableCoins(COINS, SIZE)
    for place, value in enumerate(own):
        alone, again = coins.decide(np.full(len(words), place, np.uint8), words.astype(np.uint32))
        found, decided = both.decide(np.full(len(words), part * SIZE + value), words << np.uint64(64 - coins.bits))
        assert np.array_equal(~decided, np.broadcast_to(again, len(words)))
        assert np.array_equal(found[decided], own[alone[decided]])


def test_what_the_first_byte_decides_is_what_the_whole_word_does() -> None:
    """For each pair and byte, 500 words that begin with it and those at both ends have the outcome that is looked up."""
    both = SubtableCoins(COINS, SIZE)
    rest = np.random.default_rng(2).integers(0, 1 << 56, 502, dtype=np.uint64)
    rest[:2] = 0, subtable_coins.REST
    table = both._outcomes.reshape(-1, 256)
    for pair in [part * SIZE + value for part, own in enumerate(MEMBERS) for value in own]:
        for byte in np.flatnonzero(table[pair] < SIZE):
            found, decided = both.decide(np.full(len(rest), pair), np.uint64(byte) << np.uint64(56) | rest)
            assert decided.all()
            assert (found == table[pair, byte]).all()
    assert (table[: SIZE * 2] < SIZE).mean() > 0.5  # of the pairs that occur nearly all are looked up


@pytest.mark.parametrize("looked_up", [0, 1 << 16])
def test_shares_are_those_of_the_channels(monkeypatch: pytest.MonkeyPatch, looked_up: int) -> None:
    """120,000 rows of each pair, looked up or not: each published share is within 5.5 standard deviations (false alarm 3e-6 in all)."""
    monkeypatch.setattr(subtable_coins, "LOOKED_UP", looked_up)
    both, rows = SubtableCoins(COINS, SIZE), 120_000
    for part, (own, coins) in enumerate(zip(MEMBERS, COINS, strict=True)):
        matrix = coins.channel().matrix()
        for value in own:
            true, labels = np.full(rows, value, np.uint8), np.full(rows, part, np.uint8)
            drawn = both.flip(true, labels, Entropy.seeded(4).stream("c", part, int(value)))
            p = matrix[:, value]
            assert (abs(np.bincount(drawn, minlength=SIZE) - rows * p) <= 5.5 * np.sqrt(rows * p * (1 - p))).all()


@pytest.mark.slow
def test_large_sub_tables_take_longer_words() -> None:
    """5,000 values need words of 53 bits; codes are of 16 bits, and nothing is looked up beside them."""
    size = 5000
    coins = [Coins.of(Channel(0.4, size=size)), Coins.of(Channel(0.4, size=2)).among(np.array([7, 4999]), size)]
    both = SubtableCoins(coins, size)
    true = np.full(100_000, 4999, np.uint16)
    drawn = both.flip(true, np.zeros(len(true), np.uint8), Entropy.seeded(5).stream("c"))
    assert abs((drawn == 4999).sum() - 100_000 * (0.4 + 0.6 / size)) < 6 * np.sqrt(24_000)
    assert len(np.unique(drawn)) > 4990
    drawn = both.flip(true, np.ones(len(true), np.uint8), Entropy.seeded(6).stream("c"))
    assert set(np.unique(drawn).tolist()) == {7, 4999}
    assert abs((drawn == 7).sum() - 30_000) < 6 * np.sqrt(21_000)
