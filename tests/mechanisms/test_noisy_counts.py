"""Noisy counts from table to answer: what is published, what is guaranteed, what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forged import FOLLOWING, restated
from naming import publish_openly

import scumble
from scumble.core.errors import ParameterError, SchemaError
from scumble.mechanisms.counted_terms import check_full
from scumble.mechanisms.noisy_count_matrix import ClampedCounts
from scumble.release.verify import verify

DISEASES = ["flu", "cold", "hiv"]
DOMAINS = {"age": {"low": 0, "high": 9}, "disease": DISEASES}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    draw = np.random.default_rng(3)
    n = 8000
    return pa.table({"age": draw.integers(0, 10, n), "disease": draw.choice(DISEASES, n, p=[0.6, 0.399, 0.001])})


def publish(table: Any, **changes: Any) -> scumble.Release:
    given = {"mechanism": "noisy_counts", "epsilon": 1, "settings": {"k": 10, "delta": 1e-5}, "seed": 1}
    return publish_openly(table, **{**given, **changes})


def test_rows_are_tuples_that_occur_and_never_fewer_than_k(people: pa.Table) -> None:
    release = publish(people)
    table = release.table()
    assert (table.schema.names, table.schema.types) == (people.schema.names, people.schema.types)
    counts = table.group_by(["age", "disease"]).aggregate([([], "count_all")])["count_all"].to_numpy()
    assert len(counts) == 20, "8 people in 10 tuples with hiv are suppressed, the rest is published"
    assert counts.min() >= 10
    assert abs(release.manifest.rows - 8000) < 20 * 3 * 6


@pytest.mark.slow
def test_files_and_frames_and_csv_give_the_same_counts(people: pa.Table, tmp_path: Path) -> None:
    """The engine counts Parquet where it lies and everything else as it comes; the same seed gives the same release."""
    import pyarrow.csv

    pq.write_table(people, tmp_path / "p.parquet")
    pyarrow.csv.write_csv(people, tmp_path / "p.csv")
    tables = [publish(source).table() for source in (people, tmp_path / "p.parquet", tmp_path / "p.csv")]
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2].cast(tables[0].schema))


def test_missing_values_are_one_more_value() -> None:
    table = pa.table({"a": pa.array([1, None] * 500), "b": ["x"] * 1000})
    assert set(publish(table).table()["a"].to_pylist()) == {1, None}


@pytest.mark.slow
def test_columns_of_every_kind_keep_their_types(tmp_path: Path) -> None:
    """From memory and from a file: booleans, dates, timestamps, decimals, floats with NaN, categories, binary."""
    import datetime
    import decimal

    n = 300
    table = pa.table(
        {
            "b": [True, False, None] * (n // 3),
            "d": [datetime.date(2020, 1, 1)] * n,
            "t": pa.array([datetime.datetime(2020, 1, 1)] * n, pa.timestamp("ns")),
            "e": [decimal.Decimal("1.50")] * n,
            "f": [float("nan"), 1.5, float("nan")] * (n // 3),
            "c": pa.array(["x"] * n).dictionary_encode(),
            "y": pa.array([b"x"] * n),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet"):
        published = publish(source, epsilon=5).table()
        assert 200 < len(published) < 400
        plain = [pa.string() if field.name == "c" else field.type for field in table.schema]
        assert published.schema.types == plain
    with pytest.raises(SchemaError, match="cannot be public"):
        publish(pa.table({"l": [[1], [2]]}))


@pytest.mark.slow
def test_a_table_of_rare_tuples_is_published_empty() -> None:
    release = publish(pa.table({"a": np.arange(500)}))
    assert release.manifest.rows == 0
    assert release.query("SELECT COUNT(*) AS n FROM release").to_list() == [
        {"n": 0.0, "n_se": 0.0, "n_low": 0.0, "n_high": 0.0}
    ]
    assert all(check.passed for check in verify(release))


@pytest.mark.slow
def test_the_full_matrix_counts_every_tuple_of_the_domain(people: pa.Table) -> None:
    release = publish(
        people,
        sensitive=["age", "disease"],
        domains={"age": {"low": 0, "high": 999}, "disease": DISEASES},
        settings={"matrix": "full"},
    )
    ages = set(release.table()["age"].to_pylist())
    assert len(ages) > 500, "tuples that nobody has are published too"
    (row,) = release.query("SELECT COUNT(*) AS n FROM release WHERE age >= 10").to_list()
    assert row["n_low"] <= 0 <= row["n_high"]
    assert release.manifest.guarantees[0].kind == "full_counts"


def test_guarantees_are_recomputed_and_a_weaker_matrix_is_found(people: pa.Table) -> None:
    release = publish(people)
    assert [g.kind for g in release.manifest.guarantees] == ["semantic_k", "noisy_counts"]
    assert all(check.passed for check in verify(release))
    weaker = restated(release, 1, total_epsilon=0.5)
    assert {c.name for c in verify(weaker) if not c.passed} == {"guarantee", *FOLLOWING}


def test_the_check_of_the_full_matrix_can_fail() -> None:
    assert check_full(ClampedCounts(0, 0.5)).holds
    wider = ClampedCounts(0, 0.5)
    cells = wider.probabilities(np.arange(50)[:, None], np.arange(100))
    from scumble.privacy.anonymity import check_cells

    assert not check_cells(cells, 0, 0.499, 0.0, slack=1e-9).holds


def test_the_readme_tells_a_stranger_how_to_count(people: pa.Table) -> None:
    release = publish(people, settings={"k": 10, "delta": 1e-5, "total": 8000})
    text = (release.path / "README.md").read_text()
    r = np.exp(-0.5)
    assert repr(float(10 - r / (1 - r))) in text
    assert "at most 8,000 minus" in text


def test_other_methods_are_refused(people: pa.Table) -> None:
    with pytest.raises(ParameterError, match="by the method unbiased"):
        publish(people).query("SELECT COUNT(*) FROM release", method="likelihood")


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"settings": {"k": 0, "delta": 1e-5}}, ParameterError, "k is the size of a crowd"),
        ({"settings": {"k": 10, "delta": 1}}, ParameterError, "delta must lie strictly between 0 and 1, not 1"),
        ({"settings": {"k": 10, "delta": 1.5}}, ParameterError, "delta must lie strictly between 0 and 1"),
        ({"settings": {"k": 10}}, ParameterError, "needs delta in its settings"),
        ({"epsilon": None, "gamma": 3}, ParameterError, "is given by epsilon"),
        ({"epsilon": 0}, ParameterError, "epsilon must be above 0"),
        ({"settings": {"matrix": "full"}}, SchemaError, "'age' has none"),
        ({"settings": {"matrix": "full", "k": 3}}, ParameterError, "neither k nor delta"),
        (
            {
                "settings": {"matrix": "full"},
                "sensitive": ["age", "disease"],
                "domains": {"age": {"low": 0, "high": 9_999_998}, "disease": DISEASES},
            },
            ParameterError,
            "the declared domain has 29,999,997 tuples",
        ),
        ({"key": b"x" * 32, "id": "age"}, ParameterError, "coins by key are for"),
    ],
)
def test_bad_input_is_refused_by_name(
    people: pa.Table, changes: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        publish(people, **changes)


def test_a_row_outside_of_a_domain_is_left_out(people: pa.Table) -> None:
    """A refusal would tell that it is there."""
    release = publish(people, sensitive=["disease"], domains={"disease": ["flu", "cold"]})
    assert set(release.table()["disease"].to_pylist()) <= {"flu", "cold"}


def test_the_public_function_of_the_design() -> None:
    w, u = scumble.mechanisms.suppression(10, 1, 1e-5, 40)
    assert w[35] == pytest.approx(0.98, abs=5e-5)
    assert np.allclose(w + u, 1)


@pytest.mark.parametrize("epsilon", [0.001, 1, 2, 40, 700])
def test_the_full_matrix_is_checked_as_far_as_doubles_have_digits(epsilon: float) -> None:
    assert check_full(ClampedCounts.full(epsilon)).holds


def test_the_full_matrix_publishes_with_a_large_epsilon(people: pa.Table) -> None:
    release = publish(
        people, sensitive=["disease"], drop="age", domains={"disease": DISEASES}, epsilon=2, settings={"matrix": "full"}
    )
    assert release.manifest.guarantees[0].parameters == {"epsilon": 2.0}
