"""A bar on the terminal for whatever lasts."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scumble.core.progress import Progress

PATIENCE = 1.0
"""Seconds after which a bar appears: what is over sooner needs none."""

VARIABLE = "SCUMBLE_PROGRESS"
OFTEN = 0.1
"""Seconds between two lines."""


@contextmanager
def progress_bar(label: str) -> Iterator[Progress]:
    """Shows that something is going on, and how far it is once that is known; nothing where there is no terminal.

    The bar is drawn on standard error and wiped away in the end, so that what is printed or piped is the same with it and without. A program that
    runs a command sets SCUMBLE_PROGRESS=lines, and has a line on standard error in its place: progress DONE OF.
    """
    if os.environ.get(VARIABLE) == "lines":
        yield Lines().update
        return
    if not sys.stderr.isatty():
        yield lambda done, of: None
        return
    bar = Bar(label)
    timer = threading.Timer(PATIENCE, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield bar.update
    finally:
        timer.cancel()
        bar.end()


class Lines:
    """For a program: a line each time that it is far enough."""

    def __init__(self) -> None:
        self._last = -OFTEN

    def update(self, done: int, of: int | None) -> None:
        """So much is done of so much."""
        now = time.monotonic()
        if now - self._last >= OFTEN:
            self._last = now
            print(f"progress {done} {'?' if of is None else of}", file=sys.stderr, flush=True)


class Bar:
    """A bar that is drawn once it is asked to show itself, and never after its end."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._done: int = 0
        self._of: int | None = None
        self._drawn: Any = None
        self._ended = False
        self._lock = threading.Lock()

    def show(self) -> None:
        """Draws it as far as the work is."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        drawn = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
        drawn.add_task(self._label, completed=self._done, total=self._of)
        with self._lock:
            if not self._ended:
                drawn.start()
                self._drawn = drawn

    def update(self, done: int, of: int | None) -> None:
        """So much is done of so much."""
        self._done, self._of = done, of
        if self._drawn is not None:
            self._drawn.update(self._drawn.task_ids[0], completed=done, total=of)

    def end(self) -> None:
        """Wipes it away."""
        with self._lock:
            self._ended = True
            if self._drawn is not None:
                self._drawn.stop()
