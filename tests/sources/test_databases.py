"""Tables in databases: PostgreSQL (a server of our own, started here) and SQLite."""

import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pytest
from homes import of_postgres, postgres
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.errors import InputError, TableError
from scumble.sources.source import read

HOW: dict[str, Any] = {
    "sensitive": "disease",
    "public": "town",
    "drop": "id",
    "domains": {"disease": ["flu", "cold", "gout"]},
    "gamma": 3,
}
PEOPLE = [(i, ("Bonn", "Ulm")[i % 2], ("flu", "cold", "gout")[i % 3]) for i in range(300)]


@pytest.fixture(scope="module")
def server() -> str:
    """The URL of a server with a table of people and one of all kinds of columns."""
    driver, url = pytest.importorskip("adbc_driver_postgresql.dbapi"), postgres()
    with driver.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE people (id int, town text, disease text)")
        values = ", ".join(f"({i}, '{town}', '{disease}')" for i, town, disease in PEOPLE)
        cursor.execute(f"INSERT INTO people VALUES {values}")
        cursor.execute("CREATE TYPE mood AS ENUM ('low', 'high')")
        cursor.execute('CREATE TABLE kinds (n numeric(9, 2), m mood, u uuid, d date, "odd ""name" text)')
        cursor.execute(
            "INSERT INTO kinds VALUES (1.25, 'low', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '2020-02-29', 'x'), "
            "(NULL, NULL, NULL, NULL, NULL)"
        )
        connection.commit()
    return url


@pytest.fixture
def file(tmp_path: Path) -> str:
    with sqlite3.connect(tmp_path / "clinic.db") as connection:
        connection.execute("CREATE TABLE people (id INTEGER, town TEXT, disease VARCHAR(10))")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", PEOPLE)
        connection.execute("CREATE TABLE loose (n INTEGER, x)")
        connection.executemany("INSERT INTO loose VALUES (?, ?)", [(1, 1), ("two", 2.5)])
    connection.close()
    return f"sqlite:///{tmp_path / 'clinic.db'}"


def counts(release: scumble.Release) -> list[Any]:
    return [line["n"] for line in release.query("SELECT town, COUNT(*) AS n FROM release GROUP BY town ORDER BY town")]


@pytest.mark.slow
def test_a_table_of_postgresql_is_published(server: str, tmp_path: Path) -> None:
    release = scumble.publish(of_postgres(server, "table=people"), tmp_path / "r", **HOW)
    assert counts(release) == [150, 150]
    assert all(check.passed for check in scumble.verify(release.path))
    assert server.split("@")[-1] not in (tmp_path / "r" / "manifest.json").read_text()


@pytest.mark.slow
def test_a_query_of_postgresql_is_a_table(server: str) -> None:
    source = read(of_postgres(server, "query=SELECT%20town,%20id%20FROM%20people%20WHERE%20id%20%3C%2010;"))
    assert pa.Table.from_batches(list(source.batches(["town"]))).num_rows == 10


@pytest.mark.slow
def test_kinds_of_postgresql_become_plain_ones(server: str) -> None:
    source = read(of_postgres(server, "table=public.kinds"))
    assert dict(zip(source.schema.names, map(str, source.schema.types), strict=True)) == {
        "n": "double",
        "m": "string",
        "u": "string",
        "d": "date32[day]",
        'odd "name': "string",
    }
    first, second = pa.Table.from_batches(list(source.batches(source.schema.names))).to_pylist()
    assert (first["n"], first["m"], first["u"]) == (1.25, "low", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")
    assert set(second.values()) == {None}


@pytest.mark.slow
def test_two_readings_of_postgresql_see_one_snapshot(server: str) -> None:
    import adbc_driver_postgresql.dbapi as driver

    source = read(of_postgres(server, "table=people"))
    before = pa.Table.from_batches(list(source.batches(["id", "town"])))
    with driver.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO people VALUES (1000, 'Trier', 'flu')")
        connection.commit()
        try:
            assert pa.Table.from_batches(list(source.batches(["id", "town"]))).equals(before)
            assert (
                pa.Table.from_batches(list(read(of_postgres(server, "table=people")).batches(["id"]))).num_rows == 301
            )
        finally:
            cursor.execute("DELETE FROM people WHERE id = 1000")
            connection.commit()


@pytest.mark.slow
def test_a_connection_that_is_cut_leaves_nothing(server: str, tmp_path: Path) -> None:
    """The server ends our session between two readings."""
    import adbc_driver_postgresql.dbapi as driver

    source = read(of_postgres(server, "table=people"))
    with driver.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state LIKE 'idle in%'"
        )
        cursor.fetchall()
    with pytest.raises(TableError, match="table 'people' of the database 'postgres' cannot be read"):
        list(source.batches(["id"]))
    with pytest.raises(TableError):
        scumble.publish(source, tmp_path / "r", **HOW)
    assert not list(tmp_path.iterdir())


def test_a_password_in_an_address_is_refused_and_never_shown() -> None:
    for url in ("postgresql://me:hunter2@host/db?table=t", "postgresql://me@host/db?table=t&password=hunter2"):
        with pytest.raises(TableError, match="PGPASSWORD") as raised:
            scumble.init(url)
        assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("asked", ["", "?table=a&query=SELECT%201", "?sslmode=require"])
def test_an_address_names_a_table_or_a_query(asked: str) -> None:
    with pytest.raises(TableError, match="names a table or a query"):
        read(f"postgresql://host/db{asked}")


def test_a_server_that_does_not_answer_is_one_line() -> None:
    pytest.importorskip("adbc_driver_postgresql")
    with pytest.raises(TableError, match="table 't' of the database 'db' cannot be read: ") as raised:
        scumble.init("postgresql://127.0.0.1:1/db?table=t")
    assert "\n" not in str(raised.value)


def test_a_table_of_sqlite_is_published_by_its_spec(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["init", f"{file}?table=people"]).exit_code == 0
    spec = (tmp_path / "people.toml").read_text()
    assert f'table = "{file}?table=people"' in spec
    release = scumble.publish(f"{file}?table=people", tmp_path / "r", **HOW)
    assert counts(release) == [150, 150]


def test_a_column_of_sqlite_has_the_type_it_was_declared_with(file: str) -> None:
    source = read(f"{file}?table=loose")
    assert [str(kind) for kind in source.schema.types] == ["int64", "double"]
    assert pa.Table.from_batches(list(source.batches(["x"]))).column("x").to_pylist() == [1.0, 2.5]
    with pytest.raises(TableError, match=r"'n' .* declared as int64"):
        list(source.batches(["n"]))
    words = read(f"{file}?table=loose", text=["n"])
    assert pa.Table.from_batches(list(words.batches(["n"]))).column("n").to_pylist() == ["1", "two"]


@pytest.mark.slow
@pytest.mark.parametrize("last", ["7", "7.5"])
def test_a_type_that_sqlite_does_not_declare_follows_no_row_where_none_may_show(last: str, tmp_path: Path) -> None:
    """A computed column is text for noisy counts, whatever its values are; a fraction in one row changes nothing else."""
    with sqlite3.connect(tmp_path / "d.db") as connection:
        connection.execute("CREATE TABLE people (sex TEXT)")
        connection.executemany("INSERT INTO people VALUES (?)", [("F",)] * 200)
    computed = f"SELECT sex, CASE rowid WHEN 200 THEN {last} ELSE 7 END AS score FROM people"
    url = f"sqlite:///{tmp_path}/d.db?query={quote(computed)}"
    release = scumble.publish(
        url,
        mechanism="noisy_counts",
        public=["sex", "score"],
        epsilon=1,
        settings={"k": 5, "delta": 1e-5},
        persons="one row each",
        seed=1,
    )
    assert {column.name: column.type for column in release.manifest.columns} == {"sex": "string", "score": "string"}


def test_a_release_does_not_replace_its_database(file: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        scumble.publish(f"{file}?table=people", tmp_path, overwrite=True, **HOW)


def test_there_is_no_such_database(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="there is no database"):
        read(f"sqlite:///{tmp_path}/none.db?table=t")
    assert not (tmp_path / "none.db").exists()
