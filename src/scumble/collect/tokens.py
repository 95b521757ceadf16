"""What lets a person answer once, and what is kept of it: hashes, which tell neither the token nor which answer it came with.

    key   names what was spent: the hash of a token, or of a message's id where a survey is open
    tag   names what it was spent on: a hash of token, id, period and codes together

A message that is sent again has the same key and tag, and is answered as it was the first time. Another one has the key and another
tag, and is refused. Who has the database, and even every token, cannot tell from a tag which answer it was: the id in it is
random, and is not kept.
"""

import hashlib
import re

from scumble.collect.wire import Message
from scumble.core.entropy import fresh_bytes

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Letters and digits that nobody takes for another."""
LENGTH, GROUP = 20, 4
"""Characters of a code, 98 bits of chance, and how many stand together."""

LONGEST_CODE = 60


def new_code() -> str:
    """A code to be handed to one person.

    >>> code = new_code()
    >>> len(code), code.count("-"), normal(code.lower().replace("-", " ")) == normal(code)
    (24, 4, True)
    """
    letters = ""
    while len(letters) < LENGTH:  # 30 letters share 240 of 256 bytes evenly
        letters += "".join(ALPHABET[byte % len(ALPHABET)] for byte in fresh_bytes(LENGTH) if byte < 240)
    return "-".join(letters[i : i + GROUP] for i in range(0, LENGTH, GROUP))


def normal(code: str) -> str:
    """A code as it is hashed, however somebody typed it."""
    return re.sub(r"[\s-]+", "", code[:LONGEST_CODE]).upper()


def code_key(code: str) -> bytes:
    """What is kept of a code."""
    return _hash("scumble-code 1", normal(code))


def id_key(id: str) -> bytes:
    """What is kept of a message's id, where a survey is open."""
    return _hash("scumble-id 1", id)


def token_key(token: str) -> bytes:
    """What is kept of a token that was signed without being seen."""
    return _hash("scumble-token 1", token)


def tag(message: Message, token: str) -> bytes:
    """What a token was spent on."""
    return _hash("scumble-tag 1", token, message.id, message.period, ",".join(map(str, message.codes)))


def tag_of(code: str, blinded: str) -> bytes:
    """What a code was exchanged for."""
    return _hash("scumble-blinded 1", normal(code), blinded)


def _hash(*parts: str) -> bytes:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).digest()
