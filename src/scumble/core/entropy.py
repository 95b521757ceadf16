"""The only door to randomness.

The operating system gives a 256-bit key; AES-256 in counter mode expands it. A source splits into independent
streams by name, so that pieces of a table can be worked on in any order, by any number of threads, and the
result does not depend on it.

`Entropy.seeded` exists for tests: whoever knows or guesses the seed undoes every coin. A release made with it
says so in its manifest.
"""

import hashlib
import hmac
import os
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

PIECE = 1 << 18
"""Bytes of keystream made at a time: small enough to stay in the cache until they are used."""

_ZEROS = bytes(PIECE)


class Stream:
    """A keystream. `words` hands it out in pieces that live in one reused buffer: use a piece before asking for the next.

    >>> stream = Entropy.seeded(1).stream("doc")
    >>> stream.words(4, 32).dtype, len(stream.words(4, 64))
    (dtype('uint32'), 4)
    """

    def __init__(self, key: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()
        self._buffer = bytearray(PIECE + 15)

    def words(self, count: int, bits: int) -> npt.NDArray[np.unsignedinteger]:
        """`count` uniform unsigned integers of 8, 16, 32 or 64 bits, at most PIECE bytes of them, in the reused buffer."""
        size = count * bits // 8
        if size > PIECE:
            raise ValueError(f"at most {PIECE} bytes at a time, not {size}")
        self._encryptor.update_into(memoryview(_ZEROS)[:size], self._buffer)
        return np.frombuffer(self._buffer, dtype=f"u{bits // 8}", count=count)

    def integers(self, count: int, bits: int) -> npt.NDArray[np.unsignedinteger]:
        """Any number of uniform integers of 8, 16, 32 or 64 bits, in an array of their own."""
        out = np.empty(count, dtype=f"u{bits // 8}")
        step = PIECE * 8 // bits
        for start in range(0, count, step):
            part = out[start : start + step]
            part[:] = self.words(len(part), bits)
        return out

    def permutation(self, count: int, by: npt.NDArray[np.uint32] | None = None) -> npt.NDArray[np.int64]:
        """A uniformly random order of range(count), exactly: sorted by random keys, equal keys put in random order in turn.

        by   numbers to sort by before that, so that the order is random among equal ones only

        >>> sorted(Entropy.seeded(1).stream("doc").permutation(5).tolist())
        [0, 1, 2, 3, 4]
        >>> Entropy.seeded(1).stream("doc").permutation(3, np.array([2, 0, 1], np.uint32)).tolist()
        [1, 2, 0]
        """
        # stable passes over 16 bits, the last counts most: several times faster than one pass over 64
        keys = [self.integers(count, 16) for _ in range(1 if by is not None and _few_equal(by) else 2)]
        if by is not None and count:
            keys += [(by >> np.uint32(shift)).astype(np.uint16) for shift in (0, 16) if by.max() >> shift]
        order = np.argsort(keys[0], kind="stable")
        for key in keys[1:]:
            order = order[np.argsort(key[order], kind="stable")]
        same = np.ones(max(0, count - 1), dtype=np.bool_)
        for key in keys:
            sorted_key = key[order]
            same &= sorted_key[1:] == sorted_key[:-1]
        for start, end in _runs(same):
            order[start:end] = order[start:end][self.permutation(end - start)]
        return order


def _few_equal(by: npt.NDArray[np.uint32]) -> bool:
    """Whether 16 random bits leave fewer than about a thousand pairs of rows that are equal in them and in the numbers."""
    return len(by) * int(np.bincount(by).max(initial=0)) < 1 << 27


def _runs(same: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Where neighbours are the same: first and one past the last place of each run."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8)))
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield first, last + 1


def fresh_bytes(count: int) -> bytes:
    """Bytes of the operating system's own, for keys, ids and codes that nobody is to guess."""
    return os.urandom(count)


class Entropy:
    """A source of independent streams, from the operating system or (for tests only) from a seed."""

    def __init__(self, key: bytes, *, secure: bool) -> None:
        self._key = key
        self.secure = secure

    @classmethod
    def system(cls) -> "Entropy":
        """Fresh entropy of the operating system: what every real publication uses."""
        return cls(os.urandom(32), secure=True)

    @classmethod
    def seeded(cls, seed: int) -> "Entropy":
        """INSECURE: repeatable coins, for tests and demonstrations.

        >>> Entropy.seeded(7).secure
        False
        """
        return cls(hashlib.sha256(b"scumble insecure seed %d" % seed).digest(), secure=False)

    def stream(self, *name: str | int) -> Stream:
        """The stream of that name: the same name gives the same keystream, another name an independent one."""
        label = "\x1f".join(str(part) for part in name).encode()
        return Stream(hmac.new(self._key, label, hashlib.sha256).digest())
