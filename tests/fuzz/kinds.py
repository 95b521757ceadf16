"""Kinds of random cases. Others join by one line: what makes and runs a case from a source of chance.

A case returns what came of it ("answered", "refused", ...). Whatever is wrong it raises: an AssertionError for a wrong answer, and
anything that is not an error of scumble's own is a bug in itself.
"""

import signal
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from importlib import import_module
from random import Random
from typing import Any

from scumble.core.errors import InternalError, ScumbleError

KINDS: dict[str, str] = {
    "questions": "fuzz.questions:case",
    "mutations": "fuzz.mutations:case",
    "csv": "fuzz.csv_files:case",
    "specs": "fuzz.specs:case",
    "flags": "fuzz.flags:case",
    "manifests": "fuzz.manifests:case",
    "files": "fuzz.parquets:case",
    "types": "fuzz.column_types:case",
}
"""Where each is, loaded when it is used."""

LONGEST = 120
"""Seconds after which a case hangs, also on a busy machine."""

MOST_LETTERS = 2000
"""Characters of a refusal, at most: one line for people."""


class FailedCase(Exception):  # noqa: N818  what it is
    """A case that went wrong, and how to see it again."""


def run(kind: str, numbers: Iterable[int]) -> Counter[str]:
    """What came of the cases of a kind; the first that goes wrong ends it."""
    module, _, name = KINDS[kind].partition(":")
    case: Callable[[Random], str] = getattr(import_module(module), name)
    return Counter(_outcome(kind, number, case) for number in numbers)


def _outcome(kind: str, number: int, case: Callable[[Random], str]) -> str:
    try:
        with _alarm():
            return case(Random(f"{kind} {number}"))
    except Exception as error:
        raise FailedCase(f"python -m fuzz {kind} {number}: {type(error).__name__}: {error}") from error


def refusal(error: ScumbleError) -> str:
    """The sentence of a refusal, which is one line; an error of ours is none."""
    assert not isinstance(error, InternalError), error
    text = str(error)
    assert text.strip(), "a refusal without a word"
    assert len(text) < MOST_LETTERS, f"a refusal of {len(text)} characters: {text[:300]}"
    return text


@contextmanager
def _alarm() -> Any:
    """An end to what hangs, where the system has alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def late(*_: object) -> None:
        raise TimeoutError(f"not done after {LONGEST} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
