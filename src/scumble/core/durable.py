"""Bytes that are on the disk, and not only on their way to it: a name must never outlive what it names."""

import errno
import os
from pathlib import Path

NO_FOLDERS = {errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM}
"""What a system says that writes folders by itself, and cannot be asked to."""


def sync_tree(folder: Path) -> None:
    """All files of a folder, and the folders themselves, each after what is in it."""
    for place, _, names in os.walk(folder, topdown=False):
        for name in names:
            sync_file(Path(place) / name)
        sync_folder(Path(place))


def sync_file(path: Path) -> None:
    """The bytes of a file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """The names in a folder."""
    try:
        sync_file(path)
    except OSError as error:
        if error.errno not in NO_FOLDERS:
            raise
