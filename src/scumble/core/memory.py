"""How much memory a command may take: said once, and shared out between the engine and our own buffers.

The engine keeps to its share and puts the rest aside, into the private folder; what it can neither hold nor put aside is refused. The buffers of
a publication go into files beyond theirs. What is left is for Python, its libraries, and the batch that is worked on.
"""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from scumble.core.errors import ParameterError

USUAL = 1 << 30
"""What publishing keeps to where nothing else is said."""

QUESTIONS = 1 << 30
"""What the engine of a release keeps to where nothing else is said: all questions that it is asked, together."""

LEAST = 256 << 20
UNITS = {
    "": 1,
    "K": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "KI": 1 << 10,
    "MI": 1 << 20,
    "GI": 1 << 30,
    "TI": 1 << 40,
}

_given: list[int] = []
"""Of the process, because its memory is one: the last is the one that holds."""


def memory_of(given: Any) -> int:
    """Bytes from a number of them, or from words.

    >>> memory_of("2GB"), memory_of("1.5 GiB"), memory_of(300_000_000)
    (2000000000, 1610612736, 300000000)
    >>> memory_of("much")
    Traceback (most recent call last):
    ...
    scumble.core.errors.ParameterError: memory is a number of bytes, or words such as 2GB or 512MiB, not 'much'
    """
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?", str(given).strip().upper())
    if parts is None or parts[2] not in UNITS:
        raise ParameterError(f"memory is a number of bytes, or words such as 2GB or 512MiB, not {given!r}")
    number = int(float(parts[1]) * UNITS[parts[2]])
    if number < LEAST:
        raise ParameterError(f"memory is at least {LEAST >> 20} MiB, for less nothing is published, not {given!r}")
    return number


@contextmanager
def within(memory: Any) -> Iterator[None]:
    """Whatever is begun meanwhile keeps to so much; None: to the usual amount, or to what was said before."""
    if memory is None and _given:
        yield
        return
    amount = USUAL if memory is None else memory_of(memory)
    _given.append(amount)
    try:
        yield
    finally:
        _given.remove(amount)


def within_given(memory: Any) -> AbstractContextManager[None]:
    """The same, where an amount is given; else what holds anyway."""
    return nullcontext() if memory is None else within(memory)


def of_engine() -> int:
    """Bytes of the engine: half of what was said, because the rest of a command has to live too."""
    return _given[-1] // 2 if _given else QUESTIONS


def of_buffers() -> int:
    """Bytes that rows of a publication may take before they are put into files."""
    return (_given[-1] if _given else USUAL) * 3 // 16
