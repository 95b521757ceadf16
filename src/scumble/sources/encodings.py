"""CSV files in other encodings than UTF-8: written as UTF-8 into a private file, which is gone with its source.

Nothing is guessed from the bytes of rows. A byte order mark says what a file is, or else whoever names it does. Bytes that have no meaning in the
encoding stay bytes without one: whatever reads the file refuses their line, or leaves it out, as it does with broken UTF-8. So do control characters
between 0x80 and 0x9f, which no text has: they are a cp1252 file that is called latin-1.
"""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from scumble.core.errors import TableError
from scumble.core.scratch import PrivateFile

PIECE = 1 << 20
MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Byte order marks; that of UTF-32 begins like that of UTF-16 and stands before it."""

SENSELESS = "\udcff"
"""Becomes the byte 0xff, which no UTF-8 has."""
CONTROLS = re.compile("[\x80-\x9f]")

codecs.register_error("scumble", lambda error: (SENSELESS, error.end))  # type: ignore[attr-defined]


def in_utf8(file: Path, encoding: str | None, *, lenient: bool) -> Path | PrivateFile:
    """A file as UTF-8: itself, or a private one.

    encoding   what it is said to be; None where nobody said anything
    lenient    whether nothing may be refused because of rows: lines that cannot be read will be left out
    """
    with pa.input_stream(str(file), compression="detect") as stream:
        head = stream.read(1 << 16)
    marked = next((name for mark, name in MARKS.items() if head.startswith(mark)), None)
    found = _said(file, encoding, marked) if encoding else _unsaid(file, head, marked)
    return file if found == "utf-8" else _written(file, found, lenient=lenient)


def _unsaid(file: Path, head: bytes, marked: str | None) -> str:
    if marked is None and b"\0" in head.split(b"\n", 1)[0]:
        raise TableError(
            f"{file.name} has zero bytes in its first line, as UTF-16 has, and no byte order mark; say which it is: "
            f"{file.name}?encoding=utf-16-le (or utf-16-be)"
        )
    return marked or "utf-8"


NOT_OF_FILES = ("idna", "punycode", "undefined")
"""Codecs of Python that no file is written in."""


def _said(file: Path, encoding: str, marked: str | None) -> str:
    try:
        "".encode(encoding)
        name = codecs.lookup(encoding).name
        if name in NOT_OF_FILES or name.endswith("escape"):
            raise LookupError(name)
    except (LookupError, ValueError):
        raise TableError(
            f"there is no encoding {encoding!r}; name one such as cp1252, latin-1, utf-16-le or shift_jis"
        ) from None
    if marked is not None and name not in (marked, marked.rpartition("-")[0]):
        raise TableError(
            f"{file.name} is said to be {name}, and begins with the mark of {marked}; leave out ?encoding="
        )
    if marked is None and name in ("utf-16", "utf-32"):
        raise TableError(f"{file.name} has no byte order mark; say whether it is {name}-le or {name}-be")
    return marked or name


def _written(file: Path, encoding: str, *, lenient: bool) -> PrivateFile:
    """The private file; one that is UTF-8 beyond doubt and was called something else is refused."""
    private, doubt = PrivateFile(".csv"), _Doubt(encoding)
    with private.path.open("wb") as output:
        for text in _decoded(file, encoding, doubt):
            output.write(text.encode("utf-8", "surrogateescape"))
    if doubt.is_utf8() and not lenient:
        raise TableError(f"{file.name} is said to be {encoding}, and all its bytes are UTF-8; leave out ?encoding=")
    return private


def _decoded(file: Path, encoding: str, doubt: "_Doubt") -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)("scumble")
    first = True
    with pa.input_stream(str(file), compression="detect") as stream:
        while piece := stream.read(PIECE):
            doubt.see(piece)
            text = decoder.decode(piece)
            yield _sensible(text.removeprefix("\ufeff") if first else text, encoding)
            first = False
    yield _sensible(decoder.decode(b"", True), encoding)


def _sensible(text: str, encoding: str) -> str:
    return text if encoding.startswith("utf") else CONTROLS.sub(SENSELESS, text)


class _Doubt:
    """Whether bytes that were called something else are UTF-8, with other letters than those of ASCII."""

    def __init__(self, encoding: str) -> None:
        self._decoder = None if encoding.startswith("utf") else codecs.getincrementaldecoder("utf-8")()
        self._beyond_ascii = False

    def see(self, piece: bytes) -> None:
        """Looks at the next bytes."""
        if self._decoder is None:
            return
        self._beyond_ascii |= not piece.isascii()
        try:
            self._decoder.decode(piece)
        except UnicodeDecodeError:
            self._decoder = None

    def is_utf8(self) -> bool:
        """Whether they all were, to the last."""
        return self._decoder is not None and self._beyond_ascii and not self._decoder.getstate()[0]
