"""An aggregate is one file and one line: a toy one answers in every form that sums, by every method."""

from collections.abc import Callable

import pyarrow as pa
import pytest
from sqlglot import exp
from toys.aggregate import COUNT_IF

import scumble
from scumble.core.errors import QueryError
from scumble.query.aggregates import AGGREGATES


@pytest.fixture
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(AGGREGATES, exp.CountIf, COUNT_IF)


def test_what_is_not_registered_is_refused(release: scumble.Release) -> None:
    with pytest.raises(QueryError, match=r"MODE.* cannot be answered"):
        release.query("SELECT MODE(age) FROM release")


@pytest.mark.usefixtures("_registered")
def test_a_toy_aggregate_is_answered_from_rows(release: scumble.Release, patients: pa.Table) -> None:
    plain = "SELECT sex, SUM(CASE WHEN age > 30 THEN 1 ELSE 0 END) AS count_if_age FROM release{} GROUP BY sex"
    toy = "SELECT sex, COUNT_IF(age > 30) FROM release{} GROUP BY sex"
    for where in ("", " WHERE disease = 'flu'"):
        assert release.query(toy.format(where)).to_list() == release.query(plain.format(where)).to_list()
    true = sum(age > 30 for age in patients["age"].to_pylist())
    assert sum(release.query(toy.format(""))["count_if_age"].value) == true


@pytest.mark.usefixtures("_registered")
def test_a_toy_aggregate_is_answered_from_counted_tuples(publish_simply: Callable[..., scumble.Release]) -> None:
    kept = ["name", "age", "cost", "smoker"]
    release = publish_simply(mechanism="k_dgs", drop=kept, sensitive=None, domains=None, retain=None, settings={"k": 2})
    toy, plain = (
        release.query(f"SELECT {asked} AS n FROM release") for asked in ("COUNT_IF(visits > 3)", "SUM(visits > 3)")
    )
    assert toy["n"].value[0] == plain["n"].value[0] > 0
