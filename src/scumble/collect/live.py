"""Estimates while answers come in. Only whole batches show, so that no single arrival does, not even across a restart.

A snapshot is a release of all full batches, in a private folder. It is made anew when a batch has become full, and not before ten times as
long has passed as making it takes: then it costs a tenth of one core at most.
"""

import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble.collect.answer_rows import manifest_of, write_answers
from scumble.collect.closing import joined
from scumble.collect.store import Store
from scumble.collect.survey import Survey
from scumble.core.errors import QueryError, QuestionStopped
from scumble.release.release import Release

PATIENCE = 10
"""How many times as long as a snapshot took passes before the next one is made."""

LONGEST_MAKING = 60.0
"""Seconds that the first question waits for a snapshot that somebody else is making."""

NOBODY = "fewer than {} answers have come in, and none shows before; ask again later"


@dataclass(eq=False)
class Snapshot:
    """All full batches of a period, at some moment."""

    batches: int
    release: Release
    folder: Path
    due: float
    """The moment from which on the next one may be made."""
    readers: int = 0
    """How many ask it now."""
    replaced: bool = False


class LiveAnswers:
    """The snapshots of a survey. Several threads may ask."""

    def __init__(self, survey: Survey, store: Callable[[], Store], scratch: Path, least: int) -> None:
        self._survey = survey
        self._open = store
        self._scratch = scratch
        self._least = least
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._snapshots: dict[str, Snapshot] = {}
        self._parts: dict[str, list[bytes]] = {}

    def ask(self, sql: str, period: str, *, level: Any = 0.95, timeout: float = 20.0) -> dict[str, Any]:
        """The answer to a question over all full batches of a period, as JSON has it."""
        with self.release(period) as release:
            answer = release.query(sql, level=level, timeout=timeout)
            return {
                "rows": answer.to_list(),
                "level": answer.level,
                "notes": answer.notes,
                "answers": release.manifest.rows,
                **({"period": period} if period else {}),
            }

    @contextmanager
    def release(self, period: str) -> Iterator[Release]:
        """The newest snapshot that may show; its files are there as long as somebody asks it."""
        self._renew(period)
        with self._reading:
            held = self._snapshots[period]
            held.readers += 1
        try:
            yield held.release
        finally:
            with self._reading:
                held.readers -= 1
                self._sweep(held)

    def _renew(self, period: str) -> None:
        """A new snapshot, where there is none or it is time for one; who comes meanwhile and has one does not wait."""
        held = self._snapshots.get(period)
        if held is not None and time.monotonic() < held.due:
            return
        free = self._lock.acquire(timeout=LONGEST_MAKING) if held is None else self._lock.acquire(blocking=False)
        if not free and held is None:
            raise QuestionStopped("the answers are being put together; ask again later")
        if not free:
            return
        try:
            held = self._snapshots.get(period)
            if held is None or time.monotonic() >= held.due:
                self._renewed(period, held)
        finally:
            self._lock.release()

    def _sweep(self, held: Snapshot) -> None:
        """Removes the files of a snapshot that was replaced, when nobody asks it any more."""
        if held.replaced and not held.readers:
            shutil.rmtree(held.folder, ignore_errors=True)

    def _renewed(self, period: str, held: Snapshot | None) -> None:
        started = time.monotonic()
        store = self._open()
        try:
            full = store.full_batches(period)
            if not full:
                raise QueryError(NOBODY.format(self._least))
            if held is not None and held.batches == full:
                return
            new = joined(store.answers(period, held.batches if held else 0, full))
            parts = [*self._parts.get(period, []), *new]
        finally:
            store.disconnect()
        snapshot = self._made(full, parts, started)
        with self._reading:
            self._snapshots[period], self._parts[period] = snapshot, parts
            if held is not None:
                held.replaced = True
                self._sweep(held)

    def _made(self, full: int, parts: list[bytes], started: float) -> Snapshot:
        folder = Path(tempfile.mkdtemp(prefix="live-", dir=self._scratch))
        rows = sum(map(len, parts)) // sum(question.code_type.itemsize for question in self._survey.questions.values())
        files = write_answers(self._survey, rows, parts, folder, folder)
        release = Release(folder, manifest_of(self._survey, files))
        took = time.monotonic() - started
        return Snapshot(full, release, folder, time.monotonic() + PATIENCE * took)
