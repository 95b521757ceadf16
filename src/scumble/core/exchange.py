"""Renames that replace nothing, and two names exchanged in one step, by the call that Linux has for both.

There is no moment at which either name is missing. Where the system or the file system has no such call, both functions return False and have
changed nothing; whoever calls them takes the longer way.
"""

import ctypes
import errno
import os
from functools import cache
from pathlib import Path
from typing import Any

HERE = -100
"""A path is taken from the working directory."""
NOREPLACE, EXCHANGE = 1, 2
UNKNOWN = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}
"""What a kernel or a file system says that does not know the call."""


def exchange(one: Path, other: Path) -> bool:
    """Each gets the name of the other."""
    return _rename(one, other, EXCHANGE)


def rename_anew(source: Path, target: Path) -> bool:
    """Renames to a name that nobody has; where somebody has it, that is a FileExistsError."""
    return _rename(source, target, NOREPLACE)


def _rename(source: Path, target: Path, flag: int) -> bool:
    call = _system_call()
    if call is None:
        return False
    if call(HERE, os.fsencode(source), HERE, os.fsencode(target), flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))


@cache
def _system_call() -> Any:
    try:
        return ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return None
