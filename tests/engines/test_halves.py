"""Two halves counted by a filter are those that grouping counts."""

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from scumble.engines.duckdb.connection import connect
from scumble.engines.duckdb.halves import with_halves

DRAW = np.random.default_rng(7)
ROWS = 500


def words(*values: str | None) -> pa.Array:
    return pa.array(values).take(pa.array(DRAW.integers(0, len(values), ROWS)))


TABLE = pa.table(
    {
        "sex": words("F", "M", None),
        "n": DRAW.integers(0, 4, ROWS),
        "m": words("a", "b", None),
        "c": DRAW.integers(0, 3, ROWS),
        "halves": DRAW.random(ROWS),
    }
)
CASE = "CASE WHEN {} THEN 1 ELSE 0 END AS c"
CONDITIONS = [
    "m = 'a'",
    "m IN ('a', 'b')",
    "m IS NULL",
    "n > 1",
    "c = 1 AND n = 1",
    "halves < 0.01",
    "n > 99",
    "n < 99",
]
GROUPS = [[], ["sex"], ["sex", "n"], ["m", "c"], ["n % 2"]]


def statement(condition: str, groups: list[str], where: str = "") -> exp.Query:
    named = [f"{group} AS g{place}" for place, group in enumerate(groups)]
    places = ", ".join(str(place + 1) for place in range(len(groups) + 1))
    text = (
        f"SELECT {', '.join([*named, CASE.format(condition), 'COUNT(*) AS n'])} FROM release {where} GROUP BY {places}"
    )
    parsed = sqlglot.parse_one(text, dialect="duckdb")
    assert isinstance(parsed, exp.Query)
    return parsed


def lines(asked: exp.Query, table: pa.Table = TABLE) -> list[tuple[object, ...]]:
    with connect() as connection:
        connection.register("release", table)
        return sorted(connection.sql(asked.sql("duckdb")).fetchall(), key=repr)


@pytest.mark.parametrize("groups", GROUPS, ids=str)
def test_counts_are_those_of_groups(groups: list[str]) -> None:
    """Also where columns have the names that the statement gives."""
    for condition in CONDITIONS:
        asked = statement(condition, groups, "WHERE halves > 0.001")
        halves = with_halves(asked)
        assert halves is not asked
        assert lines(halves) == lines(asked), condition


@pytest.mark.parametrize("groups", GROUPS[:2], ids=str)
def test_no_rows_have_no_halves(groups: list[str]) -> None:
    asked = with_halves(statement("n > 1", groups))
    assert lines(asked, TABLE.slice(0, 0)) == []


@pytest.mark.parametrize(
    "text",
    [
        "SELECT n FROM release",
        "SELECT sex AS g0, COUNT(*) AS n FROM release GROUP BY 1",
        "SELECT CASE WHEN n > 1 THEN 1 WHEN n > 0 THEN 2 ELSE 0 END AS c, COUNT(*) AS n FROM release GROUP BY 1",
        "SELECT CASE WHEN n > 1 THEN 2 ELSE 0 END AS c, COUNT(*) AS n FROM release GROUP BY 1",
        "SELECT CASE WHEN n > 1 THEN 1 END AS c, COUNT(*) AS n FROM release GROUP BY 1",
        "SELECT CASE n WHEN 1 THEN 1 ELSE 0 END AS c, COUNT(*) AS n FROM release GROUP BY 1",
        "SELECT CASE WHEN n > 1 THEN 1 ELSE 0 END AS c, SUM(n) AS n FROM release GROUP BY 1",
        "SELECT CASE WHEN n > 1 THEN 1 ELSE 0 END AS c, COUNT(DISTINCT n) AS n FROM release GROUP BY 1",
        "SELECT sex AS y0, CASE WHEN n > 1 THEN 1 ELSE 0 END AS c, COUNT(*) AS n FROM release GROUP BY 1, 2",
        "SELECT 1 AS c, 2 AS n UNION ALL SELECT 3, 4",
    ],
)
def test_any_other_statement_stays_as_it_is(text: str) -> None:
    asked = sqlglot.parse_one(text, dialect="duckdb")
    assert isinstance(asked, exp.Query)
    assert with_halves(asked) is asked
