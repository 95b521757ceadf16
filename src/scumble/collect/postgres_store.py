"""A store in a PostgreSQL database: a schema of its own, one transaction for many arrivals, acknowledged when the server has it on its disk.

    postgresql://user@host/db              the schema scumble_survey
    postgresql://user@host/db?store=flu    the schema flu

Rows of a heap lie in the order in which they came, and show the transaction that wrote them. `settle` writes each table anew, in the
order of its keys and in one transaction.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from scumble.collect.store import ANOTHER, NO_STORE, Arrival, Outcome, StoreTally
from scumble.core.entropy import fresh_bytes
from scumble.core.errors import SurveyError
from scumble.core.extras import need
from scumble.engines.sql import quoted
from scumble.sources.address import PASSWORD

SCHEMA = "scumble_survey"

TABLES = {
    "answers": "period text NOT NULL, batch int NOT NULL, id bytea NOT NULL, noted text NOT NULL, codes bytea NOT NULL, PRIMARY KEY (period, batch, id)",
    "spent": "key bytea NOT NULL, period text NOT NULL, tag bytea NOT NULL, PRIMARY KEY (key, period)",
    "issued": "key bytea NOT NULL, period text NOT NULL, tag bytea NOT NULL, PRIMARY KEY (key, period)",
    "codes": "key bytea NOT NULL PRIMARY KEY",
    "batches": "period text NOT NULL PRIMARY KEY, batch int NOT NULL, held int NOT NULL",
    "refused": "reason text NOT NULL PRIMARY KEY, times bigint NOT NULL",
    "closed": "period text NOT NULL PRIMARY KEY, digest text NOT NULL",
}

SETTLED = {"spent": "key, period", "issued": "key, period", "codes": "key", "answers": "period, batch, id"}
"""Tables that are written anew, and their keys; in the order in which whoever writes takes them, so that nobody waits for ever."""

ID_BYTES = 16
CHUNK = 64
"""Batches that are read at a time."""


class PostgresStore:
    """The schema."""

    def __init__(self, url: str, survey: str | None = None) -> None:
        self._url, self._schema = _parts(url)
        self.name = f"{self._schema!r} of the database {urlsplit(url).path.rpartition('/')[2]!r}"
        self._driver = need("psycopg", "collect")
        self._connection: Any = None
        with self._one_line():
            self._connect()
            if survey is not None:
                self._make(survey)
            held = self._run("SELECT to_regclass(%s)", f"{quoted(self._schema)}.survey").fetchone()
            if held is None or held[0] is None:
                raise SurveyError(NO_STORE.format(self.name))
            self.survey = str(self._run("SELECT document FROM survey").fetchone()[0])
        if survey is not None and survey != self.survey:
            raise SurveyError(f"{ANOTHER.format(self.name)}: ...?store=NAME")

    def _connect(self) -> None:
        self._connection = self._driver.connect(self._url, autocommit=True, connect_timeout=10)
        self._connection.execute(f"SET search_path TO {quoted(self._schema)}")
        self._connection.execute("SET synchronous_commit TO on")

    def _make(self, survey: str) -> None:
        """The tables, where there are none yet; of two servers that make them at once one waits for the other."""
        with self._writing():
            self._run("SELECT pg_advisory_xact_lock(hashtext(%s))", self._schema)
            self._run(f"CREATE SCHEMA IF NOT EXISTS {quoted(self._schema)}")
            if self._run("SELECT to_regclass(%s)", f"{quoted(self._schema)}.survey").fetchone()[0] is not None:
                return
            self._run("CREATE TABLE survey (document text NOT NULL)")
            for name, columns in TABLES.items():
                self._run(f"CREATE TABLE {name} ({columns})")
            self._run("INSERT INTO survey VALUES (%s)", survey)

    def take(self, arrivals: Sequence[Arrival], least: int) -> list[Outcome]:
        """One transaction; a key that comes twice in it is looked at in the order in which it came."""
        outcomes: list[Outcome] = [Outcome.UNKNOWN] * len(arrivals)
        with self._writing():
            # who closes a period waits for this transaction, and this one for who closes
            self._run("LOCK TABLE closed IN ROW SHARE MODE")
            closed = {period for (period,) in self._run("SELECT period FROM closed")}
            places = list(range(len(arrivals)))
            for i in places:
                if arrivals[i].period in closed:
                    outcomes[i] = Outcome.CLOSED
            left = [i for i in places if outcomes[i] is not Outcome.CLOSED]
            while left:
                first: dict[tuple[bytes, str], int] = {}
                for i in left:
                    first.setdefault((arrivals[i].key, arrivals[i].once), i)
                chosen = list(first.values())
                self._take_each(arrivals, chosen, outcomes, least)
                left = [i for i in left if first[(arrivals[i].key, arrivals[i].once)] != i]
        return outcomes

    def _take_each(self, arrivals: Sequence[Arrival], chosen: list[int], outcomes: list[Outcome], least: int) -> None:
        """Arrivals of different keys."""
        keys = [(arrivals[i].key, arrivals[i].once, arrivals[i].tag) for i in chosen]
        spent = self._spend("spent", keys, [arrivals[i].by_code for i in chosen])
        for i, outcome in zip(chosen, spent, strict=True):
            outcomes[i] = outcome
        stored = [arrivals[i] for i in chosen if outcomes[i] is Outcome.STORED]
        for period in sorted({arrival.period for arrival in stored}):
            self._keep(period, [arrival for arrival in stored if arrival.period == period], least)

    def _keep(self, period: str, stored: list[Arrival], least: int) -> None:
        """Answers of one period, into the batch that is being filled."""
        statement = "INSERT INTO batches VALUES (%s, 0, %s) ON CONFLICT (period) DO UPDATE SET held = batches.held + excluded.held RETURNING batch, held"
        batch, held = self._run(statement, period, len(stored)).fetchone()
        ids = fresh_bytes(ID_BYTES * len(stored))
        rows = "INSERT INTO answers SELECT %s, %s, unnest(%s::bytea[]), unnest(%s::text[]), unnest(%s::bytea[])"
        drawn = [ids[ID_BYTES * i : ID_BYTES * (i + 1)] for i in range(len(stored))]
        self._run(rows, period, batch, drawn, [each.noted for each in stored], [each.codes for each in stored])
        if held >= least:
            self._run("UPDATE batches SET batch = batch + 1, held = 0 WHERE period = %s", period)

    def _spend(self, table: str, keys: list[tuple[bytes, str, bytes]], by_code: list[bool]) -> list[Outcome]:
        """What becomes of keys that are all different."""
        columns = [list(column) for column in zip(*keys, strict=True)]
        inserted = self._run(
            f"INSERT INTO {table} SELECT key, period, tag FROM unnest(%s::bytea[], %s::text[], %s::bytea[], %s::bool[]) AS given (key, period, tag, by_code) "
            "WHERE NOT by_code OR EXISTS (SELECT FROM codes WHERE codes.key = given.key) ON CONFLICT DO NOTHING RETURNING key, period",
            *columns,
            by_code,
        )
        new = {(bytes(key), period) for key, period in inserted}
        if len(new) == len(keys):
            return [Outcome.STORED] * len(keys)
        held = self._run(f"SELECT key, period, tag FROM {table} WHERE key = ANY(%s)", columns[0])
        tags = {(bytes(key), period): bytes(tag) for key, period, tag in held}
        return [_outcome(key, period, tag, new, tags) for key, period, tag in keys]

    def add_codes(self, keys: Sequence[bytes]) -> None:
        """In the order of the keys themselves."""
        with self._writing():
            self._run("INSERT INTO codes SELECT unnest(%s::bytea[]) ON CONFLICT DO NOTHING", sorted(keys))

    def issue(self, key: bytes, period: str, tag: bytes) -> Outcome:
        """One transaction."""
        with self._writing():
            return self._spend("issued", [(key, period, tag)], [True])[0]

    def refuse(self, counts: Mapping[str, int]) -> None:
        """Numbers alone."""
        with self._writing():
            for reason, times in counts.items():
                statement = "INSERT INTO refused VALUES (%s, %s) ON CONFLICT (reason) DO UPDATE SET times = refused.times + excluded.times"
                self._run(statement, reason, times)

    def tally(self) -> StoreTally:
        """Counted now."""
        with self._one_line():
            return StoreTally(
                answers=dict(self._run("SELECT period, count(*) FROM answers GROUP BY period")),
                noted=dict(self._run("SELECT noted, count(*) FROM answers GROUP BY noted")),
                codes=int(self._run("SELECT count(*) FROM codes").fetchone()[0]),
                spent=int(self._run("SELECT count(*) FROM spent").fetchone()[0]),
                refused=dict(self._run("SELECT reason, times FROM refused")),
                closed=dict(self._run("SELECT period, digest FROM closed")),
            )

    def full_batches(self, period: str) -> int:
        """All before the one that is being filled."""
        with self._one_line():
            held = self._run("SELECT batch FROM batches WHERE period = %s", period).fetchone()
        return int(held[0]) if held else 0

    def answers(self, period: str, first: int = 0, end: int | None = None) -> Iterator[bytes]:
        """In the order of batches and of ids that the server drew."""
        with self._one_line():
            last = self._run("SELECT max(batch) FROM answers WHERE period = %s", period).fetchone()[0]
            stop = 0 if last is None else last + 1 if end is None else min(end, last + 1)
            for start in range(first, stop, CHUNK):
                statement = "SELECT string_agg(codes, ''::bytea ORDER BY batch, id) FROM answers WHERE period = %s AND batch >= %s AND batch < %s"
                (part,) = self._run(statement, period, start, min(stop, start + CHUNK)).fetchone()
                if part:
                    yield bytes(part)

    def close(self, period: str) -> None:
        """Waits for the transactions that have begun; those that come later see it."""
        with self._writing():
            self._run("LOCK TABLE closed IN EXCLUSIVE MODE")
            self._run("INSERT INTO closed VALUES (%s, '') ON CONFLICT DO NOTHING", period)

    def released(self, period: str, digest: str) -> None:
        """Beside the period."""
        with self._writing():
            self._run("UPDATE closed SET digest = %s WHERE period = %s", digest, period)

    def settle(self) -> None:
        """Each table anew, sorted, by one transaction: places and transactions of rows tell nothing then."""
        with self._writing():
            self._run(f"LOCK TABLE {', '.join(SETTLED)} IN ACCESS EXCLUSIVE MODE")
            for name, keys in SETTLED.items():
                self._run(f"CREATE TABLE settled (LIKE {name} INCLUDING ALL)")
                self._run(f"INSERT INTO settled SELECT * FROM {name} ORDER BY {keys}")
                self._run(f"DROP TABLE {name}")
                self._run(f"ALTER TABLE settled RENAME TO {name}")

    def disconnect(self) -> None:
        """Closes the connection."""
        if self._connection is not None:
            self._connection.close()

    def _run(self, statement: str, *values: Any) -> Any:
        return self._connection.execute(statement, values or None)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction; on a new connection where the last one was lost."""
        with self._one_line():
            if self._connection.closed or self._connection.broken:
                self._connect()
            with self._connection.transaction():
                yield

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        try:
            yield
        except self._driver.Error as error:
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise SurveyError(f"the store {self.name} cannot be used: {said[:300]}") from None


def _outcome(
    key: bytes, period: str, tag: bytes, new: set[tuple[bytes, str]], tags: Mapping[tuple[bytes, str], bytes]
) -> Outcome:
    if (key, period) in new:
        return Outcome.STORED
    held = tags.get((key, period))
    return Outcome.UNKNOWN if held is None else Outcome.REPEATED if held == tag else Outcome.SPENT


def _parts(url: str) -> tuple[str, str]:
    """What the driver gets, and the schema."""
    parts = urlsplit(url)
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.password or "password" in given:
        raise SurveyError(PASSWORD)
    schema = given.pop("store", "") or SCHEMA
    if len(schema.encode()) > 60 or not schema.isidentifier():
        raise SurveyError(f"a store has the name of a schema, letters and digits, not {schema[:60]!r}")
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(given, quote_via=quote), "")), schema
