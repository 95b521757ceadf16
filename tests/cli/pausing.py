"""Runs the command line, and pauses where a test wants to interrupt it.

python pausing.py MODULE:NAME ARGUMENTS...: the first call of that function prints "reached" and waits to be interrupted. On a worker thread, which
nobody interrupts, it goes on after a second.
"""

import sys
import threading
import time
from importlib import import_module

from scumble.__main__ import main


def pause() -> None:
    """Waits; on the main thread for longer than any test. In short naps: a signal that another thread gets wakes nobody."""
    print("reached", flush=True)
    for _ in range(10 if threading.current_thread() is not threading.main_thread() else 600):
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
    main()
