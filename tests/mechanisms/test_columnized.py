"""Columnized releases: the schema, who stays in which column, transactions that stay sparse, what is refused."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

import scumble
from scumble.core.errors import NotEstimable, ParameterError, ReleaseError, SchemaError
from scumble.forms.tuples.record import Practical, TuplesRecord
from scumble.release.verify import verify

DOMAINS = {"a": [0, 1, 2, 3], "b": [0, 1, 2, 3], "c": ["x", "y"], "d": ["x", "y"]}
SCHEMA = [["a", "c"], ["b", "d"]]


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    """a = b and c = d, otherwise independent."""
    draw = np.random.default_rng(3)
    a, c = draw.integers(0, 4, 12_000), draw.choice(["x", "y"], 12_000)
    return pa.table({"a": a, "b": a, "c": c, "d": c})


@pytest.fixture(scope="module")
def ratings() -> pa.Table:
    """2,000 users; users of taste t rated items 10t, 10t + 1 and sometimes 10t + 2."""
    draw = np.random.default_rng(4)
    lines = []
    for user in range(2000):
        taste = int(draw.integers(0, 3))
        seen = 3 if draw.random() < 0.3 else 2
        lines += [(f"user {user}", 10 * taste + item, int(draw.integers(4, 6)), f"day {user}") for item in range(seen)]
    users, items, values, days = zip(*(lines[i] for i in draw.permutation(len(lines))), strict=True)
    return pa.table(
        {"who": users, "movie": pa.array(items, pa.int32()), "stars": pa.array(values, pa.int8()), "day": days}
    )


def publish(table: pa.Table, settings: dict[str, Any], **changes: Any) -> scumble.Release:
    given = {"mechanism": "columnized", "epsilon": 2, "seed": 1}
    return publish_openly(table, settings={"k": 10, "delta": 1e-5, **settings}, **{**given, **changes})


def transactions(table: pa.Table, settings: dict[str, Any], **changes: Any) -> scumble.Release:
    roles = {"user": "who", "item": "movie", "value": "stars"}
    return publish(table, {**roles, **settings}, **{"drop": ["who", "day"], **changes})


@pytest.mark.slow
def test_each_column_is_a_table_of_its_attributes(rows: pa.Table) -> None:
    release = publish(rows, {"schema": SCHEMA})
    record = release.manifest.form
    assert isinstance(record, TuplesRecord)
    assert record.schema_ is not None
    assert record.counting == Practical(k=record.k or 0, epsilon=1.0, delta=5e-6)
    assert record.schema_.c_star == 2
    for table, names in zip(record.tables, SCHEMA, strict=True):
        assert release.table(table.name).column_names == names
    assert all(check.passed for check in verify(release))
    with pytest.raises(ReleaseError, match="several tables; name one of column-01, column-02"):
        release.table()


@pytest.mark.slow
def test_a_row_stays_in_c_star_columns_at_random(rows: pa.Table) -> None:
    """12,000 rows, one of two columns each: 6,000 +- 6 standard deviations (55), and noise on 8 tuples."""
    release = publish(rows, {"schema": SCHEMA, "c_star": 1})
    sizes = [len(release.table(name)) for name in ("column-01", "column-02")]
    assert all(abs(size - 6000) < 6 * 55 + 100 for size in sizes)
    assert abs(sum(sizes) - 12_000) < 16 * 20


@pytest.mark.slow
def test_rows_without_any_value_in_a_column_are_not_published() -> None:
    table = pa.table({"a": pa.array([None] * 600 + [1] * 400), "b": ["x"] * 1000})
    release = publish(table, {"schema": [["a"], ["b"]]})
    assert set(release.table("column-01")["a"].to_pylist()) == {1}


@pytest.mark.slow
def test_questions_go_to_the_column_that_has_them(rows: pa.Table) -> None:
    release = publish(rows, {"schema": [*SCHEMA, ["a", "b"]], "total": 12_000})
    answer = release.query("SELECT c, COUNT(*) AS n FROM release WHERE a < 2 GROUP BY c")
    truth = {"x": 0, "y": 0}
    for a, c in zip(rows["a"].to_pylist(), rows["c"].to_pylist(), strict=True):
        truth[c] += a < 2
    for row in answer.to_list():
        assert abs(row["n"] - truth[row["c"]]) < 6 * row["n_se"]
        assert row["n_bound"] >= row["n_low"]
    assert answer.notes[0] == "answered from column-01: a, c"
    with pytest.raises(NotEstimable, match=r"'a' is in column-01 \(a, c\) and column-03 \(a, b\); 'd' is in column-02"):
        release.query("SELECT a, COUNT(*) AS n FROM release WHERE d = 'x' GROUP BY a")


@pytest.mark.slow
def test_a_schema_under_a_budget_finds_the_pairs(rows: pa.Table) -> None:
    release = publish(rows, {"columns": 2, "schema_share": 0.25}, sensitive=list(DOMAINS), domains=DOMAINS, epsilon=4)
    record = release.manifest.form
    assert isinstance(record, TuplesRecord)
    assert record.schema_ is not None
    assert sorted(sorted(t.attributes) for t in record.tables) == [["a", "b"], ["c", "d"]]
    assert record.schema_.schema_from == "budget"
    assert isinstance(record.counting, Practical)
    assert record.counting.epsilon == 4 * 0.75 / 2
    parameters = release.manifest.guarantees[0].parameters
    assert (parameters["beside"], parameters["total_epsilon"]) == (1.0, 4.0)
    assert "noise for epsilon = 1" in release.manifest.guarantees[0].conditions[-1]
    assert all(check.passed for check in verify(release))


def test_transactions_are_published_as_transactions(ratings: pa.Table) -> None:
    schema = [[0, 1, 2], [10, 11], [20, 21, 22]]
    release = transactions(ratings, {"schema": schema, "c_star": 1})
    table = release.table("column-02")
    assert table.column_names == ["who", "movie", "stars", "pattern"]
    assert set(table["movie"].to_pylist()) == {10, 11}
    users = table.group_by("who").aggregate([("movie", "count")])["movie_count"].to_pylist()
    assert set(users) == {2}
    assert min(table.group_by("pattern").aggregate([("who", "count_distinct")])["who_count_distinct"].to_pylist()) >= 10
    assert "user 1" not in str(table.to_pylist())
    assert all(check.passed for check in verify(release))


def test_counts_of_transactions_come_back(ratings: pa.Table) -> None:
    release = transactions(ratings, {"schema": [[0, 1, 2], [10, 11, 12], [20, 21, 22]], "c_star": 1})
    truth = ratings.group_by(["movie", "stars"]).aggregate([([], "count_all")]).to_pylist()
    expected = {(r["movie"], r["stars"]): r["count_all"] for r in truth}
    answer = release.query("SELECT movie, stars, COUNT(*) AS n FROM release GROUP BY movie, stars").to_list()
    for row in answer:
        assert row["n"] < expected[row["movie"], row["stars"]] + 6 * row["n_se"]
    assert sum(r["n"] for r in answer if r["movie"] == 0) > 0.9 * sum(n for (m, _), n in expected.items() if m == 0)
    with pytest.raises(NotEstimable, match="numbers published copies anew"):
        release.query("SELECT COUNT(*) AS n FROM release WHERE who = 3")


@pytest.mark.slow
def test_an_item_in_two_columns_is_counted_once(ratings: pa.Table) -> None:
    once = transactions(ratings, {"schema": [[0, 1, 2], [10, 11]], "c_star": 1, "k": 10}, epsilon=8)
    twice = transactions(ratings, {"schema": [[0, 1, 2], [0, 1]], "c_star": 2}, epsilon=16)
    asked = "SELECT COUNT(*) AS n FROM release WHERE movie = 0"
    one, two = (release.query(asked).to_list()[0] for release in (once, twice))
    assert abs(one["n"] - two["n"]) < 6 * (one["n_se"] + two["n_se"])


def test_a_schema_of_items_under_a_budget(ratings: pa.Table) -> None:
    items = [0, 1, 10, 11, 20, 21]
    release = transactions(
        ratings,
        {"columns": 3, "schema_share": 0.5, "schema_ratings": 2, "items": items, "c_star": 1, "k": 5, "delta": 1e-3},
        epsilon=4,
    )
    record = release.manifest.form
    assert sorted(sorted(t.attributes) for t in record.tables) == [[0, 1], [10, 11], [20, 21]]


@pytest.mark.parametrize(
    ("settings", "error", "match"),
    [
        ({"schema": [["a", "c"], ["b", "e"]]}, SchemaError, "column 2 of the schema names 'e', which is not published"),
        ({"schema": [["a", "a"]]}, SchemaError, "names an attribute twice"),
        ({"schema": [[]]}, ParameterError, "each column an attribute"),
        ({}, ParameterError, "give the schema, or the number of columns"),
        ({"columns": 2}, ParameterError, "say which share of epsilon"),
        ({"columns": 2, "schema_share": 0.2}, SchemaError, "'a' has no declared values"),
        ({"columns": 2, "schema_share": 1.5}, SchemaError, "no declared values"),
        ({"schema": SCHEMA, "c_star": 0}, ParameterError, "c_star"),
        ({"schema": SCHEMA, "k": 0}, ParameterError, "k is the size of a crowd"),
        ({"schema": SCHEMA, "delta": 2}, ParameterError, "delta must lie strictly between 0 and 1"),
        ({"schema": SCHEMA, "total": 5}, ParameterError, "the table has 12,000"),
        ({"schema": SCHEMA, "user": "a"}, ParameterError, "have a user and an item"),
    ],
)
def test_bad_settings_are_refused(rows: pa.Table, settings: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        publish(rows, settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "changes", "match"),
    [
        ({"schema": [["zero"]]}, {}, "items are of type int32"),
        ({"schema": [[0, 0]]}, {}, "lists an item twice"),
        ({"schema": [[0]]}, {"drop": ["who"]}, "drop 'day'"),
        ({"schema": [[0]], "item": "film"}, {}, "the item column 'film' is not in the table"),
        ({"columns": 2, "schema_share": 0.2}, {}, "list them in the setting items"),
    ],
)
def test_bad_transactions_are_refused(
    ratings: pa.Table, settings: dict[str, Any], changes: dict[str, Any], match: str
) -> None:
    with pytest.raises(SchemaError, match=match):
        transactions(ratings, settings, **changes)
