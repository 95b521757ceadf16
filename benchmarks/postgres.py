"""PostgreSQL on both sides of a publication: reading a table against the server's own COPY, and a question to a release there against the exact query.

The server is started here, from the wheel of pgserver, and is gone in the end.
"""

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi as driver
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import scumble
from benchmarks.measure import Figure, seconds
from scumble.sources.source import read

ROWS = 5_000_000
WORDS = [f"disease {i}" for i in range(20)]
WHERE = "WHERE disease IN ('disease 1', 'disease 7') AND age > 40"


def figures() -> Iterator[Figure]:
    if find_spec("pgserver") is None:
        print("PostgreSQL: not measured, because pgserver has no wheel for this Python")
        return
    with tempfile.TemporaryDirectory() as folder, _server(folder) as url, driver.connect(url) as connection:
        table = Path(folder) / "people.parquet"
        pq.write_table(_people(), table)
        with connection.cursor() as cursor:
            cursor.adbc_ingest("people", pq.read_table(table), mode="create")
            connection.commit()
            cursor.execute("ANALYZE people")
            connection.commit()
            ours, theirs = seconds(lambda: _read(_at(url, "table=people")), lambda: _copied(cursor), repeat=3)
            yield Figure(
                f"PostgreSQL, reading {ROWS:,} x 6, against COPY to /dev/null",
                ours / theirs,
                2.0,
                detail=f"{ours:.1f} s, the server's own {theirs:.1f} s",
            )
            connection.rollback()
            release = _published(table, _at(url, "release=flu"))
            asked = f"SELECT sex, COUNT(*) AS n FROM {{}} {WHERE} GROUP BY sex"
            exact = asked.format("people")
            ours, theirs = seconds(lambda: release.query(asked.format("release")), lambda: _ask(cursor, exact))
            yield Figure(
                f"PostgreSQL, a question to a release of {ROWS:,} rows, against the exact query",
                ours / theirs,
                1.8,
                detail=f"{ours:.2f} s, exact {theirs:.2f} s",
            )


@contextmanager
def _server(folder: str) -> Iterator[str]:
    import pgserver

    place = tempfile.mkdtemp(prefix="pg-", dir=folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = pgserver.get_server(place)
    try:
        yield str(server.get_uri())
    finally:
        server.cleanup()
        shutil.rmtree(place, ignore_errors=True)


def _at(url: str, asked: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{asked}"


def _people() -> pa.Table:
    draw = np.random.default_rng(1)
    return pa.table(
        {
            "age": draw.integers(0, 90, ROWS),
            "sex": draw.choice(["F", "M"], ROWS),
            "town": draw.choice([f"town {i}" for i in range(200)], ROWS),
            "disease": draw.choice(WORDS, ROWS),
            "cost": draw.random(ROWS),
            "visits": draw.integers(0, 20, ROWS),
        }
    )


def _published(table: Path, out: str) -> scumble.Release:
    how: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": WORDS}, "retain": 0.5, "rest": "drop"}
    return scumble.publish(table, out, public=["age", "sex"], **how)


def _read(url: str) -> None:
    source = read(url)
    assert sum(batch.num_rows for batch in source.batches(source.schema.names)) == ROWS


def _copied(cursor: Any) -> None:
    cursor.execute("COPY (SELECT * FROM people) TO '/dev/null'")


def _ask(cursor: Any, sql: str) -> None:
    cursor.execute(sql)
    assert len(cursor.fetchall()) == 2
