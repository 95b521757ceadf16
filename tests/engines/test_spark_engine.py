"""The engine over Spark: real Spark from pyspark, on this machine. It counts what DuckDB counts, and leaves to DuckDB what it would compute otherwise."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot
from engines.test_engines import ASKED, DISEASES, numbers, published_in, sql, table
from engines.test_postgres_engine import CONDITIONS, ELSEWHERE, ODD, lines
from naming import publish_openly
from shell import scumble_command
from spark import master

import scumble
from scumble.core.errors import InputError, ParameterError, QueryError, QuestionStopped
from scumble.core.stopping import running
from scumble.engines import demand_engine, open_engine
from scumble.engines.duckdb.engine import DuckDB
from scumble.engines.spark import java
from scumble.engines.spark.engine import Spark
from scumble.engines.spark.server import Server, _complaint

DUCKDBS = [
    *ELSEWHERE,
    "t < '2020-01-01 12:30:00'",
    "z < '2020-01-01 12:30:00'",
    "m = 2.5",
    "huge > 3",
    "f = 0.1",
    "sets IS NULL",
]
"""What Spark has no part in: functions, and columns of types that it compares otherwise."""


class Watched(Spark):
    """Says how often Spark answered."""

    answered = 0

    def _counted(self, statement: Any) -> Any:
        found = super()._counted(statement)
        self.answered += found is not None
        return found


@pytest.mark.slow
def test_counts_are_those_of_duckdb(tmp_path: Path) -> None:
    """Texts with quotes and backslashes, missing values, NaN, -0.0, sums, groups; and where each was computed."""
    rows = ODD.append_column("f", pa.array([[0.1, 0.5, None][i % 3] for i in range(60)], pa.float32()))
    file = tmp_path / "odd name, ä.parquet"
    pq.write_table(rows, file)
    spark, duckdb = Watched({"release": [file]}, master()), DuckDB({"release": [file]})
    keys = 'b, small, "odd ""name; --"'
    for condition in [*CONDITIONS, *(one for one in DUCKDBS if one not in CONDITIONS)]:
        asked = f"SELECT {keys}, COUNT(*) AS c, COUNT(n) AS k, SUM(n) AS s, MIN(n) AS low, MAX(n) AS high FROM release WHERE {condition} GROUP BY {keys}"
        statement, before = sqlglot.parse_one(asked, read="duckdb"), spark.answered
        assert lines(spark.run(statement)) == lines(duckdb.run(statement)), condition
        assert (spark.answered > before) == (condition not in DUCKDBS), condition


@pytest.mark.slow
def test_releases_of_every_form_are_answered_alike(tmp_path: Path) -> None:
    """The questions that all engines are asked: same columns, notes and lines; integers to the digit."""
    folders, opened = published_in(tmp_path), {}
    for name, question in ASKED:
        if name not in opened:
            opened[name] = scumble.open(folders[name], engine=master()), scumble.open(folders[name])
        found, expected = (release.query(sql(question)) for release in opened[name])
        assert (found.notes, found.columns) == (expected.notes, expected.columns), (name, question)
        for line, true in zip(numbers(found), numbers(expected), strict=True):
            for a, b in zip(line, true, strict=True):
                assert a == (pytest.approx(b, rel=1e-9, abs=1e-9) if isinstance(b, float) else b), (name, question)
    release, _ = opened["rows"]
    assert release.unique_rows() == scumble.open(folders["rows"]).unique_rows()
    with pytest.raises(QueryError, match="cannot be answered"):
        release.query("SELECT COUNT(*) FROM release WHERE nonsense(age) = 1")
    how: dict[str, Any] = {"sensitive": "disease", "public": "town", "domains": {"disease": DISEASES}, "retain": 0.5}
    for seed in (1, 2):
        publish_openly(table(100).select(["town", "disease"]), tmp_path / f"owner {seed}", seed=seed, **how)
    both = scumble.open(tmp_path / "owner 1", tmp_path / "owner 2", engine=master())
    assert both.query("SELECT COUNT(*) AS n FROM release")["n"].value[0] == 200


@pytest.mark.slow
def test_tables_in_memory_stay_here_and_a_child_of_a_fork_asks_duckdb(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "t.parquet")
    engine: Any = open_engine({"release": [tmp_path / "t.parquet"], "code": pa.table({"y": [7]})}, master())
    engine.register("more", pa.table({"y": [1, 2, 3]}))
    count = "SELECT COUNT(*) AS n FROM {}"
    for name, rows in [("release", 2), ("code", 1), ("more", 3)]:
        assert engine.run(sqlglot.parse_one(count.format(name))).to_pylist() == [{"n": rows}]
    engine.unregister("more")
    with pytest.raises(QueryError):
        engine.run(sqlglot.parse_one(count.format("more")))
    engine._session._process = -1  # as a child sees it
    try:
        assert engine.run(sqlglot.parse_one(count.format("release"))).to_pylist() == [{"n": 2}]
    finally:
        engine._session._process = os.getpid()


@pytest.mark.slow
def test_a_question_that_takes_too_long_ends(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": pa.array(range(3000))}), tmp_path / "t.parquet")
    engine: Any = open_engine({"release": [tmp_path / "t.parquet"]}, master())
    spark = engine._session.spark
    view = engine._views["release"].name
    spark.sql("SELECT a.id AS x FROM range(1000000) a CROSS JOIN range(1000000) b").createOrReplaceTempView(view)
    begun = time.monotonic()
    with running(1.0), pytest.raises(QuestionStopped):
        engine.run(sqlglot.parse_one("SELECT COUNT(*) AS n FROM release WHERE x * 3 > 7"))
    assert time.monotonic() - begun < 300
    assert spark.sql("SELECT 1 AS a").toArrow().to_pylist() == [{"a": 1}], "the session is there still"


@pytest.mark.slow
def test_the_command_asks_by_an_engine(tmp_path: Path) -> None:
    folder = published_in(tmp_path)["rows"]
    asked = "SELECT town, COUNT(*) AS n FROM release WHERE disease = 'flu' GROUP BY town ORDER BY town"
    arguments = ["query", str(folder), asked, "--format", "json"]
    assert scumble_command(*arguments, "--engine", master()).stdout == scumble_command(*arguments).stdout


@pytest.mark.slow
def test_a_server_is_gone_with_the_process_that_started_it(tmp_path: Path) -> None:
    """Also where that is killed: its input ends. Signals to all processes of a terminal do not part the two."""
    script = f"""
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
command = [sys.executable, "-m", "scumble.engines.spark.holder", "sh", "-c", "echo $$ > {tmp_path}/pid; sleep 600"]
subprocess.Popen(command, stdin=subprocess.PIPE)
while not os.path.exists("{tmp_path}/pid") or not open("{tmp_path}/pid").read():
    pass
os.killpg(0, signal.SIGTERM)
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script], check=False, timeout=120, start_new_session=True)
    process, end = int((tmp_path / "pid").read_text()), time.monotonic() + 60
    while Path(f"/proc/{process}").exists() and "zombie" not in Path(f"/proc/{process}/status").read_text():
        assert time.monotonic() < end, "it runs still"
        time.sleep(0.05)


def test_what_is_no_engine_is_refused_with_those_there_are() -> None:
    for address in ("local", "local[*]", "local[2]", "local-cluster[2,1,1024]", "spark://host:7077", "sc://host:15002"):
        demand_engine(address)
    for wrong in ("locl[2]", "spark:/host", "yarn", "local[*"):
        with pytest.raises(
            ParameterError, match=r"there is no engine .*local\[\*\], spark://HOST:PORT or sc://HOST:PORT"
        ):
            demand_engine(wrong)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "is version 11"),
        ('java version "1.8.0_1"', "is version 8"),
        ("?", "does not say"),
    ],
)
def test_an_old_java_is_refused_with_the_way_out(
    answer: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text(f"#!/bin/sh\necho '{answer}' >&2\n")
    (tmp_path / "bin" / "java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match=f"needs Java 17 or newer, and .*{words}.*; install Java 17"):
        java.demand_java()


def test_without_java_or_pyspark_the_way_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(
        InputError, match=r"Spark runs on Java, and none is where JAVA_HOME points to .*install Java 17"
    ):
        java.demand_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"there is none on this machine; install Java 17"):
        java.demand_java()
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(InputError, match=r"this needs pyspark, which is not installed: pip install 'scumble\[spark\]'"):
        Server("local[2]")


def test_a_server_that_is_not_there_is_named_at_once() -> None:
    master()
    with pytest.raises(InputError, match=r"there is no Spark Connect server at localhost:1 .*correct the address"):
        open_engine({}, "sc://localhost:1/;token=secret")


def test_a_complaint_is_the_last_line_that_names_an_error(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("INFO begins\norg.apache.spark.SparkException: no master\n\tat x\n")
    assert _complaint(tmp_path / "log") == "org.apache.spark.SparkException: no master"
