"""The engine over a PostgreSQL database: it counts what DuckDB counts, keeps every value, and leaves to DuckDB what it would compute otherwise."""

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot
from databases import drop, new_name, place, sql

from scumble.core.errors import QuestionStopped, ReleaseError, TableError
from scumble.core.stopping import running
from scumble.engines.duckdb.engine import DuckDB
from scumble.engines.duckdb.same_rows import differing_rows
from scumble.engines.postgres.connection import Database
from scumble.engines.postgres.engine import Postgres
from scumble.engines.postgres.homes import Held, Home, SchemaContent
from scumble.engines.spoken import is_spoken
from scumble.sources.address import release_address

WORDS = ["a", "B", "ä", "it's", 'say "no"', "back\\slash", "%s", "", "NULL", None, "{}", "line\nbreak"]
ODD = pa.table(
    {
        'odd "name; --': pa.array(WORDS * 5, pa.string()),
        "n": pa.array([None if i % 7 == 0 else i - 30 for i in range(60)], pa.int32()),
        "small": pa.array([i % 3 for i in range(60)], pa.int8()),
        "huge": pa.array([2**64 - 1 - i for i in range(60)], pa.uint64()),
        "x": pa.array([[0.1, -0.0, 0.0, float("nan"), float("inf"), 1e-300, None][i % 7] for i in range(60)]),
        "b": pa.array([[True, False, None][i % 3] for i in range(60)]),
        "d": pa.array([None if i % 5 == 0 else date(2020, 1, 1 + i % 28) for i in range(60)]),
        "t": pa.array([datetime(2020, 1, 1, 12, i, 0, 123456) for i in range(60)], pa.timestamp("us")),
        "z": pa.array([datetime(2020, 1, 1, 12, i, tzinfo=UTC) for i in range(60)], pa.timestamp("us", "UTC")),
        "m": pa.array([Decimal(i) / 4 for i in range(60)], pa.decimal128(9, 2)),
        "sets": pa.array([None if i % 9 == 0 else WORDS[i % 5 : i % 5 + 3] for i in range(60)], pa.list_(pa.string())),
    }
)


def home(name: str) -> Home:
    address = release_address(place(name))
    return Home(Database(address.url, address.shown), name)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, Held]]:
    """A table of all kinds of columns, in the database and in a file."""
    file, name = tmp_path_factory.mktemp("odd") / "odd.parquet", new_name()
    pq.write_table(ODD, file)
    held, here = Held("release", ODD.schema, [file]), home(name)
    here.write(SchemaContent([held], {"odd.parquet": file}, {}, "none"), overwrite=False, is_ours=_nobody)
    yield here, held
    drop(name)


def _nobody(home: Home, connection: Any) -> None:
    raise ReleaseError("not ours")


def differing(odd: tuple[Home, Held]) -> int:
    here, held = odd
    with here.rows(held) as rows:
        return differing_rows(held.files, rows)


@pytest.mark.slow
def test_every_value_comes_back_and_any_change_is_seen(odd: tuple[Home, Held]) -> None:
    """One change of each column, and a row more, less, and twice: never the same table."""
    here, _ = odd
    assert differing(odd) == 0
    table = here.named("release")
    changes = [
        """UPDATE {} SET "odd ""name; --" = 'A' WHERE "odd ""name; --" = 'a'""",
        """UPDATE {} SET "odd ""name; --" = '' WHERE "odd ""name; --" IS NULL""",
        "UPDATE {} SET n = NULL WHERE n = 1",
        "UPDATE {} SET small = small + 1 WHERE n = 1",
        "UPDATE {} SET huge = huge - 1 WHERE huge = 18446744073709551615",
        "UPDATE {} SET x = 0 WHERE x = 0 AND n = 1 - 30",
        "UPDATE {} SET b = NOT b WHERE n = 1",
        "UPDATE {} SET d = d + 1 WHERE n = 1",
        "UPDATE {} SET t = t + interval '1 microsecond' WHERE n = 1",
        "UPDATE {} SET z = z + interval '1 microsecond' WHERE n = 1",
        "UPDATE {} SET m = m + 0.01 WHERE n = 1",
        "UPDATE {} SET sets = array_append(sets, NULL) WHERE n = 1",
        "DELETE FROM {} WHERE n = 1",
        "INSERT INTO {} SELECT * FROM {} WHERE n = 1",
        "UPDATE {} SET small = 200 WHERE n = 1",
    ]
    name = here.schema
    for change in changes:
        sql(f'CREATE TABLE "{name}".kept AS SELECT * FROM {table}')
        sql(change.replace("{}", table))
        try:
            found = differing(odd) > 0
        except TableError:  # a number that the published type does not have
            found = "200" in change
        assert found, change
        sql(f'TRUNCATE {table}; INSERT INTO {table} SELECT * FROM "{name}".kept; DROP TABLE "{name}".kept')
    assert differing(odd) == 0


CONDITIONS = [
    "n >= 3 AND small <> 1",
    "n IS NULL OR NOT (n > 2)",
    "n BETWEEN -5 AND 5 AND b",
    "n + small * 2 - 1 IN (1, 2, 3)",
    """"odd ""name; --" IN ('it''s', 'back\\slash', 'say "no"')""",
    """"odd ""name; --" > 'a'""",
    """"odd ""name; --" = ''""",
    "x = 0",
    "x > 1",
    "x <> x",
    "d >= '2020-01-10'",
    "t < '2020-01-01 12:30:00'",
    "z < '2020-01-01 12:30:00'",
    "m = 2.5",
    "CASE WHEN n < 0 THEN 1 WHEN b THEN 2 ELSE 0 END = 2",
    "COALESCE(n, 0) = 0",
    "NULLIF(small, 1) IS NULL",
    "n IS NOT DISTINCT FROM NULL",
    "n = '5'",
]
ELSEWHERE = [
    """UPPER("odd ""name; --") = 'A'""",
    """"odd ""name; --" ILIKE 'b'""",
    """LENGTH("odd ""name; --") = 9""",
    "ROUND(m) = 3",
    "n / 2 = 1.5",
    "n // 2 = 1",
    "n % 3 = 1",
    "CAST(m AS INTEGER) = 3",
    "YEAR(d) = 2020",
    "b = 1",
]


class Counting(Postgres):
    """Says how often the database was asked, and answered."""

    asked = answered = 0

    def _asked(self, statement: Any) -> Any:
        found = super()._asked(statement)
        self.asked += 1
        self.answered += found is not None
        return found


@pytest.fixture(scope="module")
def engines(odd: tuple[Home, Held]) -> tuple[DuckDB, Counting]:
    here, held = odd
    places = {"release": (here.schema, "release")}
    made = Counting(here.database, places, ["n", "small", "huge"], lambda: {"release": held.files})
    return DuckDB({"release": held.files}), made


def lines(table: pa.Table) -> list[str]:
    """In any order; DuckDB adds whole numbers to decimals."""
    plain = [
        [int(value) if isinstance(value, Decimal) else value for value in line.values()] for line in table.to_pylist()
    ]
    return sorted(map(repr, plain))


@pytest.mark.slow
@pytest.mark.parametrize("condition", [*CONDITIONS, *ELSEWHERE])
def test_counts_are_those_of_duckdb(condition: str, engines: tuple[DuckDB, Counting]) -> None:
    duckdb, postgres = engines
    keys = 'b, small, "odd ""name; --"'
    for asked in (
        f"SELECT COUNT(*) AS n FROM release WHERE {condition}",
        f"SELECT {keys}, COUNT(*) AS c, COUNT(n) AS k, SUM(n) AS s, MIN(n) AS low, MAX(n) AS high FROM release WHERE {condition} GROUP BY {keys}",
    ):
        statement = sqlglot.parse_one(asked, read="duckdb")
        before = postgres.answered
        assert lines(postgres.run(statement)) == lines(duckdb.run(statement))
        assert (postgres.answered > before) == (condition in CONDITIONS), "where it was computed"


def test_what_rounds_or_divides_is_left_to_duckdb() -> None:
    for text, spoken in [
        ("SELECT CAST(CASE WHEN a = 1 THEN 1 ELSE 2 END AS SMALLINT) AS t FROM release", True),
        ("SELECT CAST(n AS BIGINT) AS t FROM release", True),
        ("SELECT CAST(x AS BIGINT) AS t FROM release", False),
        ('SELECT CAST(ROUND(SUM(1.0 / "n")) AS BIGINT) AS t FROM release', True),
        ('SELECT CAST(ROUND(SUM(2.0 / "n")) AS BIGINT) AS t FROM release', False),
        ("SELECT a FROM release ORDER BY a LIMIT 1", False),
    ]:
        assert is_spoken(sqlglot.parse_one(text, read="duckdb"), {"n"}) is spoken, text


@pytest.mark.slow
def test_a_question_that_takes_too_long_ends_in_the_database_too(odd: tuple[Home, Held]) -> None:
    here, _ = odd
    sql(f'CREATE VIEW "{here.schema}".slow AS SELECT 1 AS n, pg_sleep(300)::text AS s')
    engine = Postgres(here.database, {"release": (here.schema, "slow")}, [], dict)
    statement = sqlglot.parse_one("SELECT COUNT(*) AS n FROM (SELECT * FROM release) AS r", read="duckdb")
    try:
        with running(0.3), pytest.raises(QuestionStopped):
            engine.run(statement)
        asleep = (
            "SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE %s AND pid <> pg_backend_pid()"
        )
        end = time.monotonic() + 60
        while sql(asleep, f"%{here.schema}%slow%") != [(0,)]:
            assert time.monotonic() < end, "it is still asleep"
            time.sleep(0.1)
    finally:
        sql(f'DROP VIEW "{here.schema}".slow')


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (pa.field("x" * 64, pa.int64()), "over 63 bytes, which PostgreSQL would cut"),
        (pa.field("x", pa.timestamp("ns")), r"the type timestamp\[ns\], which PostgreSQL cannot keep"),
    ],
)
def test_what_would_be_cut_is_refused_by_name(field: pa.Field, words: str, tmp_path: Path) -> None:
    file, name = tmp_path / "t.parquet", new_name()
    pq.write_table(pa.table({field.name: pa.array([1], field.type)}), file)
    held = Held("release", pa.schema([field]), [file])
    with pytest.raises(ReleaseError, match=words):
        home(name).write(SchemaContent([held], {}, {}, "none"), overwrite=False, is_ours=_nobody)
    assert sql("SELECT 1 FROM pg_namespace WHERE nspname = %s", name) == []
