"""The private folder beside an output: what is written, spilled and put aside lies there, readable for its owner alone.

It is called `.NAME.scumble`. Whoever writes NAME holds a lock in it, so that two runs never write the same output. When the run ends the folder
is gone. A run that was killed cannot remove it; the system lets go of the lock, and the next run that wants it clears the folder first.
"""

import errno
import hashlib
import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from multiprocessing.util import Finalize
from pathlib import Path

from scumble.core.errors import InputError
from scumble.core.undisturbed import undisturbed

ENDING = ".scumble"
PREFIX = "scumble-"
LOCK = "lock"
LONGEST = 255 - len(ENDING) - 1
"""Bytes of a name that leave room for the ending."""
TRIES = 1000
"""Folders that somebody removes while we take them, at most."""


def scratch_of(path: Path) -> Path:
    """The private folder of an output.

    >>> print(scratch_of(Path("/data/flu.release")))
    /data/.flu.release.scumble
    """
    name = path.name
    if len(os.fsencode(name)) > LONGEST:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return path.absolute().parent / f".{name}{ENDING}"


@contextmanager
def held(folder: Path, whose: str, clear: Callable[[Path], None]) -> Iterator[Path]:
    """The folder, empty and ours until the end.

    whose  what a message calls the output
    clear  what is done before it is emptied, at the beginning with what a dead run left, and in the end; where that fails, all is kept
    """
    lock: int | None = None
    try:
        with undisturbed():
            lock = take(folder, whose)
            _cleared(folder, clear)
        yield folder
    finally:
        if lock is not None:
            with undisturbed():
                let_go(folder, lock, clear)


def _cleared(folder: Path, clear: Callable[[Path], None]) -> None:
    clear(folder)
    empty(folder)


def take(folder: Path, whose: str) -> int:
    """Makes the folder, or takes one that a dead run left, and locks it; refused where another run is alive in it."""
    for _ in range(TRIES):
        made = _made(folder, whose)
        try:
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except FileNotFoundError:
            continue  # its owner ended this moment
        if not _locked(lock, made):
            os.close(lock)
            raise InputError(f"another run is writing {whose} at this moment ({folder.name}); wait for its end")
        if _is_still(folder / LOCK, lock):
            return lock
        os.close(lock)
    raise InputError(f"{str(folder)!r} is made and removed all the time by other runs; choose another name")


def let_go(folder: Path, lock: int, clear: Callable[[Path], None]) -> None:
    """Removes the folder, the lock last. What cannot be removed now is removed by the next run."""
    with suppress(OSError, InputError):
        _cleared(folder, clear)
        (folder / LOCK).unlink()
        folder.rmdir()  # fails where somebody took it this moment: then it is theirs
    os.close(lock)


def is_free(folder: Path) -> bool:
    """Whether nobody alive holds a folder."""
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return _locked(lock, False)
    finally:
        os.close(lock)


@cache
def private_folder(process: int) -> Path:
    """A folder of a process that has no output, among the system's temporary ones: gone when it ends, also where a pool started it.

    What a killed process left there is cleared by the next one.
    """
    place = Path(tempfile.gettempdir())
    for other in place.glob(f"{PREFIX}*"):
        with suppress(OSError, InputError):
            _sweep(other)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    lock = take(folder, str(folder))
    Finalize(None, let_go, (folder, lock, lambda aside: None), exitpriority=0)
    return folder


class PrivateFile:
    """A file in the folder of this process, which is removed with the last reference to it."""

    def __init__(self, ending: str) -> None:
        handle, name = tempfile.mkstemp(suffix=ending, dir=private_folder(os.getpid()))
        os.close(handle)
        self.path = Path(name)
        weakref.finalize(self, _removed, self.path, os.getpid())


def _removed(path: Path, process: int) -> None:
    if os.getpid() == process:  # the child of a fork has a copy of the reference, and no file
        path.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Removes a folder of ours whose process is dead; one without a lock was made this moment, or by somebody else."""
    _demand_ours(folder)
    if is_free(folder):
        let_go(folder, take(folder, str(folder)), lambda aside: None)


def empty(folder: Path) -> None:
    """Removes all but the lock."""
    for entry in list(os.scandir(folder)):
        if entry.name != LOCK:
            remove_all(Path(entry.path))


def remove_all(path: Path) -> None:
    """A file, a link itself, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _made(folder: Path, whose: str) -> bool:
    """Whether it was made here; one that is there must be ours."""
    try:
        folder.mkdir(0o700)
        return True
    except FileExistsError:
        _demand_ours(folder)
        return False
    except OSError as error:
        raise InputError(f"{whose} cannot be written: {(error.strerror or str(error)).lower()}") from None


def _demand_ours(folder: Path) -> None:
    """A folder that we made, by its owner and its lock; one that has just been made, or is being removed, is empty."""
    try:
        status = folder.lstat()
        ours = stat.S_ISDIR(status.st_mode) and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid())
        names = os.listdir(folder) if ours else []
    except FileNotFoundError:
        return
    if not ours or (names and LOCK not in names):
        raise InputError(f"{str(folder)!r} is in the way and is none of ours; move it away, or choose another name")


def _locked(lock: int, made: bool) -> bool:
    """Where there are no such locks the folder is the lock itself: who made it has it, and nobody clears another's."""
    try:
        system = import_module("fcntl")
        system.flock(lock, system.LOCK_EX | system.LOCK_NB)
    except ImportError:
        return made
    except OSError as error:
        return made and error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


def _is_still(path: Path, lock: int) -> bool:
    """Whether a path is the file that was opened: its owner may have removed it before we had the lock."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(lock))
    except FileNotFoundError:
        return False
