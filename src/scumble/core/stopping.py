"""How long a question may take, and who wants its end: what the layers that take time ask in between.

A question runs in the thread that asks it. Another thread may cancel it, and its time may be over: both are noticed at the next
look, and raised in the thread that asks.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from scumble.core.errors import ParameterError, QuestionStopped
from scumble.core.parameters import number, plain

DEFAULT = 600.0
"""Seconds that a question may take where nobody says."""


class Running:
    """A question that is being answered."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Ends it, from any thread, at its next look."""
        self._cancelled.set()

    def left(self) -> float:
        """The seconds that it has; none are left to one that is cancelled."""
        return 0.0 if self._cancelled.is_set() else max(0.0, self._end - time.monotonic())

    def look(self) -> None:
        """Raises where the question is to end."""
        if self._cancelled.is_set():
            raise QuestionStopped("the question was cancelled before it was answered; ask it again")
        if time.monotonic() > self._end:
            raise QuestionStopped(
                f"the question took more than {plain(self.seconds)} seconds; ask a simpler one, or give it more time (timeout, --timeout)"
            )


_current: ContextVar[Running | None] = ContextVar("running", default=None)


@contextmanager
def running(seconds: float) -> Iterator[Running]:
    """A question, in this thread, until it is answered; one within another has no more time than that has."""
    outer = _current.get()
    question = outer if outer is not None and outer.left() < seconds else Running(seconds)
    before = _current.set(question)
    try:
        yield question
    finally:
        _current.reset(before)


def current() -> Running | None:
    """The question that this thread answers."""
    return _current.get()


def look() -> None:
    """Raises where the question that this thread answers is to end."""
    question = _current.get()
    if question is not None:
        question.look()


def seconds_of(timeout: Any) -> float:
    """A time limit as people give it.

    >>> seconds_of(None), seconds_of("2.5")
    (600.0, 2.5)
    """
    if timeout is None:
        return DEFAULT
    seconds = number(timeout, "timeout")
    if seconds <= 0:
        raise ParameterError(f"timeout is a number of seconds above 0, not {timeout}")
    return min(seconds, threading.TIMEOUT_MAX)
