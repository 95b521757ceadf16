"""A publisher's ledger: a file beside the key, never in a release. It says what was published of whom, by keyed digests.

    FILE              the entries, as JSON, with a digest that tells the key
    FILE.people/N     the people of entry N: a sorted array of keyed digests of 8 bytes

An entry is on the disk as pending before its release takes its place, and is confirmed after. A crash in between leaves it
pending, which counts as published: whoever looks later cannot know. One publisher at a time has the ledger.
"""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from scumble.core.atomic import whole_file
from scumble.core.errors import LedgerError
from scumble.publishing.entries import Book, Entry

FORMAT, VERSION = "scumble-ledger", 1
PIECE = 1 << 20
"""Digests that are compared at a time."""

People = npt.NDArray[np.uint64]


class Ledger:
    """The ledger at a path."""

    def __init__(self, path: Path, key_check: str | None = None) -> None:
        self.path = path
        document = _read(path)
        if key_check is not None and document["key"] not in (None, key_check):
            raise LedgerError(
                f"{path.name} was written with another key, by which nobody in it is recognised; use that key, or another ledger"
            )
        self._key = key_check or document["key"]
        try:
            self.entries = [Entry.model_validate(entry) for entry in document["entries"]]
        except ValidationError as error:
            raise LedgerError(f"{path.name} has an entry that is none: {error.errors()[0]['msg']}") from None

    @property
    def book(self) -> Book:
        """What it says."""
        return Book(self.path.name, self.entries)

    def people(self, entry: Entry) -> People:
        """The people of an entry, on the disk."""
        path = self._folder / entry.people_file
        if not path.is_file() or path.stat().st_size != 8 * entry.people:
            raise LedgerError(
                f"{path.name} of {self._folder.name} is missing or cut off, so that nobody knows who was published; restore it from a copy"
            )
        return np.memmap(path, dtype="<u8", mode="r") if entry.people else np.empty(0, "<u8")

    def shared(self, entry: Entry, people: People) -> int:
        """How many of the people are in an entry."""
        before = self.people(entry)
        return sum(_common(before, people[start : start + PIECE]) for start in range(0, len(people), PIECE))

    def add(self, entry: Entry, people: People) -> Entry:
        """The entry, on the disk, with its people."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        _written(self._folder / entry.people_file, people.astype("<u8").tobytes())
        self._save([*self.entries, entry])
        return entry

    def confirm(self, number: int) -> None:
        """The release of a pending entry is in place."""
        self._save([e.model_copy(update={"status": "published"}) if e.number == number else e for e in self.entries])

    @property
    def next(self) -> int:
        """The number of the next entry."""
        return max((entry.number for entry in self.entries), default=0) + 1

    @property
    def _folder(self) -> Path:
        return self.path.with_name(self.path.name + ".people")

    def _save(self, entries: list[Entry]) -> None:
        document = {"format": FORMAT, "version": VERSION, "key": self._key}
        document["entries"] = [entry.model_dump(mode="json") for entry in entries]
        _written(self.path, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())
        self.entries = entries


@contextmanager
def held(path: Path, key_check: str) -> Iterator[Ledger]:
    """The ledger, for one publisher at a time."""
    if not path.absolute().parent.is_dir():
        raise LedgerError(f"the ledger {str(path)!r} cannot be written: there is no such folder; name another file")
    with path.with_name(path.name + ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LedgerError(f"{path.name} is in use by another publication; wait until it is done") from None
        yield Ledger(path, key_check)


def read_ledger(path: str | Path) -> Book:
    """What a ledger says."""
    if not Path(path).exists():
        raise LedgerError(f"there is no ledger {str(path)!r}; publishing with a key file writes one beside it")
    return Ledger(Path(path)).book


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"key": None, "entries": []}
    except (OSError, ValueError):
        document = None
    if not isinstance(document, dict) or document.get("format") != FORMAT or document.get("version") != VERSION:
        raise LedgerError(f"{str(path)!r} is no ledger, or was changed; name the right file, or restore it from a copy")
    return document


def _written(path: Path, content: bytes) -> None:
    """The file, whole and on the disk before anything else happens."""
    with whole_file(path, overwrite=True) as file:
        file.write_bytes(content)


def _common(sorted_before: People, piece: People) -> int:
    """How many of a sorted piece are in a sorted array; only the part of it that can hold them is read."""
    if not len(piece) or not len(sorted_before):
        return 0
    low, high = np.searchsorted(sorted_before, [piece[0], piece[-1]], side="left")
    part = np.asarray(sorted_before[low : high + 1])
    places = np.searchsorted(part, piece)
    inside = places < len(part)
    return int((part[places[inside]] == piece[inside]).sum())
