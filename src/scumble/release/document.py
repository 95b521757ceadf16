"""A manifest as text that anybody may have written: read in bounded time and memory, or refused before it is taken apart.

A text of a few bytes can ask for much: lists in lists, numbers of a million digits, powers of ten without end. What no manifest of ours can have is
counted in the bytes, where that costs nothing.
"""

import json
import math
import stat
from pathlib import Path
from typing import Any

LARGEST = 32 << 20
"""Bytes of a manifest, at most: a domain of 100,000 listed values with a factor and a threshold each has 10 million."""
MOST_PARTS = 2_000_000
MOST_LISTS = 200_000
"""Values, and lists and records, at most."""
DEEPEST = 24
LONGEST_NUMBER = 25
"""Characters of a whole number, at most: those of 64 bits have 20."""


class Unreadable(ValueError):  # noqa: N818  what it is
    """A text that is no manifest of anybody."""


def read_document(path: Path) -> tuple[Any, bytes]:
    """The document of a file, and its bytes; OSError and ValueError where there is none."""
    written = _bytes(path)
    return document_of(written), written


def document_of(written: bytes) -> Any:
    """The document of a text; ValueError where it is none."""
    if len(written) > LARGEST:
        raise Unreadable
    if written.count(b",") > MOST_PARTS or written.count(b"[") + written.count(b"{") > MOST_LISTS:
        raise Unreadable
    try:
        document = json.loads(written.decode("utf-8"), parse_int=_whole, parse_float=_finite, parse_constant=_refused)
    except RecursionError:
        raise Unreadable from None
    if _deeper(document, DEEPEST):
        raise Unreadable
    return document


def _bytes(path: Path) -> bytes:
    """What is in a regular file that is not too large; a pipe would be waited for."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
        raise Unreadable
    with path.open("rb") as file:
        written = file.read(LARGEST + 1)
    if len(written) > LARGEST:
        raise Unreadable
    return written


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise Unreadable
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise Unreadable
    return number


def _refused(constant: str) -> float:
    raise Unreadable


def _deeper(part: Any, levels: int) -> bool:
    """Whether something is nested in more levels than these."""
    inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return levels == 0 or any(_deeper(value, levels - 1) for value in inside if isinstance(value, dict | list))
