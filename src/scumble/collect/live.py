"""Estimates while answers come in. Only whole batches show, so that no single arrival does, not even across a restart.

A snapshot is a release of all full batches, in a private folder. It is made anew when a batch has become full, and not before ten times as
long has passed as making it takes: then it costs a tenth of one core at most.
"""

import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble.collect.answer_rows import manifest_of, write_answers
from scumble.collect.closing import joined
from scumble.collect.store import Store
from scumble.collect.survey import Survey
from scumble.core.errors import QueryError
from scumble.release.release import Release

PATIENCE = 10
"""How many times as long as a snapshot took passes before the next one is made."""

NOBODY = "fewer than {} answers have come in, and none shows before; ask again later"


@dataclass(frozen=True)
class Snapshot:
    """All full batches of a period, at some moment."""

    batches: int
    release: Release
    folder: Path
    due: float
    """The moment from which on the next one may be made."""


class LiveAnswers:
    """The snapshots of a survey. Several threads may ask."""

    def __init__(self, survey: Survey, store: Callable[[], Store], scratch: Path, least: int) -> None:
        self._survey = survey
        self._open = store
        self._scratch = scratch
        self._least = least
        self._lock = threading.Lock()
        self._snapshots: dict[str, Snapshot] = {}
        self._parts: dict[str, list[bytes]] = {}

    def ask(self, sql: str, period: str, *, level: Any = 0.95, timeout: float = 20.0) -> dict[str, Any]:
        """The answer to a question over all full batches of a period, as JSON has it."""
        release = self.release(period)
        answer = release.query(sql, level=level, timeout=timeout)
        return {
            "rows": answer.to_list(),
            "level": answer.level,
            "notes": answer.notes,
            "answers": release.manifest.rows,
            **({"period": period} if period else {}),
        }

    def release(self, period: str) -> Release:
        """The newest snapshot that may show."""
        held = self._snapshots.get(period)
        if held is not None and time.monotonic() < held.due:
            return held.release
        with self._lock:
            held = self._snapshots.get(period)
            if held is None or time.monotonic() >= held.due:
                held = self._renewed(period, held)
        return held.release

    def _renewed(self, period: str, held: Snapshot | None) -> Snapshot:
        started = time.monotonic()
        store = self._open()
        try:
            full = store.full_batches(period)
            if not full:
                raise QueryError(NOBODY.format(self._least))
            if held is not None and held.batches == full:
                return held
            new = joined(store.answers(period, held.batches if held else 0, full))
            parts = [*self._parts.get(period, []), *new]
        finally:
            store.disconnect()
        snapshot = self._made(full, parts, started)
        self._snapshots[period], self._parts[period] = snapshot, parts
        if held is not None:
            shutil.rmtree(held.folder, ignore_errors=True)
        return snapshot

    def _made(self, full: int, parts: list[bytes], started: float) -> Snapshot:
        folder = Path(tempfile.mkdtemp(prefix="live-", dir=self._scratch))
        rows = sum(map(len, parts)) // sum(question.code_type.itemsize for question in self._survey.questions.values())
        files = write_answers(self._survey, rows, parts, folder, folder)
        release = Release(folder, manifest_of(self._survey, files))
        took = time.monotonic() - started
        return Snapshot(full, release, folder, time.monotonic() + PATIENCE * took)
