"""Runs the command line, and pauses where a test wants to interrupt it.

python pausing.py MODULE:NAME ARGUMENTS...: the first call of that function prints "reached" and waits to be interrupted. Nobody interrupts a worker
thread: it waits until the main thread was, and goes on.
"""

import os
import sys
import threading
import time
from importlib import import_module
from types import FrameType

from scumble.__main__ import Interruptions, main

ARRIVED = threading.Event()
"""Set when the signal is there, however long it takes to come."""
TEST = os.getppid()


class Heard(Interruptions):
    """Interruptions that tell the pause of themselves."""

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        ARRIVED.set()
        super()._interrupt(number, frame)


def pause() -> None:
    """Waits as long as the test lives. In short naps: a signal that another thread gets wakes nobody."""
    print("reached", flush=True)
    while not ARRIVED.is_set() and os.getppid() == TEST:
        time.sleep(0.1)


def pausing(place: str) -> None:
    """Puts the pause before a function, or before a method of a class."""
    module, _, path = place.partition(":")
    *owners, name = path.split(".")
    owner = import_module(module)
    for each in owners:
        owner = getattr(owner, each)
    original = getattr(owner, name)

    def replaced(*arguments: object, **more: object) -> object:
        setattr(owner, name, original)
        pause()
        return original(*arguments, **more)

    setattr(owner, name, replaced)


if __name__ == "__main__":
    pausing(sys.argv.pop(1))
    sys.modules["scumble.__main__"].Interruptions = Heard  # type: ignore[attr-defined]
    main()
