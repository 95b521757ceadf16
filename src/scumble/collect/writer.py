"""One writer: what came in while the last transaction was written goes into the next one, and is acknowledged when that is on the disk.

The event loop never waits for a disk. A store that does not answer, or is lost, gives its arrivals back as not known to be stored:
whoever sent them sends them again, and they are kept once.
"""

import asyncio
import contextlib
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence

from scumble.collect.store import Arrival, Outcome, Store
from scumble.core.errors import ScumbleError

MOST_WAITING = 20_000
"""Arrivals that wait to be written, at most; who comes then is asked to come again."""

MOST_AT_ONCE = 2_000
"""Arrivals of a transaction."""

SETTLE_AFTER = 1_000
SETTLE_SHARE = 4
"""The order of arrival is taken out of the files after so many answers, and when a fourth has been added: so it costs a constant share of the work."""

NOTE_EVERY = 30.0
"""Seconds after which refusals are added to the store's numbers."""

PAUSE = 0.5
"""Seconds after which a store that could not be opened is tried again."""

Waiting = tuple[Sequence[Arrival], "asyncio.Future[list[Outcome]]"]


class NotStored(Exception):  # noqa: N818  what happened
    """Nobody knows whether it was stored."""


class Writer:
    """A thread, and what waits for it."""

    def __init__(self, store: Callable[[], Store], least: int, told: Callable[..., None]) -> None:
        self._open = store
        self._least = least
        self._told = told
        self._queue: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._since = 0
        self._held = 0
        self.waiting = 0
        """Arrivals that wait."""
        self.refused: Counter[str] = Counter()
        """Refusals that the store has not heard of yet."""
        self.failures = 0
        self.failing = False
        """Whether the last transaction was not known to be written."""
        self.transactions = 0
        self.stored = 0

    def start(self) -> None:
        """Begins to write."""
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    async def stop(self) -> None:
        """Writes what waits, takes the order of arrival out of the files, and ends."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    @property
    def full(self) -> bool:
        """Whether no more can wait."""
        return self.waiting >= MOST_WAITING

    async def write(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        """What became of arrivals, once it is on the disk; NotStored where nobody knows."""
        future: asyncio.Future[list[Outcome]] = self._loop.create_future()
        self.waiting += len(arrivals)
        try:
            self._queue.put((arrivals, future))
            return await future
        finally:
            self.waiting -= len(arrivals)

    def _work(self) -> None:
        """Until it is asked to end. A store that cannot be opened is tried again, and what waits meanwhile is given back."""
        store: Store | None = None
        noted, going = time.monotonic(), True
        while going:
            store = store or self._opened()
            waiting, going = self._next(NOTE_EVERY if store else PAUSE)
            if waiting:
                self._write(store, waiting)
            if store is None:
                continue
            if self.refused and (not going or time.monotonic() > noted + NOTE_EVERY):
                noted = time.monotonic()
                self._note(store)
            if self._since and (not going or self._since >= max(SETTLE_AFTER, self._held // SETTLE_SHARE)):
                self._settle(store)
        if store is not None:
            store.disconnect()

    def _opened(self) -> Store | None:
        """The store; without the order of arrival that somebody who was killed may have left in its files."""
        try:
            store = self._open()
            self._held = sum(store.tally().answers.values())
        except ScumbleError as error:
            self._told("store", error=str(error))
            return None
        self._settle(store)
        return store

    def _next(self, seconds: float) -> tuple[list[Waiting], bool]:
        """All that waits now, or comes in the next seconds; and whether more may come."""
        waiting: list[Waiting] = []
        count = 0
        with contextlib.suppress(queue.Empty):
            item = self._queue.get(timeout=seconds)
            while item is not None:
                waiting.append(item)
                count += len(item[0])
                if count >= MOST_AT_ONCE:
                    return waiting, True
                item = self._queue.get_nowait()
            return waiting, False
        return waiting, True

    def _write(self, store: Store | None, waiting: list[Waiting]) -> None:
        every = [arrival for arrivals, _ in waiting for arrival in arrivals]
        try:
            outcomes = store.take(every, self._least) if store else []
        except Exception as error:  # noqa: BLE001  whatever it is, who waits is told that nobody knows
            self._told("store", error=str(error) if isinstance(error, ScumbleError) else type(error).__name__)
            outcomes = []
        self.failing = len(outcomes) != len(every)
        if self.failing:
            self.failures += 1
            self._loop.call_soon_threadsafe(_failed, waiting)
            return
        self.transactions += 1
        stored = sum(outcome is Outcome.STORED for outcome in outcomes)
        self.stored += stored
        self._since += stored
        self._held += stored
        self._loop.call_soon_threadsafe(_done, waiting, outcomes)

    def _note(self, store: Store) -> None:
        counts, self.refused = self.refused, Counter()
        try:
            store.refuse(counts)
        except ScumbleError:
            self.refused.update(counts)

    def _settle(self, store: Store) -> None:
        self._since = 0
        try:
            store.settle()
        except ScumbleError as error:
            self._told("settle", error=str(error))


def _done(waiting: list[Waiting], outcomes: list[Outcome]) -> None:
    start = 0
    for arrivals, future in waiting:
        if not future.done():
            future.set_result(outcomes[start : start + len(arrivals)])
        start += len(arrivals)


def _failed(waiting: list[Waiting]) -> None:
    for _, future in waiting:
        if not future.done():
            future.set_exception(NotStored())
