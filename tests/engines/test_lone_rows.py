"""Rows that are alone with their values are counted alike by values and by parts of hashes, with any engine."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp
from toys.engine import SQLite

from scumble.core.memory import within
from scumble.engines.duckdb import lone_rows as in_parts
from scumble.engines.duckdb.engine import DuckDB
from scumble.engines.lone_rows import lone_rows

ROWS = 4000
DRAW = np.random.default_rng(3)
PEOPLE = pa.table(
    {
        "age": pa.array([None if draw > 95 else int(draw) for draw in DRAW.integers(0, 100, ROWS)], pa.int8()),
        'a town\'s "name"': pa.array([None if draw == 0 else f"town {draw}" for draw in DRAW.integers(0, 40, ROWS)]),
        "part": pa.array(DRAW.choice([0.0, -0.0, 0.5, np.nan], ROWS)),
        "born": pa.array(DRAW.integers(0, 3, ROWS), pa.int32()).cast(pa.date32()),
    }
)
NAMES = PEOPLE.column_names
ALONE = sum(
    count == 1
    for count in PEOPLE.set_column(2, "part", pa.array([str(abs(part)) for part in PEOPLE["part"].to_pylist()]))
    .group_by(NAMES)
    .aggregate([([], "count_all")])
    .column("count_all")
    .to_pylist()
)
"""-0.0 is 0.0, and what is no number is like what is none."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("alone") / "people.parquet"
    pq.write_table(PEOPLE, path)
    return path


@pytest.mark.parametrize(("by_values", "parts"), [(0, 1), (10**9, 1), (10**9, 2), (10**9, 7), (10**9, 64)])
def test_parts_come_to_the_whole(file: Path, by_values: int, parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    engine = DuckDB({"release": [file]})
    run = engine.run

    def heard(statement: exp.Expression) -> pa.Table:
        asked.append(statement.sql())
        return run(statement)

    monkeypatch.setattr(engine, "run", heard)
    monkeypatch.setattr(in_parts, "BY_VALUES", by_values)
    monkeypatch.setattr(in_parts, "of_engine", lambda: -(-in_parts.BY_HASHES * ROWS // parts))
    assert lone_rows(engine, NAMES, ROWS) == ALONE > 500
    assert len(asked) == parts
    assert all(("HASH" in statement) == bool(by_values) for statement in asked)


@pytest.mark.parametrize("rows", [0, 1, 10**15])
def test_a_number_of_rows_that_is_not_true_changes_the_way_and_not_the_count(file: Path, rows: int) -> None:
    assert lone_rows(DuckDB({"release": [file]}), NAMES, rows) == ALONE


def test_an_engine_that_has_no_way_of_its_own_is_asked_by_a_statement() -> None:
    small = PEOPLE.select(NAMES[:2])
    every = list(zip(*small.to_pydict().values(), strict=True))
    alone = sum(every.count(row) == 1 for row in every)
    assert lone_rows(SQLite({"release": small}), small.column_names, ROWS) == alone > 100


def test_the_engine_keeps_to_its_share_where_nearly_all_are_alone(tmp_path: Path) -> None:
    """Rows that would need eight times what the engine may hold."""
    rows = 2_000_000
    pq.write_table(pa.table({"a": np.arange(rows), "b": np.arange(rows) % 3}), tmp_path / "t.parquet")
    with within("256MiB"):
        engine = DuckDB({"release": [tmp_path / "t.parquet"]})
        assert lone_rows(engine, ["a", "b"], rows) == rows
