"""A store in one SQLite file: a log that is on the disk (fsync) before a transaction is acknowledged, and is read while it is written."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scumble.collect.sqlite_file import make_file
from scumble.collect.store import ANOTHER, NO_STORE, Arrival, Outcome, StoreTally
from scumble.core.entropy import fresh_bytes
from scumble.core.errors import SurveyError

FORMAT = 0x5C0B1E02
"""In the head of the file, so that another database is not taken for one."""

TABLES = """
CREATE TABLE survey (document TEXT NOT NULL);
CREATE TABLE answers (
    period TEXT NOT NULL, batch INTEGER NOT NULL, id BLOB NOT NULL, noted TEXT NOT NULL, codes BLOB NOT NULL,
    PRIMARY KEY (period, batch, id)
) WITHOUT ROWID;
CREATE TABLE spent (key BLOB NOT NULL, period TEXT NOT NULL, tag BLOB NOT NULL, PRIMARY KEY (key, period)) WITHOUT ROWID;
CREATE TABLE issued (key BLOB NOT NULL, period TEXT NOT NULL, tag BLOB NOT NULL, PRIMARY KEY (key, period)) WITHOUT ROWID;
CREATE TABLE codes (key BLOB NOT NULL PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE batches (period TEXT NOT NULL PRIMARY KEY, batch INTEGER NOT NULL, held INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE refused (reason TEXT NOT NULL PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE closed (period TEXT NOT NULL PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
"""

ID_BYTES = 16
CHUNK = 1 << 16
"""Answers that are read at a time."""
PATIENCE = 30.0
"""Seconds to wait for another process that writes."""


class SqliteStore:
    """The file."""

    def __init__(self, path: str | Path, survey: str | None = None) -> None:
        self.path = Path(path)
        self.name = repr(str(path))
        if not self.path.exists():
            if survey is None:
                raise SurveyError(NO_STORE.format(self.name))
            self._make(survey)
        with self._one_line():
            self._database = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            if self._one("PRAGMA application_id") != FORMAT:
                raise SurveyError(f"{self.name} is no store of a survey; name another file, and it is made")
            self._database.executescript(
                "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;"
            )
            self.survey = str(self._one("SELECT document FROM survey"))
        if survey is not None and survey != self.survey:
            raise SurveyError(ANOTHER.format(self.name))

    def take(self, arrivals: Sequence[Arrival], least: int) -> list[Outcome]:
        """One transaction, on the disk when this returns."""
        with self._writing() as database:
            closed = {period for (period,) in database.execute("SELECT period FROM closed")}
            batches = {period: [batch, held] for period, batch, held in database.execute("SELECT * FROM batches")}
            ids = memoryview(fresh_bytes(ID_BYTES * len(arrivals)))
            outcomes = []
            for i, arrival in enumerate(arrivals):
                outcome = (
                    Outcome.CLOSED
                    if arrival.period in closed
                    else self._spend("spent", arrival.key, arrival.once, arrival.tag, arrival.by_code)
                )
                if outcome is Outcome.STORED:
                    batch = batches.setdefault(arrival.period, [0, 0])
                    row = (
                        arrival.period,
                        batch[0],
                        ids[ID_BYTES * i : ID_BYTES * (i + 1)],
                        arrival.noted,
                        arrival.codes,
                    )
                    database.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?)", row)
                    batch[1] += 1
                outcomes.append(outcome)
            full = {
                period: (batch + 1, 0) if held >= least else (batch, held) for period, (batch, held) in batches.items()
            }
            rows = [(period, *state) for period, state in full.items()]
            database.executemany("INSERT OR REPLACE INTO batches VALUES (?, ?, ?)", rows)
        return outcomes

    def add_codes(self, keys: Sequence[bytes]) -> None:
        """In the order of the keys themselves."""
        with self._writing() as database:
            database.executemany("INSERT OR IGNORE INTO codes VALUES (?)", [(key,) for key in sorted(keys)])

    def issue(self, key: bytes, period: str, tag: bytes) -> Outcome:
        """One transaction."""
        with self._writing():
            return self._spend("issued", key, period, tag, by_code=True)

    def _spend(self, table: str, key: bytes, period: str, tag: bytes, by_code: bool) -> Outcome:
        held = self._database.execute(f"SELECT tag FROM {table} WHERE key = ? AND period = ?", (key, period)).fetchone()
        if held is not None:
            return Outcome.REPEATED if held[0] == tag else Outcome.SPENT
        if by_code and self._database.execute("SELECT 1 FROM codes WHERE key = ?", (key,)).fetchone() is None:
            return Outcome.UNKNOWN
        self._database.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", (key, period, tag))
        return Outcome.STORED

    def refuse(self, counts: Mapping[str, int]) -> None:
        """Numbers alone."""
        with self._writing() as database:
            statement = (
                "INSERT INTO refused VALUES (?, ?) ON CONFLICT (reason) DO UPDATE SET times = times + excluded.times"
            )
            database.executemany(statement, list(counts.items()))

    def tally(self) -> StoreTally:
        """Counted now."""
        with self._one_line():
            run = self._database.execute
            return StoreTally(
                answers=dict(run("SELECT period, COUNT(*) FROM answers GROUP BY period")),
                noted=dict(run("SELECT noted, COUNT(*) FROM answers GROUP BY noted")),
                codes=int(self._one("SELECT COUNT(*) FROM codes")),
                spent=int(self._one("SELECT COUNT(*) FROM spent")),
                refused=dict(run("SELECT reason, times FROM refused")),
                closed=dict(run("SELECT period, digest FROM closed")),
            )

    def full_batches(self, period: str) -> int:
        """All before the one that is being filled."""
        with self._one_line():
            held = self._database.execute("SELECT batch FROM batches WHERE period = ?", (period,)).fetchone()
        return int(held[0]) if held else 0

    def answers(self, period: str, first: int = 0, end: int | None = None) -> Iterator[bytes]:
        """In the order of batches and of ids that the server drew."""
        with self._one_line():
            statement = (
                "SELECT codes FROM answers WHERE period = ? AND batch >= ? AND batch < ? ORDER BY period, batch, id"
            )
            rows = self._database.cursor().execute(statement, (period, first, 2**62 if end is None else end))
            while chunk := rows.fetchmany(CHUNK):
                yield b"".join(codes for (codes,) in chunk)

    def close(self, period: str) -> None:
        """A transaction that waits for the one before it."""
        with self._writing() as database:
            database.execute("INSERT OR IGNORE INTO closed VALUES (?, '')", (period,))

    def released(self, period: str, digest: str) -> None:
        """Beside the period."""
        with self._writing() as database:
            database.execute("UPDATE closed SET digest = ? WHERE period = ?", (digest, period))

    def settle(self) -> None:
        """SQLite writes the whole file anew, table by table in the order of its keys, and empties the log."""
        with self._one_line():
            self._database.execute("VACUUM")
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def disconnect(self) -> None:
        """Closes the file."""
        self._database.close()

    def _one(self, statement: str) -> Any:
        return self._database.execute(statement).fetchone()[0]

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that no other writer is in; on the disk at its end, or nothing of it."""
        with self._one_line():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise SurveyError(f"the store {self.name} cannot be used: {error}") from None

    def _make(self, survey: str) -> None:
        script = f"PRAGMA journal_mode = WAL; PRAGMA application_id = {FORMAT}; {TABLES}"
        try:
            make_file(self.path, script, "INSERT INTO survey VALUES (?)", survey)
        except (OSError, sqlite3.Error) as error:
            raise SurveyError(f"the store {self.name} cannot be made: {error}") from None
