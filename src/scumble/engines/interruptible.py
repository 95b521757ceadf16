"""Statements that an interruption, the end of their time or another thread stops.

A database gives its result in one call that looks at nothing until it is over. So the statement runs on a thread of its own while the
thread that asks waits for it: in the main one Python raises what Ctrl-C does, and every one looks at the time (core/stopping.py).
"""

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Protocol, TypeVar

from scumble.core.stopping import current

LOOK = 0.05
"""Seconds between two looks at whether somebody wants the end."""

T = TypeVar("T")


class Stoppable(Protocol):
    """A connection whose statement another thread can end."""

    def interrupt(self) -> None:
        """Ends it."""


def interruptible(connection: Stoppable, work: Callable[[], T]) -> T:
    """What is done with a connection, as long as nobody wants its end."""
    question, doing = current(), _helper().submit(work)
    try:
        while not _over(doing):  # a signal that another thread got is seen by the main one when it wakes
            if question is not None:
                question.look()
        return doing.result()
    finally:
        while not doing.done():
            connection.interrupt()  # again, where it came before the statement had begun
            wait([doing], timeout=LOOK)


def _over(doing: "Future[T]") -> bool:
    try:
        doing.exception(timeout=LOOK)
    except TimeoutError:  # of the waiting; one of the work itself is its outcome
        return doing.done()
    return True


_own = threading.local()


def _helper() -> ThreadPoolExecutor:
    """The thread that works for this one. It waits for the next statement: to start one for each takes as long as a small statement does."""
    helper: ThreadPoolExecutor | None = getattr(_own, "helper", None)
    if helper is None:
        helper = _own.helper = ThreadPoolExecutor(1, thread_name_prefix="scumble-statement")
    return helper


def _forget() -> None:
    """In the child of a fork, where no thread is left but the one that forked."""
    global _own
    _own = threading.local()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
