"""Tables of several owners: rows below each other, or columns beside each other."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

import scumble
from scumble.core.errors import ReleaseError

Publish = Callable[..., scumble.Release]
SQL = "SELECT sex, disease, COUNT(*) AS n, AVG(cost) AS c FROM release WHERE age > 20 GROUP BY sex, disease"


def test_stacked_releases_answer_like_one(publish_simply: Publish, patients: pa.Table, tmp_path: Path) -> None:
    """Sums of weights add up, so counts and variances of the parts are those of the whole."""
    one = publish_simply(table=patients.slice(0, 1200), out=tmp_path / "a", seed=1)
    two = publish_simply(table=patients.slice(1200), out=tmp_path / "b", seed=2)
    both = scumble.open(tmp_path / "a", tmp_path / "b")
    assert both.manifest.rows == 3000
    answer = both.query(SQL)["n"]
    assert np.allclose(answer.value, one.query(SQL)["n"].value + two.query(SQL)["n"].value)
    assert np.allclose(answer.se**2, one.query(SQL)["n"].se ** 2 + two.query(SQL)["n"].se ** 2)


@pytest.mark.parametrize(
    "changes",
    [
        {"retain": 0.4},
        {"domains": {"disease": ["cold", "flu", "asthma", "diabetes", "hiv"]}},
        {"coarsen": {"age": {"bins": 5}}},
        {"drop": ["name", "cost"]},
    ],
)
def test_releases_of_different_specs_are_not_asked_together(
    changes: dict[str, object], publish_simply: Publish, tmp_path: Path
) -> None:
    publish_simply(out=tmp_path / "a")
    publish_simply(out=tmp_path / "b", **changes)
    with pytest.raises(ReleaseError, match="different specs"):
        scumble.open(tmp_path / "a", tmp_path / "b")


def test_mechanisms_that_depend_on_all_rows_are_not_stacked(publish_simply: Publish, tmp_path: Path) -> None:
    for name in "ab":
        publish_simply(out=tmp_path / name, mechanism="swapped")
    with pytest.raises(ReleaseError, match="cannot be asked together"):
        scumble.open(tmp_path / "a", tmp_path / "b")


def columns_of_two_owners(patients: pa.Table, folder: Path) -> tuple[Path, Path]:
    row = pa.array(np.random.default_rng(3).permutation(3000))
    left = patients.select(["sex", "disease"]).append_column("row", row)
    right = patients.select(["cost", "smoker"]).append_column("row", row)
    order = pa.array(np.random.default_rng(4).permutation(3000))
    domains = {"disease": ["flu", "cold", "asthma", "diabetes", "hiv"]}
    clinic = {"sensitive": "disease", "public": ["sex", "row"], "domains": domains, "retain": 0.5, "seed": 1}
    insurer = {"sensitive": "smoker", "public": ["cost", "row"], "domains": {"smoker": [False, True]}, "retain": 0.6}
    publish_openly(left, folder / "clinic", **clinic)
    publish_openly(right.take(order), folder / "insurer", seed=2, **insurer)
    return folder / "clinic", folder / "insurer"


def test_joined_releases_answer_across_owners(patients: pa.Table, tmp_path: Path) -> None:
    both = scumble.open(*columns_of_two_owners(patients, tmp_path), on="row")
    answer = both.query(
        "SELECT sex, COUNT(*) AS n, AVG(cost) AS c FROM release WHERE disease = 'flu' AND NOT smoker GROUP BY sex"
    )
    frame = patients.to_pandas()
    frame = frame[(frame.disease == "flu") & ~frame.smoker].groupby("sex").cost.agg(["size", "mean"])
    assert (np.abs(answer["n"].value - frame["size"]) < 5 * answer["n"].se).all()
    assert (np.abs(answer["c"].value - frame["mean"]) < 5 * answer["c"].se).all()


def test_rows_that_do_not_pair_are_refused(patients: pa.Table, tmp_path: Path) -> None:
    clinic, insurer = columns_of_two_owners(patients, tmp_path)
    with pytest.raises(ReleaseError, match="no public column 'id'"):
        scumble.open(clinic, insurer, on="id")
    with pytest.raises(ReleaseError, match="in two of the releases"):
        scumble.open(clinic, clinic, on="row")
    short = patients.select(["visits"]).slice(0, 2000).append_column("row", pa.array(np.arange(2000)))
    visits = {"sensitive": "visits", "public": "row", "domains": {"visits": {"low": 0, "high": 10}}, "retain": 0.5}
    publish_openly(short, tmp_path / "short", **visits)
    with pytest.raises(ReleaseError, match="one to one"):
        scumble.open(clinic, tmp_path / "short", on="row")
