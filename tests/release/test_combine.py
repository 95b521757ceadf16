"""Tables of several owners: rows below each other, or columns beside each other."""

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from tables import DISEASES
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.errors import ReleaseError

Publish = Callable[..., scumble.Release]
SQL = "SELECT sex, disease, COUNT(*) AS n, AVG(cost) AS c FROM release WHERE age > 20 GROUP BY sex, disease"


@pytest.mark.slow
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


def two_of_epsilon_one(patients: pa.Table, folder: Path, **changes: Any) -> tuple[Path, Path]:
    """Disease and smoker of the same people, each at epsilon = 1."""
    row = pa.array(np.random.default_rng(3).permutation(3000))
    how: dict[str, Any] = {"public": "row", "epsilon": 1, "seed": 1, "persons": "one row each"} | changes
    domains: dict[str, Any] = {"disease": DISEASES, "smoker": [False, True]}
    for name in ("disease", "smoker"):
        table = patients.select([name]).append_column("row", row)
        publish_openly(table, folder / name, sensitive=name, domains={name: domains[name]}, **how)
    return folder / "disease", folder / "smoker"


def test_a_join_states_the_factor_of_the_whole(patients: pa.Table, tmp_path: Path) -> None:
    """Two releases of epsilon 1 joined on a row id: 2, derived from both channels, in exact arithmetic."""
    parts = two_of_epsilon_one(patients, tmp_path)
    both = scumble.open(*parts, on="row")
    (whole,) = [g for g in both.terms.guarantees if g.kind == "amplification"]
    gammas = [scumble.open(part).manifest.channels[part.name].amplification for part in parts]
    assert whole.columns == ["disease", "smoker"]
    assert whole.parameters["gamma"] == pytest.approx(math.prod(gammas), rel=1e-9)
    assert whole.parameters["epsilon"] == pytest.approx(2, rel=1e-6)
    assert whole.under("joined")
    assert "epsilon = 2)" in str(both)
    checks = scumble.verify(both)
    assert all(check.passed for check in checks)
    assert next(c.detail for c in checks if c.name == "guarantee") == whole.statement


def test_a_joined_manifest_cannot_claim_less(patients: pa.Table, tmp_path: Path) -> None:
    """What a part claims is not what the whole promises: a part with a doubt of its own is named."""
    one, two = two_of_epsilon_one(patients, tmp_path)
    both = scumble.open(one, two, on="row")
    assert both.manifest.guarantees[0].parameters["epsilon"] == pytest.approx(2, rel=1e-6)
    assert not both.doubts


@pytest.mark.slow
def test_commands_show_the_whole(patients: pa.Table, tmp_path: Path) -> None:
    one, two = (str(path) for path in two_of_epsilon_one(patients, tmp_path))
    run = CliRunner()
    shown = run.invoke(app, ["show", one, two, "--on", "row"])
    assert "epsilon = 2" in " ".join(shown.output.split())
    checked = run.invoke(app, ["verify", one, two, "--on", "row"])
    assert "guarantee: Seeing the published disease and smoker of a row" in checked.output
    assert run.invoke(app, ["show", one, two]).exit_code != 0


def owners(patients: pa.Table, folder: Path, retain: tuple[Any, Any], seed: int = 1) -> scumble.Release:
    how: dict[str, Any] = {"sensitive": "disease", "public": ["sex", "cost"], "domains": {"disease": DISEASES}}
    how["drop"] = [name for name in patients.column_names if name not in ("sex", "cost", "disease")]
    half = patients.num_rows // 3
    for i, part in enumerate((patients.slice(0, half), patients.slice(half))):
        scumble.publish(part, folder / f"{seed}-{i}", retain=retain[i], seed=2 * seed + i, **how)
    return scumble.open(folder / f"{seed}-0", folder / f"{seed}-1")


def test_owners_with_another_retention_are_stacked_each_with_its_own_channel(
    patients: pa.Table, tmp_path: Path
) -> None:
    """At retention 1 all answers are the truth, up to coins that are one in a million; the weaker promise is that of all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = owners(patients, tmp_path, (1, 1 - 2e-6))
    assert len(both.strata) == 2
    sql = "SELECT sex, disease, COUNT(*) AS n, AVG(cost) AS c FROM release GROUP BY sex, disease"
    answer = both.query(sql)
    truth = patients.to_pandas().groupby(["sex", "disease"]).cost.agg(["size", "mean"])
    for row in answer:
        assert row["n"] == pytest.approx(truth.loc[row["sex"], row["disease"]]["size"], abs=0.1)
        assert row["c"] == pytest.approx(truth.loc[row["sex"], row["disease"]]["mean"], rel=1e-3)


def test_the_weakest_promise_is_that_of_a_stack(patients: pa.Table, tmp_path: Path) -> None:
    both = owners(patients, tmp_path, (0.3, 0.6))
    (whole,) = [g for g in both.terms.guarantees if g.kind == "amplification"]
    assert whole.parameters["gamma"] == pytest.approx(1 + 0.6 * 5 / 0.4, rel=1e-6)
    assert whole.under("one_owner")
    clause = next(c for c in whole.conditions if c.code == "one_owner")
    assert clause.parameters["gamma"] == pytest.approx((1 + 0.6 * 5 / 0.4) * (1 + 0.3 * 5 / 0.7), rel=1e-6)
    assert all(check.passed for check in scumble.verify(both))


@pytest.mark.slow
def test_stacked_answers_cover_the_truth(patients: pa.Table, tmp_path: Path) -> None:
    """150 publications of 600 rows at retentions 0.3 and 0.7: a 95% interval holds the truth in Bin(150, 0.95), 127 or more but for 1e-5.
    With one channel for all rows, that of the first owner, as wide an interval holds it in fewer than half of them."""
    some = patients.slice(0, 600)
    truth = sum(value == "flu" for value in some["disease"].to_pylist())
    held = wrongly = 0
    for seed in range(150):
        both = owners(some, tmp_path, (0.3, 0.7), seed + 1)
        answer = both.query("SELECT COUNT(*) AS n FROM release WHERE disease = 'flu'").to_list()[0]
        held += answer["n_low"] <= truth <= answer["n_high"]
        published = both.table()["disease"].to_pylist().count("flu")
        wrongly += abs((published - 600 * 0.7 / 5) / 0.3 - truth) <= 2 * answer["n_se"]
    assert 127 <= held <= 150
    assert wrongly < 75
