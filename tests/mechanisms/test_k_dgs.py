"""Deterministic generalization and suppression, from table to answer."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from forged import FOLLOWING
from naming import publish_openly

import scumble
from scumble.core.errors import ParameterError, SchemaError
from scumble.release.verify import verify

DOMAINS = {"age": {"low": 0, "high": 99}, "sex": ["F", "M"]}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    draw = np.random.default_rng(3)
    n = 4000
    return pa.table(
        {
            "age": draw.integers(0, 100, n),
            "sex": draw.choice(["F", "M"], n),
            "zip": draw.choice(["90210", "90211", "10001", "10002"], n, p=[0.5, 0.4, 0.0975, 0.0025]),
        }
    )


def publish(table: pa.Table, k: int = 20, **more: Any) -> scumble.Release:
    settings = {"k": k, **more.pop("settings", {})}
    return publish_openly(table, mechanism="k_dgs", settings=settings, seed=1, **more)


def test_what_is_published_is_what_occurs_k_times(people: pa.Table) -> None:
    release = publish(people, coarsen={"age": {"bins": 20}, "zip": {"prefix": 3}})
    raw = Counter(
        (20 * (age // 20), sex, code[:3])
        for age, sex, code in zip(*(people[n].to_pylist() for n in people.column_names), strict=True)
    )
    table = release.table()
    assert table.column_names == people.column_names
    assert Counter(zip(*(table[n].to_pylist() for n in table.column_names), strict=True)) == {
        t: n for t, n in raw.items() if n >= 20
    }


def test_groups_and_hierarchy_give_the_same_recoding(people: pa.Table, tmp_path: Path) -> None:
    """A hierarchy in a CSV file and the groups that it makes; the manifest has the groups, and no path."""
    file = tmp_path / "zip.csv"
    file.write_text("90210;902**;*\n90211;902**;*\n10001;100**;*\n10002;100**;*\n")
    groups = {"902**": ["90210", "90211"], "100**": ["10001", "10002"]}
    one = publish(people, coarsen={"age": {"bins": 50}, "zip": {"hierarchy": str(file)}})
    other = publish(people, coarsen={"age": {"bins": 50}, "zip": {"groups": groups}})
    assert one.table().equals(other.table())
    assert one.manifest.column("zip") == other.manifest.column("zip")
    assert str(tmp_path) not in one.manifest.text()


def test_a_spec_finds_its_hierarchy_beside_it(people: pa.Table, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(people, tmp_path / "people.parquet")
    (tmp_path / "zip.csv").write_text("90210,9,*\n90211,9,*\n10001,1,*\n10002,1,*\n")
    (tmp_path / "people.toml").write_text(
        'table = "people.parquet"\nmechanism = "k_dgs"\n[settings]\nk = 30\n[columns.age]\nrole = "public"\ncoarsen = { bins = 50 }\n'
        '[columns.sex]\nrole = "public"\n[columns.zip]\nrole = "public"\ncoarsen = { hierarchy = "zip.csv", level = 2 }\n'
    )
    release = scumble.publish(tmp_path / "people.toml", tmp_path / "r")
    assert set(release.table()["zip"].to_pylist()) == {"*"}
    assert release.manifest.rows == 4000


def test_the_answer_is_exact_for_what_is_published_and_a_bound_for_what_is_not(people: pa.Table) -> None:
    release = publish(people, k=60, coarsen={"age": {"bins": 20}}, settings={"total": 4000})
    (row,) = release.query("SELECT COUNT(*) AS n FROM release WHERE zip = '10001'").to_list()
    raw = sum(code == "10001" for code in people["zip"].to_pylist())
    published = sum(code == "10001" for code in release.table()["zip"].to_pylist())
    assert row["n"] == row["n_low"] == published < raw <= row["n_high"] == row["n_bound"]
    others = sum(code != "10001" for code in release.table()["zip"].to_pylist())
    assert row["n_bound"] == 4000 - others


def test_without_a_public_total_there_is_no_bound(people: pa.Table) -> None:
    answer = publish(people, coarsen={"age": {"bins": 20}}).query("SELECT COUNT(*) AS n FROM release")
    assert "n_bound" not in answer.to_arrow().column_names
    assert "not known" in answer.notes[-1]
    assert answer.to_list()[0]["n_high"] is None


def test_boxes_hold_k_rows_and_every_row(people: pa.Table) -> None:
    release = publish(
        people.drop_columns("zip"),
        k=50,
        sensitive=["age", "sex"],
        domains=DOMAINS,
        settings={"method": "midpoints"},
    )
    counts = Counter(zip(*(release.table()[n].to_pylist() for n in ("age", "sex")), strict=True))
    assert sum(counts.values()) == 4000
    assert min(counts.values()) >= 50
    assert len(counts) > 20
    assert release.query("SELECT COUNT(*) AS n FROM release")["n"].high[0] == 4000
    assert all(check.passed for check in verify(release))


def test_a_small_list_does_not_stop_the_others_from_splitting() -> None:
    """Two sexes are told apart at once; afterwards it is the ages' turn, down to single years."""
    table = pa.table({"sex": ["F", "M"] * 800, "age": np.repeat(np.arange(8), 200)})
    release = publish(
        table,
        k=50,
        sensitive=["sex", "age"],
        domains={"sex": ["F", "M"], "age": {"low": 0, "high": 7}},
        settings={"method": "midpoints"},
    )
    assert set(release.table()["age"].to_pylist()) == {str(age) for age in range(8)}


def test_verify_finds_a_crowd_that_is_too_small(people: pa.Table) -> None:
    from scumble.forms.tuples.record import Exact
    from scumble.release.release import Release

    release = publish(people, coarsen={"age": {"bins": 20}})
    form = release.manifest.form.model_copy(update={"counting": Exact(k=4000)})
    forged = release.manifest.model_copy(update={"form": form})
    failed = {check.name for check in verify(Release(release.path, forged)) if not check.passed}
    assert failed == {"crowds", "guarantee", *FOLLOWING}


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"settings": {"k": 0}}, ParameterError, "size of a crowd and must be at least 1, not 0"),
        ({"settings": {"k": 5, "kk": 1}}, ParameterError, "'kk' is not a known setting"),
        ({"settings": {}}, ParameterError, "'k' is missing"),
        ({"epsilon": 1}, ParameterError, "has no epsilon"),
        ({"settings": {"k": 5, "total": 3999}}, ParameterError, "3,999 tuples, and the table has 4,000"),
        ({"coarsen": {"zip": {"hierarchy": "nowhere.csv"}}}, SchemaError, "no hierarchy that can be read"),
        ({"settings": {"k": 5, "method": "midpoints"}}, SchemaError, "'age' has none"),
        ({"key": b"x" * 32, "id": "zip"}, ParameterError, "coins by key are for"),
    ],
)
def test_bad_input_is_refused_by_name(
    people: pa.Table, changes: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        publish_openly(people, **{"mechanism": "k_dgs", "settings": {"k": 5}, "seed": 1, **changes})


def test_a_row_that_groups_have_no_place_for_is_left_out(people: pa.Table) -> None:
    """A refusal would tell that it is there."""
    release = publish(
        people, coarsen={"age": {"bins": 50}, "zip": {"groups": {"west": ["90210", "90211"], "east": ["10001"]}}}
    )
    assert set(release.table()["zip"].to_pylist()) == {"west", "east"}
    assert release.manifest.rows == 4000 - people["zip"].to_pylist().count("10002")
