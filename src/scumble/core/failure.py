"""What went wrong outside of scumble, in one sentence: a full disk, no memory, a reader that left. Whatever is left is our own mistake."""

import errno
import os
import sys
import traceback
from io import TextIOWrapper
from pathlib import Path

TRACEBACK = "SCUMBLE_TRACEBACK"
"""Set in the environment, it shows where an error came from."""

FULL = (errno.ENOSPC, errno.EDQUOT)
NO_MEMORY = "there is not enough memory for this; free some, or say with --memory how much it may take"


def say(line: str) -> None:
    """A line on standard error, if anybody reads it."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        leave(2)


def stand_anywhere() -> None:
    """Standard streams that are there and take every character: one that a terminal does not know is written by its number."""
    for number, mode in enumerate((os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:  # closed: the next file that is opened would be taken for it, and printed into
            os.open(os.devnull, mode)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115  for as long as the process lives
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flush() -> None:
    """Standard output, while a failure can still be told."""
    sys.stdout.flush()


def leave(number: int) -> None:
    """Nobody takes what is written to a stream any more: the rest of it goes nowhere, and Python does not fail with it in the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def sentence(error: BaseException) -> str:
    """What happened, and what to do.

    >>> print(sentence(OSError(28, "No space left on device", "/data/.r.scumble/new/data.parquet")))
    the disk is full ('/data/.r.scumble/new/data.parquet'); make room, or write elsewhere
    >>> print(sentence(OSError(36, "File name too long", "x")))
    file name too long: 'x'
    """
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    if (
        isinstance(error, SystemExit) and error.__context__ is not None
    ):  # the parser of the command line ends so where a pipe is closed
        error = error.__context__
    if isinstance(error, BrokenPipeError):
        return "nobody reads the output any more, so that it was not written to its end"
    if isinstance(error, OSError):
        return _of_system(error)
    if isinstance(error, MemoryError) or _named(error, "OutOfMemoryException") or "start new thread" in str(error):
        return NO_MEMORY
    if not isinstance(error, Exception):
        return "interrupted"
    line = next(iter(str(error).splitlines()), "")
    if _named(error, "DatabaseError"):
        return f"the engine failed: {line}"
    return f"this is a mistake of scumble's own, {type(error).__name__} in {_place(error)}: {line}; please report it ({TRACEBACK}=1 shows more)"


def _of_system(error: OSError) -> str:
    what = f" ({error.filename!r})" if error.filename else ""
    if error.errno in FULL:
        return f"the disk is full{what}; make room, or write elsewhere"
    if error.errno == errno.ENOENT and not error.filename and not _here():
        return "the working directory was removed; change to one that exists"
    line = " ".join((error.strerror or str(error)).split())
    return f"{line[:1].lower()}{line[1:]}{what.replace(' (', ': ').removesuffix(')')}"


def _here() -> bool:
    try:
        return bool(os.getcwd())
    except OSError:
        return False


def _named(error: BaseException, name: str) -> bool:
    """Whether it is an error of a library that may not even be loaded."""
    return any(kind.__name__ == name for kind in type(error).__mro__)


def _place(error: BaseException) -> str:
    """The last line of ours that it went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "scumble" in Path(frame.filename).parts] or frames
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "an unknown place"
