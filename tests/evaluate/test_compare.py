"""Mechanisms compared: equal where they are called equal, never elsewhere, and the same whatever the number of processes."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from naming import publish_openly
from tables import DISEASES
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.channel import Channel
from scumble.core.errors import ParameterError
from scumble.evaluate import Workload, compare
from scumble.evaluate.attacker import Attacker, met
from scumble.evaluate.settings import Setter, known, levels_of
from scumble.evaluate.specified_table import SpecifiedTable
from scumble.spec.spec import Spec
from scumble.truth import Truth

pytestmark = pytest.mark.slow

SHARES = np.array([0.4, 0.3, 0.15, 0.1, 0.05])


def spec_of(sensitive: dict[str, object], public: list[str], **target: object) -> Spec:
    columns = {name: {"role": "sensitive", **how} for name, how in sensitive.items()}  # type: ignore[dict-item]
    return Spec.model_validate({"privacy": target, "columns": columns | {name: {"role": "public"} for name in public}})


@pytest.fixture(scope="module")
def one(patients: pa.Table) -> SpecifiedTable:
    table = patients.select(["sex", "visits", "disease"])
    return SpecifiedTable.of(table, spec_of({"disease": {"values": DISEASES}}, ["sex", "visits"], rho2="0.6"))


@pytest.fixture(scope="module")
def two(patients: pa.Table) -> SpecifiedTable:
    """Two sensitive columns that have to do with each other."""
    sick = pa.array(["ill" if d in ("flu", "hiv") else "well" for d in patients.column("disease").to_pylist()])
    table = patients.select(["sex", "disease"]).append_column("state", sick)
    sensitive: dict[str, object] = {"disease": {"values": DISEASES}, "state": {"values": ["ill", "well"]}}
    return SpecifiedTable.of(table, spec_of(sensitive, ["sex"], gamma=2))


def setter_of(subject: SpecifiedTable) -> Setter:
    return Setter(subject.spec, subject.profile, Attacker.of(subject.truth))


ELSEWHERE = {"frapp", "mixture", "mixture for sums", "mixture for ranges", "marginals"}
"""What one column of words, beside columns without declared values, cannot be published by."""


@pytest.mark.parametrize("level", [0.45, 0.6, 0.8])
def test_what_is_called_equal_has_the_posterior_that_was_asked_for(one: SpecifiedTable, level: float) -> None:
    """All posteriors within the level, and those that can reach it do: within 1% (swapping has a term in 1/n; a bound on gamma may bind first)."""
    setter = setter_of(one)
    for name in filter(levels_of().__contains__, known()):
        if name in ELSEWHERE or (name == "anatomy" and level < 0.5):
            continue
        found = setter.at(name, level).beliefs.posterior
        assert found <= level * (1 + 1e-9), name
        if name not in ("anatomy", "fine_grain", "perturbed_generalization", "shaped, gamma = 5"):
            assert found > 0.99 * level, name


def test_the_posterior_of_one_column_is_bayes_rule(one: SpecifiedTable) -> None:
    """Against the whole matrix of posteriors, and the guess against its own definition."""
    setter = setter_of(one)
    for name in ("uniform", "fine_grain"):
        setting = setter.at(name, 0.6)
        channel = setter.plan(setting.spec).channels[0]["disease"]
        f = one.truth.counts("disease") / one.truth.rows
        assert setting.beliefs.posterior == pytest.approx(scumble.privacy.posteriors(channel, f).max())
        assert setting.beliefs.guess == pytest.approx((channel.matrix() * f).max(axis=1).sum())


@pytest.mark.parametrize("mechanism", ["uniform", "frapp", "identity", "fine_grain"])
def test_the_posterior_of_several_columns_is_bayes_rule(two: SpecifiedTable, mechanism: str) -> None:
    """Against brute force over all combinations, by the joint matrix; and the level is met by what the whole row tells."""
    setter = setter_of(two)
    setting = setter.at(mechanism, 0.8)
    plan = setter.plan(setting.spec)
    joint = setter.attacker.joint
    assert joint is not None
    f = joint.reshape(-1) / joint.sum()
    if mechanism == "frapp":
        matrix = plan.joint.matrix()
    else:
        apart = [
            Channel(coins.retention, setter.attacker.counts[name] / two.truth.rows) if coins.own else coins.channel()
            for name, coins in plan.replacing.items()
        ]
        matrix = np.kron(apart[0].matrix(), apart[1].matrix())
    both = matrix * f
    shown = both.sum(axis=1, keepdims=True)
    cells = both.reshape(10, 5, 2)
    largest = max(
        float((cells.sum(axis=2) / shown)[shown[:, 0] > 0].max()),
        float((cells.sum(axis=1) / shown)[shown[:, 0] > 0].max()),
    )
    assert setting.beliefs.posterior == pytest.approx(largest)
    assert 0.79 < setting.beliefs.posterior <= 0.8 * (1 + 1e-9)
    assert setting.beliefs.guess == pytest.approx(
        max(cells.sum(axis=2).max(axis=1).sum(), cells.sum(axis=1).max(axis=1).sum())
    )


def test_the_posterior_of_one_of_k_is_bayes_rule(one: SpecifiedTable) -> None:
    """Against the whole matrix: the published value is the person's, perturbed, or that of one of nine others who follow the prior."""
    setter = setter_of(one)
    setting = setter.at("perturbed_generalization", 0.6)
    matrix = setter.plan(setting.spec).channels[0]["disease"].matrix()
    f = one.truth.counts("disease") / one.truth.rows
    mixed = f * (matrix + 9 * (matrix @ f)[:, None]) / 10
    assert setting.beliefs.posterior == pytest.approx((mixed / mixed.sum(axis=1, keepdims=True)).max())
    assert setting.beliefs.guess == pytest.approx(mixed.max(axis=1).sum())
    assert setting.beliefs.factor == pytest.approx(setter.at("uniform", 0.6).beliefs.factor, rel=1e-6)


def test_frequent_values_are_left_alone_where_rho1_says_so(patients: pa.Table) -> None:
    subject = SpecifiedTable.of(
        patients.select(["sex", "disease"]), spec_of({"disease": {"values": DISEASES}}, ["sex"], rho1=0.2, rho2=0.3)
    )
    attacker = Attacker.of(subject.truth, 0.2)
    assert attacker.protected("disease").tolist() == [False, False, True, True, True]
    setter = Setter(subject.spec, subject.profile, attacker)
    for name in ("uniform", "fine_grain", "partitioned", "partitioned, fine_grain inside"):
        assert 0.25 < setter.at(name, 0.3).beliefs.posterior <= 0.3 * (1 + 1e-9), name


def test_counted_tuples_are_looked_up_by_public_columns() -> None:
    """Ten of eleven people of group a have x, all of b have y; c is too rare to be published, its people are guessed x."""
    table = pa.table({"g": ["a"] * 11 + ["b"] * 9 + ["c"], "s": ["x"] * 10 + ["y"] + ["y"] * 9 + ["y"]})
    release = publish_openly(table, sensitive="s", domains={"s": ["x", "y"]}, mechanism="k_dgs", settings={"k": 1})
    truth = Truth.of(table, spec_of({"s": {"values": ["x", "y"]}}, ["g"]))
    found = met(release, truth)
    assert (found.posterior, found.guess) == (1.0, 20 / 21)
    rare = publish_openly(table, sensitive="s", domains={"s": ["x", "y"]}, mechanism="k_dgs", settings={"k": 9})
    assert met(rare, truth).guess == pytest.approx((10 + 9) / 21)


def test_a_comparison_says_what_is_equal_and_what_is_not(one: SpecifiedTable) -> None:
    found = compare(one, repetitions=2, seed=3, workload=Workload.counts(one.truth, size=20), processes=1)
    by_name = {line.setting.name: line for line in found.lines}
    assert {name for name, line in by_name.items() if line.equal} == set(levels_of()) & set(known()) - ELSEWHERE
    assert {"k_dgs", "noisy_counts", "sps"} <= {name for name, line in by_name.items() if not line.equal}
    assert set(found.refused) >= ELSEWHERE
    assert "two sensitive columns" in found.refused["frapp"]
    assert "for numbers and days" in found.refused["mixture"]
    assert by_name["k_dgs"].repetitions == 1
    assert 0 < by_name["k_dgs"].posterior <= 1
    assert by_name["uniform"].setting.beliefs.factor == pytest.approx(0.6 * (1 - found.prior) / (found.prior * 0.4))
    assert math.isinf(by_name["partitioned"].setting.beliefs.factor)
    text = repr(found)
    assert "NOT at equal privacy" in text
    assert "Semantic 10-anonymity" in text
    assert found.to_arrow().num_rows == len(found.lines)
    assert "<table" in found._repr_html_()
    json.dumps(found.to_list(), allow_nan=False)


def test_one_mechanism_over_a_range_costs_less_with_less_privacy(one: SpecifiedTable) -> None:
    """From the first to the last of five posteriors the standard error of a count falls sixfold, and the error of 10 counts twofold or more."""
    workload = Workload.sql(["SELECT disease, sex, COUNT(*) AS n FROM release GROUP BY disease, sex"])
    found = compare(one, mechanisms=["uniform"], repetitions=5, seed=1, workload=workload, processes=1)
    posteriors = [line.posterior for line in found.lines]
    assert posteriors == sorted(posteriors)
    assert len(posteriors) == 5
    assert found.lines[-1].error < found.lines[0].error / 2
    assert found.frontier()[-1].error == min(line.error for line in found.lines)


def test_a_better_line_takes_a_worse_one_off_the_frontier(one: SpecifiedTable) -> None:
    workload = Workload.sql(["SELECT disease, sex, COUNT(*) AS n FROM release GROUP BY disease, sex"])
    found = compare(
        one, mechanisms=["uniform", "identity"], levels=[0.6], repetitions=2, seed=1, workload=workload, processes=1
    )
    best = min(found.lines, key=lambda line: line.error)
    assert found.frontier() == [best]


def test_processes_change_nothing_and_tell_how_far_they_are(one: SpecifiedTable) -> None:
    seen: list[tuple[int, int | None]] = []
    workload = Workload.sql(["SELECT disease, COUNT(*) AS n FROM release GROUP BY disease"])

    def repeated(processes: int, seed: int, progress: Any = None) -> list[dict[str, Any]]:
        how: dict[str, Any] = {"mechanisms": ["uniform"], "levels": [0.6], "repetitions": 8, "workload": workload}
        return compare(one, processes=processes, seed=seed, progress=progress, **how).to_list()

    alone = repeated(1, 5)
    assert repeated(2, 5, lambda done, of: seen.append((done, of))) == alone != repeated(1, 6)
    assert seen == [(i, 8) for i in range(1, 9)]


def test_wrong_use_is_said_in_one_line(one: SpecifiedTable) -> None:
    with pytest.raises(ParameterError, match="believed with that before"):
        compare(one, levels=["1/10"])
    with pytest.raises(ParameterError, match="did you mean 'uniform'"):
        compare(one, mechanisms=["unifrm"])
    with pytest.raises(ParameterError, match="at least 1"):
        compare(one, repetitions=0)
    with pytest.raises(ParameterError, match="no mechanism applies: frapp"):
        compare(one, mechanisms=["frapp"])
    with pytest.raises(ParameterError, match="processes"):
        compare(one, processes=0)


def test_the_command_compares_and_refuses_in_one_line(patients: pa.Table, tmp_path: Path) -> None:
    pq.write_table(patients.select(["sex", "disease"]), tmp_path / "p.parquet")
    (tmp_path / "p.toml").write_text(
        'table = "p.parquet"\n[privacy]\nrho2 = 0.6\n[columns.sex]\nrole = "public"\n'
        f'[columns.disease]\nrole = "sensitive"\nvalues = {json.dumps(DISEASES)}\n'
    )
    runner = CliRunner()
    asked = ["compare", str(tmp_path / "p.toml"), "--mechanism", "uniform", "--mechanism", "anatomy", "--level", "3/5"]
    quick = [*asked, "--repetitions", "1", "--size", "4", "--seed", "1", "--processes", "1"]
    told = runner.invoke(app, [*quick, "-o", str(tmp_path / "found.json"), "--format", "json"])
    assert told.exit_code == 0, told.output
    lines = json.loads(told.stdout)
    assert lines == json.loads((tmp_path / "found.json").read_text())
    assert {line["mechanism"] for line in lines} == {"uniform", "anatomy"}
    assert "posterior at most 0.6" in runner.invoke(app, quick).stdout
    refused = runner.invoke(app, [*quick, "--level", "1/5"])
    assert isinstance(refused.exception, ParameterError)


def test_a_mechanism_that_the_rows_refuse_does_not_end_the_comparison() -> None:
    """Public columns that differ in every row: sps finds no groups when it publishes, k_dgs leaves out all rows, and the others are compared all the same."""
    draw = np.random.default_rng(1)
    table = pa.table({"cost": np.arange(600) * 1.5, "disease": draw.choice(["a", "b", "c"], 600)})
    columns = {"cost": {"role": "public"}, "disease": {"role": "sensitive", "values": ["a", "b", "c"]}}
    spec = Spec.model_validate({"columns": columns, "privacy": {"gamma": 3}})
    pool = Workload.sql(["SELECT disease, COUNT(*) AS n FROM release GROUP BY disease"])
    found = compare(
        table, spec, mechanisms=["uniform", "sps", "k_dgs"], workload=pool, repetitions=1, processes=1, seed=1
    )
    assert [line.setting.name for line in found.lines] == ["uniform"]
    assert "no row would be published" in found.refused["k_dgs"]
    assert "the public columns make 600 groups of 600 rows" in found.refused["sps"]
    with pytest.raises(ParameterError, match="no mechanism applies: sps: the public columns make 600 groups"):
        compare(table, spec, mechanisms=["sps"], workload=pool, repetitions=1, processes=1, seed=1)
