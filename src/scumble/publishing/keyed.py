"""Coins for repeated publication: a keyed function of (column, id, true value) instead of fresh ones.

Publishing the same person again with fresh coins lets an attacker average them out. Here the word of a record is

    word = AES_K(... AES_K(AES_K(length, code) xor block_1) ...)        K = HMAC(key, column, domain, threshold)

a CBC-MAC over the person's id, cut into blocks of 16 bytes, begun with its length and the code of the true value (so that
no message is the beginning of another, which is what makes CBC-MAC a pseudo-random function). The same person with the
same value gets the same published value every time, and two releases tell no more than one.

The derived key K holds the domain and the thresholds. With the same words under another channel, the intervals of a
value would not overlap, and seeing it twice would prove it; so another channel gets independent coins, and counts as one
more look at the person.
"""

import hashlib
import hmac
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from scumble.core.coins import SHORT, Coins, Words
from scumble.core.domain import Codes, Domain
from scumble.core.errors import ParameterError, SchemaError

BLOCK = 16


def read_key(key: Any) -> bytes:
    """The key, given as bytes or as the path of a file that holds them."""
    secret = key if isinstance(key, bytes) else _read_file(Path(key))
    if len(secret) < 32:
        raise ParameterError(
            f"a key has at least 32 random bytes, not {len(secret)}; make one: "
            "python -c \"import os; open('scumble.key', 'xb').write(os.urandom(32))\""
        )
    return secret


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise ParameterError(
            f"there is no key file {str(path)!r}; make one: "
            "python -c \"import os; open('scumble.key', 'xb').write(os.urandom(32))\""
        ) from None


class KeyedCoins:
    """The coins of one column under a key."""

    def __init__(self, key: bytes, column: str, domain: Domain, coins: Coins) -> None:
        self._coins = coins
        about = hashlib.sha256()
        for part in (column, str(domain.values.to_pylist()), str(coins.bits), str(coins.thresholds.tolist())):
            about.update(hashlib.sha256(part.encode()).digest())
        derived = hmac.new(key, b"scumble keyed coins 1" + about.digest(), hashlib.sha256).digest()
        self._cipher = Cipher(algorithms.AES256(derived), modes.ECB())

    def flip(self, codes: Codes, ids: "Ids") -> Codes:
        """Published codes for true ones; a word that falls into a remainder is followed by the next of the same record."""
        turn = 0

        def words(places: npt.NDArray[np.intp]) -> Words:
            nonlocal turn
            turn += 1
            return self._words(codes[places], ids.at(places), turn)

        return self._coins.settle(codes, words)

    def _words(self, codes: Codes, ids: "Ids", turn: int) -> Words:
        first = np.zeros((len(codes), 4), dtype="<u4")
        first[:, 0], first[:, 1], first[:, 2] = ids.lengths, codes, turn
        state = _mac(self._cipher, first, ids)
        return state[:, 0].copy() if self._coins.bits == SHORT else state.view("<u8")[:, 0].copy()


def _mac(cipher: Cipher[modes.ECB], state: npt.NDArray[np.uint32], ids: "Ids") -> npt.NDArray[np.uint32]:
    encryptor = cipher.encryptor()

    def encrypt(blocks: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        return np.frombuffer(encryptor.update(blocks.tobytes()), dtype="<u4").reshape(-1, 4).copy()

    state = encrypt(state)
    for index in range(ids.blocks):
        longer = ids.lengths > index * BLOCK
        state[longer] = encrypt(state[longer] ^ ids.block(index)[longer])
    return state


class Ids:
    """The ids of a batch as bytes: a number and its decimal text are the same id.

    >>> Ids.of(pa.array([7, 12345]), "patient").lengths.tolist()
    [1, 5]
    """

    def __init__(self, padded: npt.NDArray[np.uint8], lengths: npt.NDArray[np.int64]) -> None:
        self._padded = padded
        self.lengths = lengths
        self.blocks = padded.shape[1] // BLOCK

    @classmethod
    def of(cls, column: pa.Array, name: str) -> "Ids":
        """The ids in a column of text or whole numbers, none of them missing."""
        if column.null_count:
            raise SchemaError(f"the id column {name!r} has {column.null_count} missing values; every row needs its id")
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if not (
            pa.types.is_integer(column.type) or pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        ):
            raise SchemaError(f"an id is text or a whole number, but {name!r} has type {column.type}")
        text = pa.concat_arrays([column.cast(pa.large_string())])
        _, offsets, data = text.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[text.offset : text.offset + len(text) + 1]
        lengths = np.diff(ends)
        width = -(-int(lengths.max(initial=1)) // BLOCK) * BLOCK
        padded = np.zeros((len(text), width), dtype=np.uint8)
        filled = np.arange(width) < lengths[:, None]
        padded[filled] = np.frombuffer(data, dtype=np.uint8)[ends[0] : ends[-1]] if data else 0
        return cls(padded, lengths)

    def at(self, places: npt.NDArray[np.intp]) -> "Ids":
        """The ids at the given places."""
        return self if len(places) == len(self.lengths) else Ids(self._padded[places], self.lengths[places])

    def block(self, index: int) -> npt.NDArray[np.uint32]:
        """The index-th block of every id."""
        part = np.ascontiguousarray(self._padded[:, index * BLOCK : (index + 1) * BLOCK])
        return part.view("<u4")

    def fingerprints(self, key: bytes) -> npt.NDArray[np.uint64]:
        """Eight bytes that tell ids apart within one table."""
        first = np.zeros((len(self.lengths), 4), dtype="<u4")
        first[:, 0] = self.lengths
        return _mac(Cipher(algorithms.AES256(key), modes.ECB()), first, self).view("<u8")[:, 0]
