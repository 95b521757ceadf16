"""Coins for repeated publication: a keyed function of who a record is about and of its true value, instead of fresh ones.

Publishing the same person again with fresh coins lets an attacker average them out. Here the word of a record is

    word = AES_K(... AES_K(AES_K(lengths, value, turn) xor block_1) ...)
    K    = HMAC(key, attribute, canonical domain, thresholds)

a CBC-MAC over the person's id and, where a person has several rows, which of them it is, each cut into blocks of 16 bytes. It begins
with both lengths and the true value, so that no message is the beginning of another, which is what makes CBC-MAC a pseudo-random
function. The same person with the same value gets the same published value every time, and two releases tell no more than one.

What the coins do not depend on: what a column is called (the spec declares an attribute), in which order its domain is listed
(`core/canonical.py`), where a row stands in the file, and any other column of the row. A release that changes one of these shows
the same values again.

What they depend on: the thresholds, or the set of a design; and where codes are published the order of the domain too. A code is a
value's place plus a drawn number: with the same number under another order, two codes would tell the value by their difference. With the same words under another retention, the intervals of a value would not overlap, and
seeing it twice would prove it; so another channel gets independent coins, and counts as one more look at the person.

Several rows of a person need a column that tells them apart and stays: a visit's number, say. Two rows with the same value and the
same coins would be published alike, so that different published values prove different true ones. The place among the
person's rows is no such column. By the order of the file, sorting it anew exchanges the published values of two rows that have
the same true one, which proves that they have. By the rows' contents, a row that is added moves the others on to coins
of their own, a second look at each. Without such a column several rows of a person are refused.
"""

import hashlib
import hmac
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from scumble.core.canonical import canonical
from scumble.core.coins import SHORT, BaseCoins, Coins, Words
from scumble.core.domain import Codes, Domain
from scumble.core.errors import ParameterError, SchemaError

BLOCK = 16

COINS, COMMITMENT, LEDGER = b"scumble keyed coins 2", b"scumble keyed commitment 2", b"scumble ledger 1"
"""What keys are derived for: coins and commitment have nothing to do with each other."""


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


def ledger_keys(key: bytes) -> tuple[str, bytes]:
    """What a ledger tells its key by, and the key of the digests of people in it."""
    return _derived(key, LEDGER, b"check")[:8].hex(), _derived(key, LEDGER, b"people")


class KeyedCoins:
    """The coins of one attribute under a key.

    occurrence   whether a person may have several rows, told apart by a column
    """

    def __init__(self, key: bytes, attribute: str, domain: Domain, coins: BaseCoins, occurrence: bool = False) -> None:
        self.attribute = attribute
        form = canonical(domain)
        self._ranks, self._codes = (codes.astype(domain.code_type) for codes in (form.ranks, form.codes))
        self._coded = coins.codes is not None
        self._coins = _in_order(coins, form.codes)
        about = hashlib.sha256()
        order = [str(form.codes.tolist())] if self._coded else []
        for part in (attribute, form.text, *self._coins.spelling, "occurrence" if occurrence else "one row", *order):
            about.update(hashlib.sha256(part.encode()).digest())
        self._cipher = Cipher(algorithms.AES256(_derived(key, COINS, about.digest())), modes.ECB())
        self.commitment = _derived(key, COMMITMENT, about.digest())[:16].hex()
        """What a manifest says of them: the same key, attribute, domain and thresholds give the same one, and it tells nothing of the key."""

    def flip(self, codes: Codes, ids: "Ids") -> Codes:
        """Published codes for true ones; a word that falls into a remainder is followed by the next of the same record."""
        turn, values = 0, codes if self._coded else self._ranks[codes]

        def words(places: npt.NDArray[np.intp]) -> Words:
            nonlocal turn
            turn += 1
            return self._words(values[places], ids.at(places), turn)

        published = self._coins.settle(values, words)
        return published if self._coded else np.asarray(self._codes[published])

    def _words(self, values: Codes, ids: "Ids", turn: int) -> Words:
        first = np.zeros((len(values), 4), dtype="<u4")
        first[:, 0], first[:, 1], first[:, 2] = ids.lengths, values, turn
        state = _mac(self._cipher, first, ids)
        return state[:, 0].copy() if self._coins.bits == SHORT else state.view("<u8")[:, 0].copy()


def _in_order(coins: BaseCoins, codes: npt.NDArray[np.intp]) -> BaseCoins:
    """The same coins for the values in canonical order; one threshold, where all are the same."""
    if not isinstance(coins, Coins):
        return coins
    if coins.lots is not None:
        coins = replace(coins, lots=coins.lots[codes])
    if len(coins.thresholds) == 1 or (coins.thresholds == coins.thresholds[0]).all():
        return replace(coins, thresholds=coins.thresholds[:1])
    return replace(coins, thresholds=coins.thresholds[codes])


def _derived(key: bytes, label: bytes, about: bytes) -> bytes:
    return hmac.new(key, label + about, hashlib.sha256).digest()


def _mac(cipher: Cipher[modes.ECB], state: npt.NDArray[np.uint32], ids: "Ids") -> npt.NDArray[np.uint32]:
    encryptor = cipher.encryptor()

    def encrypt(blocks: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        return np.frombuffer(encryptor.update(blocks.tobytes()), dtype="<u4").reshape(-1, 4).copy()

    if ids.beside is not None:
        state[:, 3] = ids.beside.lengths + 1
    state = encrypt(state)
    for part in (ids, *([] if ids.beside is None else [ids.beside])):
        for index in range(part.blocks):
            longer = part.lengths > index * BLOCK
            state[longer] = encrypt(state[longer] ^ part.block(index)[longer])
    return state


class Ids:
    """The ids of a batch as bytes: a number and its decimal text are the same id.

    >>> Ids.of(pa.array([7, 12345]), "patient").lengths.tolist()
    [1, 5]
    """

    def __init__(
        self, padded: npt.NDArray[np.uint8], lengths: npt.NDArray[np.int64], beside: "Ids | None" = None
    ) -> None:
        self._padded = padded
        self.lengths = lengths
        self.beside = beside
        """Which of the person's rows each is, where a person has several."""
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
        if len(places) == len(self.lengths):
            return self
        return Ids(self._padded[places], self.lengths[places], self.beside and self.beside.at(places))

    def row(self, which: "Ids") -> "Ids":
        """The same people, with which of their rows each is."""
        return Ids(self._padded, self.lengths, which)

    def block(self, index: int) -> npt.NDArray[np.uint32]:
        """The index-th block of every id."""
        part = np.ascontiguousarray(self._padded[:, index * BLOCK : (index + 1) * BLOCK])
        return part.view("<u4")

    def fingerprints(self, key: bytes) -> npt.NDArray[np.uint64]:
        """Eight bytes that tell records apart within one table."""
        first = np.zeros((len(self.lengths), 4), dtype="<u4")
        first[:, 0] = self.lengths
        return _mac(Cipher(algorithms.AES256(key), modes.ECB()), first, self).view("<u8")[:, 0]
