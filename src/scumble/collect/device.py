"""What one person's device keeps, in one file for nobody else to read: a secret, and messages that are to be sent or were.

No true answer is in it. Coins are memoised by the secret (device_coins.py), and what waits to be sent is perturbed already.
"""

import hashlib
import hmac
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scumble.collect.blind import Blinding
from scumble.collect.device_coins import SECRET_BYTES
from scumble.collect.sqlite_file import make_file
from scumble.core.entropy import fresh_bytes
from scumble.core.errors import SurveyError

FORMAT = 0x5C0B1E01
"""In the head of the file, so that another database is not taken for one."""

TABLES = """
CREATE TABLE secret (bytes BLOB NOT NULL);
CREATE TABLE messages (
    survey TEXT NOT NULL, period TEXT NOT NULL, body BLOB NOT NULL, server TEXT NOT NULL, epsilon REAL NOT NULL, title TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (survey, period)
);
CREATE TABLE blindings (survey TEXT NOT NULL, period TEXT NOT NULL, message BLOB NOT NULL, inverse TEXT NOT NULL, blinded BLOB NOT NULL,
    token TEXT NOT NULL, PRIMARY KEY (survey, period)
);
"""

WAITING, TAKEN, REFUSED = "waiting", "taken", "refused"


@dataclass(frozen=True)
class Sent:
    """A message of this device, and what became of it."""

    survey: str
    period: str
    body: bytes
    server: str
    epsilon: float
    title: str
    state: str = WAITING
    reason: str = ""


class Device:
    """The file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            self._make()
        with self._open() as database:
            if database.execute("PRAGMA application_id").fetchone()[0] != FORMAT:
                raise SurveyError(f"{str(path)!r} is no store of a client; name another file, and it is made")
            (self.secret,) = database.execute("SELECT bytes FROM secret").fetchone()

    def message(self, survey: str, period: str) -> Sent | None:
        """What was answered to a survey in a period."""
        with self._open() as database:
            row = database.execute(
                "SELECT * FROM messages WHERE survey = ? AND period = ?", (survey, period)
            ).fetchone()
        return None if row is None else Sent(*row)

    def messages(self, state: str | None = None) -> list[Sent]:
        """All messages, or those that are waiting, taken or refused."""
        with self._open() as database:
            rows = database.execute("SELECT * FROM messages ORDER BY survey, period").fetchall()
        return [sent for row in rows if state in (None, (sent := Sent(*row)).state)]

    def queue(self, sent: Sent) -> Sent:
        """The message that waits: this one, or one that another process queued before it."""
        with self._open() as database:
            values = (
                sent.survey,
                sent.period,
                sent.body,
                sent.server,
                sent.epsilon,
                sent.title,
                sent.state,
                sent.reason,
            )
            database.execute("INSERT OR IGNORE INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
        kept = self.message(sent.survey, sent.period)
        assert kept is not None
        return kept

    def settle(self, sent: Sent, state: str, reason: str = "") -> None:
        """What became of a message."""
        with self._open() as database:
            changed = (state, reason, sent.survey, sent.period)
            database.execute("UPDATE messages SET state = ?, reason = ? WHERE survey = ? AND period = ?", changed)

    def forget(self, sent: Sent) -> None:
        """A message that was refused."""
        with self._open() as database:
            database.execute("DELETE FROM messages WHERE survey = ? AND period = ?", (sent.survey, sent.period))

    def blinding(self, survey: str, period: str, make: Callable[[], Blinding]) -> tuple[Blinding, str]:
        """What was blinded for a survey in a period, made where nothing was; and the token that it became, if it did."""
        statement = "SELECT message, inverse, blinded, token FROM blindings WHERE survey = ? AND period = ?"
        with self._open() as database:
            held = database.execute(statement, (survey, period)).fetchone()
            if held is None:
                new = make()
                row = (survey, period, new.message, f"{new.inverse:x}", new.blinded, "")
                database.execute("INSERT INTO blindings VALUES (?, ?, ?, ?, ?, ?)", row)
                return new, ""
        return Blinding(held[0], int(held[1], 16), held[2]), held[3]

    def unblinded(self, survey: str, period: str, token: str) -> None:
        """The token that something blinded became."""
        with self._open() as database:
            values = (token, survey, period)
            database.execute("UPDATE blindings SET token = ? WHERE survey = ? AND period = ?", values)

    def keyed(self, *about: str) -> bytes:
        """Bytes that are the same for the same purpose, and tell nothing of the secret."""
        return hmac.new(self.secret, "\x1f".join(about).encode(), hashlib.sha256).digest()

    def _make(self) -> None:
        script = f"PRAGMA application_id = {FORMAT}; {TABLES}"
        try:
            make_file(self.path, script, "INSERT INTO secret VALUES (?)", fresh_bytes(SECRET_BYTES))
        except (OSError, sqlite3.Error) as error:
            raise SurveyError(f"{str(self.path)!r} cannot be made: {error}") from None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            database = sqlite3.connect(self.path, timeout=60, isolation_level="IMMEDIATE")
            try:
                database.execute("PRAGMA synchronous = FULL")
                with database:
                    yield database
            finally:
                database.close()
        except sqlite3.Error as error:
            raise SurveyError(f"the store {str(self.path)!r} cannot be used: {error}") from None
