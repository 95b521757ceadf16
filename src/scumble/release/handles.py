"""The files of a release as they were when it was opened.

A name can be given to another version at any moment, and the files of the former one are removed then. So whoever opens a release holds its
files open, and reads them by these handles (Linux lets anybody: /proc/self/fd): the rows stay those that the manifest describes. Where a system
has no such door, or too many files are open, they are read by their names. In both cases size, time and identity are compared before and after
each question: a file that somebody wrote into is refused, and so is one that was exchanged behind a name.
"""

import os
import weakref
from collections.abc import Iterable
from pathlib import Path

from scumble.core.errors import ChangedRelease

DOOR = Path("/proc/self/fd")
"""Where Linux lets a process open what it has open."""

Mark = tuple[int, int, int, int]


class Handles:
    """Open files of a folder, by their paths in it."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        self._folder = folder
        self._open: dict[str, int] = {}
        self._closer = weakref.finalize(self, _close, self._open)
        names = list(names)
        if DOOR.is_dir():
            self._hold(names)
        self._marks = {name: self._mark(name) for name in names}

    def _hold(self, names: Iterable[str]) -> None:
        """What is missing, or one too many, is left to its name, and to whoever asks for it."""
        for name in names:
            try:
                self._open[name] = os.open(self._folder / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            except OSError:
                continue

    def path(self, name: str) -> Path:
        """By which a file is read."""
        return DOOR / str(self._open[name]) if name in self._open else self._folder / name

    def demand_same(self) -> None:
        """Refuses files that are no longer those that were opened."""
        for name, mark in self._marks.items():
            if self._mark(name) != mark:
                raise ChangedRelease(
                    f"{name} of {self._folder.name!r} was changed since the release was opened, so that its manifest no longer "
                    "describes it; open the release again"
                )

    def _mark(self, name: str) -> Mark | None:
        try:
            status = os.fstat(self._open[name]) if name in self._open else os.stat(self._folder / name)
        except OSError:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _close(handles: dict[str, int]) -> None:
    for handle in handles.values():
        os.close(handle)
