"""Files of a release that cannot be read: that is what was handed to us, and no failure of ours."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from scumble.core.errors import ChangedRelease


def broken(name: str = "a file of the release") -> ChangedRelease:
    """The error to raise, whatever a library says of the bytes."""
    return ChangedRelease(
        f"{name} cannot be read as the table that the manifest describes; get the release again from its publisher"
    )


@contextmanager
def readable(name: str = "a file of the release") -> Iterator[None]:
    """What Arrow says of bytes that are no Parquet, or no text, in one sentence; what the system says of a disk is another matter."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError):
        raise broken(name) from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise broken(name) from None
