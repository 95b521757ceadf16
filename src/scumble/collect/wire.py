"""The message: one person's perturbed answers as a line of JSON. Its fields, and why they are what they are: docs/protocol.md.

    {"v":1,"survey":"...","id":"...","codes":[3,17],"period":"2027-05","token":"..."}

A batch is a list of messages, or one message a line. Nothing of a message depends on a true answer but its codes, which are perturbed.
"""

import base64
import re
from collections.abc import Sequence

import msgspec

from scumble.core.entropy import fresh_bytes

CONTENT_TYPE = "application/vnd.scumble.answers+json"
VERSION = 1

ID_BYTES = 16
ID = re.compile(r"[A-Za-z0-9_-]{22}\Z")
"""Of a message: 16 random bytes in base64url without padding."""

LONGEST_TOKEN = 600
MOST_MESSAGES = 1000
"""Of a batch."""
LARGEST = 1 << 20
"""Bytes of a body, at most."""


class Message(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is sent."""

    v: int
    survey: str
    id: str
    codes: list[int]
    period: str = ""
    token: str = ""


_one = msgspec.json.Decoder(Message)
_several = msgspec.json.Decoder(list[msgspec.Raw])
_encoder = msgspec.json.Encoder()


def new_id() -> str:
    """An id that no other message has."""
    return as_id(fresh_bytes(ID_BYTES))


def as_id(data: bytes) -> str:
    """Sixteen bytes as the id of a message."""
    return base64.urlsafe_b64encode(data[:ID_BYTES]).rstrip(b"=").decode()


def encode(message: Message) -> bytes:
    """A message as it is sent: one line, without an end of line."""
    return _encoder.encode(message)


def batch(messages: Sequence[bytes]) -> bytes:
    """Messages as one body."""
    return b"[" + b",".join(messages) + b"]"


def decode(message: bytes | msgspec.Raw) -> Message | None:
    """A message; none where it is no message."""
    try:
        return _one.decode(message)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def split(body: bytes) -> list[bytes | msgspec.Raw] | None:
    """The messages of a body, not looked at yet; none where it is no body, or has too many."""
    plain = body.strip(b" \t\r\n")
    if not plain.startswith(b"["):
        lines = [line for line in plain.split(b"\n") if line.strip()]
        return list(lines) if 0 < len(lines) <= MOST_MESSAGES else None
    try:
        parts = _several.decode(plain)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return list(parts) if 0 < len(parts) <= MOST_MESSAGES else None
