"""A connection reads the files that it was given and nothing else, and nothing that a statement does opens it further."""

import ast
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot
from sqlglot import exp

import scumble
from scumble.core.errors import QueryError
from scumble.engines.duckdb.connection import connect
from scumble.engines.sql import parquet

NAMES = ["plain.parquet", "survey[12].parquet", "a*.parquet", "it's.parquet"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of one row, which has the file's name, and others for which their names could stand."""
    for name in [*NAMES, "survey1.parquet", "ab.parquet"]:
        with (tmp_path / name).open("wb") as file:
            pq.write_table(pa.table({"name": [name]}), file)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_the_given_file_is_read_and_no_other(folder: Path, name: str) -> None:
    connection = connect([folder / name])
    assert connection.sql(f"SELECT name FROM {parquet([folder / name])}").fetchall() == [(name,)]
    for other in [*NAMES, "survey1.parquet", "ab.parquet"]:
        if other != name:
            with pytest.raises(duckdb.PermissionException):
                connection.sql(f"SELECT name FROM {parquet([folder / other])}").fetchall()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/*')",
        "SUMMARIZE '/etc/passwd'",
        "SELECT * FROM secret_frame",
        "ATTACH 'other.db'",
        "COPY (SELECT 1) TO 'out.csv'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET allowed_paths = ['/etc/passwd']",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET temp_directory = '/tmp'",
        "RESET temp_directory",
    ],
)
def test_no_statement_reaches_beyond_the_door(folder: Path, statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    secret_frame = pa.table({"x": [1]})  # the engine would find it in the frames that call it
    before = sorted(folder.iterdir())
    with pytest.raises(duckdb.Error):
        connect([folder / "plain.parquet"]).sql(statement).fetchall()
    assert sorted(folder.iterdir()) == before
    assert secret_frame.num_rows == 1


def test_tables_and_streams_are_registered_behind_a_closed_door() -> None:
    connection, table = connect(), pa.table({"x": [1, 2]})
    connection.register("a", table)
    connection.register("b", pa.RecordBatchReader.from_batches(table.schema, table.to_batches()))
    assert connection.sql("SELECT (SELECT SUM(x) FROM a), (SELECT SUM(x) FROM b)").fetchall() == [(3, 3)]


def test_times_are_told_in_utc_wherever_the_machine_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert connect().sql("SELECT hour(TIMESTAMPTZ '2026-01-01 12:00:00+00')").fetchall() == [(12,)]


@pytest.mark.slow
def test_an_open_release_cannot_read_beside_its_own_files(release: scumble.Release) -> None:
    engine = release.engine
    assert engine.run(parsed("SELECT COUNT(*) AS n FROM release")).column("n")[0].as_py() == 3000
    with pytest.raises(QueryError, match="disabled by configuration"):
        engine.run(parsed("SELECT * FROM read_csv('/etc/passwd')"))


@pytest.mark.slow
def test_nothing_else_connects() -> None:
    source = Path(scumble.__file__).parent
    for path in source.rglob("*.py"):
        inside = path.parent == source / "engines" / "duckdb"
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
        imported += [str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        assert inside or not any(name.split(".")[0] == "duckdb" for name in imported), path
        calls = [n.func for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
        connects = any(ast.unparse(call) == "duckdb.connect" for call in calls)
        assert connects == (inside and path.name == "connection.py"), path


def parsed(sql: str) -> exp.Expression:
    return sqlglot.parse_one(sql, read="duckdb")
