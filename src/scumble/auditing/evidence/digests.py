"""Digests of numbers: who hashes 0, 1, 2, ... without a secret has hidden nothing, because anybody can hash them too.

Tried are the first numbers from 0 and from the powers of ten, as they are, padded with zeros and behind the usual letters, under the usual digests; a
digest may be cut at either end. All values of the column are looked through, so that a few numbers of each kind suffice.
"""

import base64
import hashlib
import zlib
from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from scumble.auditing.evidence.readings import bare

TRIED = 48
"""Numbers of each kind that are hashed."""

SHORTEST = 8
"""Characters of a digest below which a million rows may have it by chance."""

STARTS = (0, *(10**power for power in range(2, 10)))
WIDTHS = (0, *range(4, 11))
LETTERS = ("", "P", "p", "ID", "id", "patient", "user", "row")


def _hashed(name: str) -> Callable[[bytes], bytes]:
    return lambda text: hashlib.new(name, text, usedforsecurity=False).digest()


DIGESTS: dict[str, Callable[[bytes], bytes]] = {
    "MD5": _hashed("md5"),
    "SHA-1": _hashed("sha1"),
    "SHA-224": _hashed("sha224"),
    "SHA-256": _hashed("sha256"),
    "SHA-384": _hashed("sha384"),
    "SHA-512": _hashed("sha512"),
    "SHA3-256": _hashed("sha3_256"),
    "BLAKE2b": _hashed("blake2b"),
    "BLAKE2s": _hashed("blake2s"),
    "CRC-32": lambda text: zlib.crc32(text).to_bytes(4, "big"),
}


def digest_of_numbers(column: pa.ChunkedArray) -> str | None:
    """The name of the digest that a text column has of numbers."""
    texts = pc.replace_substring(bare(column.cast(pa.string())), "-", "")
    sizes = pc.min_max(pc.utf8_length(texts)).as_py()
    length = int(sizes["max"])
    if sizes["min"] != length or length < SHORTEST:
        return None
    values = set(texts.to_pylist())
    values |= {value.lower() for value in values}
    count = min(TRIED, len(column))
    for kind in _kinds(count):
        for name, digest in DIGESTS.items():
            digests = [digest(text) for text in kind]
            if sum(any(form in values for form in _forms(digested, length)) for digested in digests) > count / 4:
                return name
    return None


def _kinds(count: int) -> Iterator[list[bytes]]:
    """Numbers as they may have been written before they were hashed."""
    seen: set[str] = set()
    for start in STARTS:
        for letters in LETTERS:
            for width in WIDTHS:
                first = f"{letters}{start:0{width}d}"
                if first not in seen or not start:
                    seen.add(first)
                    yield [f"{letters}{number:0{width}d}".encode() for number in range(start, start + count)]


def _forms(digest: bytes, length: int) -> Iterator[str]:
    text = digest.hex()
    if length <= len(text):
        yield text[:length]
        yield text[-length:]
    coded = base64.b64encode(digest).decode()
    if length <= len(coded):
        yield coded[:length]
