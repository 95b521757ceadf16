"""Entropy: AES in counter mode behind one door."""

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from scipy.stats import chi2

from scumble.core.entropy import PIECE, Entropy, Stream

pytestmark = pytest.mark.slow


def test_the_keystream_is_aes_in_counter_mode() -> None:
    key = bytes(range(32))
    expected = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor().update(bytes(64))
    assert Stream(key).words(8, 64).tobytes() == expected


def test_pieces_continue_the_stream_and_reuse_the_buffer() -> None:
    one, two = Entropy.seeded(1).stream("a"), Entropy.seeded(1).stream("a")
    whole = one.integers(PIECE, 32)
    parts = np.concatenate([two.words(PIECE // 4, 32).copy() for _ in range(4)])
    assert np.array_equal(whole, parts)
    with pytest.raises(ValueError, match="at most"):
        one.words(PIECE, 64)


def test_streams_of_different_names_and_sources_differ() -> None:
    source = Entropy.seeded(1)
    words = [
        source.stream("a").words(4, 64).tolist(),
        source.stream("b").words(4, 64).tolist(),
        source.stream("a", 1).words(4, 64).tolist(),
    ]
    words += [Entropy.system().stream("a").words(4, 64).tolist() for _ in range(2)]
    assert len({tuple(w) for w in words}) == 5


def test_only_the_system_source_is_called_secure() -> None:
    assert Entropy.system().secure
    assert not Entropy.seeded(3).secure


def test_permutations_are_uniform() -> None:
    """24 orders of 4, n = 48,000; false alarm 1e-6. Sorting by biased keys (one order 10% likelier) is rejected."""
    stream = Entropy.seeded(4).stream("p")
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(48_000):
        order = tuple(stream.permutation(4).tolist())
        seen[order] = seen.get(order, 0) + 1
    counts = np.array(list(seen.values()))
    limit = chi2.isf(1e-6, 23)
    assert len(counts) == 24
    assert ((counts - 2000) ** 2 / 2000).sum() < limit
    counts[0] += 300
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() > limit


def test_equal_keys_are_put_in_random_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 1-bit keys nearly all are equal; the order must still not follow the places."""
    stream = Entropy.seeded(5).stream("q")
    plain = stream.integers
    monkeypatch.setattr(stream, "integers", lambda count, bits: plain(count, bits) & 1)
    firsts = [int(stream.permutation(3)[0]) for _ in range(3000)]
    assert min(np.bincount(firsts, minlength=3)) > 850


@pytest.mark.parametrize("large", [False, True])
def test_an_order_by_numbers_is_random_among_equal_ones(monkeypatch: pytest.MonkeyPatch, large: bool) -> None:
    """8 places with numbers 1, 0, 1, 0, ...: 24 orders of the zeros, n = 24,000, false alarm 1e-6; with one random key and with two."""
    monkeypatch.setattr("scumble.core.entropy._few_equal", lambda by: not large)
    stream, by = Entropy.seeded(6).stream("p"), np.array([1, 0] * 4, dtype=np.uint32) * np.uint32(70_000)
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(24_000):
        order = stream.permutation(8, by)
        assert set(order[:4].tolist()) == {1, 3, 5, 7}
        zeros = tuple(order[:4].tolist())
        seen[zeros] = seen.get(zeros, 0) + 1
    counts = np.array(list(seen.values()))
    assert len(counts) == 24
    assert ((counts - 1000) ** 2 / 1000).sum() < chi2.isf(1e-6, 23)
