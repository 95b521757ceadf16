"""The plan's promise: standard errors foreseen are standard errors met."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from naming import plan_openly, publish_openly
from tables import DISEASES

import scumble
from scumble.core.errors import ParameterError
from scumble.evaluate.forecast import forecast
from scumble.sources.source import read
from scumble.spec.spec import read_spec

pytestmark = pytest.mark.slow

QUESTIONS = [
    "SELECT disease, COUNT(*) AS a FROM release GROUP BY disease",
    "SELECT sex, SUM(cost) AS a FROM release WHERE disease = 'flu' AND NOT smoker GROUP BY sex",
    "SELECT AVG(cost) AS a FROM release WHERE disease IN ('flu', 'cold') OR visits > 7",
    "SELECT SUM(visits) AS a FROM release WHERE visits > 3 AND smoker",
    "SELECT AVG(visits) AS a FROM release WHERE age >= 40",
]


@pytest.fixture
def spec(patients: pa.Table, tmp_path: Path) -> Path:
    pq.write_table(patients, tmp_path / "patients.parquet")
    text = 'table = "patients.parquet"\n[privacy]\nretain = 0.5\n[columns.name]\nrole = "identifier"\n'
    text += '[columns.age]\nrole = "public"\ncoarsen = { bins = 10 }\n'
    text += "".join(f'[columns.{c}]\nrole = "public"\n' for c in ("sex", "cost"))
    text += f'[columns.disease]\nrole = "sensitive"\nvalues = {json.dumps(DISEASES)}\n'
    text += '[columns.smoker]\nrole = "sensitive"\nvalues = [false, true]\n[columns.visits]\nrole = "sensitive"\nlow = 0\nhigh = 10\n'
    (tmp_path / "p.toml").write_text(text)
    return tmp_path / "p.toml"


def test_foreseen_values_are_true_and_errors_are_met(spec: Path, patients: pa.Table) -> None:
    """Over 50 publications the spread of each answer is the foreseen standard error within 40% (4 standard errors of a spread), and the error that the
    answers themselves state, whose coverage tests/statistical/ is about, within 3%."""
    given = read_spec(spec)
    found = forecast(read(given.table), given, QUESTIONS)
    releases = [scumble.publish(spec, seed=seed) for seed in range(50)]
    for sql, foreseen in found.answers:
        answers = [release.query(sql)["a"] for release in releases]
        met = np.array([answer.value for answer in answers])
        error = met.std(axis=0)
        assert np.allclose(error, foreseen["a"].se, rtol=0.4), sql
        stated = np.median([answer.se for answer in answers], axis=0)
        assert np.allclose(stated, foreseen["a"].se, rtol=0.03), (sql, stated / foreseen["a"].se)
        assert (
            np.abs(met.mean(axis=0) - foreseen["a"].value)
            < 5 * error / np.sqrt(50) + 0.01 * np.abs(foreseen["a"].value)
        ).all(), sql
    truth = [patients.column("disease").to_pylist().count(d) for d in DISEASES]
    assert np.allclose(found.answers[0][1]["a"].value, truth)


SAMPLED = [
    "SELECT disease, COUNT(*) AS a FROM release GROUP BY disease",
    "SELECT COUNT(*) AS a FROM release WHERE disease = 'flu' OR ward = 3",
    "SELECT SUM(cost) AS a FROM release WHERE disease <> 'flu'",
    "SELECT AVG(cost) AS a FROM release WHERE disease = 'cold'",
]


@pytest.mark.parametrize("settings", [{}, {"duplicates": True, "generalize": ["ward"]}])
def test_errors_of_samples_are_foreseen(settings: dict[str, object]) -> None:
    """25 publications: errors that answers state are the foreseen ones within 3% (10% for an average), spreads within 57%, 4 standard
    errors of a spread, and means within 5 standard errors."""
    draw = np.random.default_rng(4)
    ward = np.repeat(np.arange(12), draw.choice([5, 60, 200], 12))
    disease = np.where(draw.random(len(ward)) < 0.2 + 0.05 * ward, "flu", draw.choice(["cold", "hiv"], len(ward)))
    table = pa.table({"ward": ward, "cost": 3 * ward + 20, "disease": disease})
    how: dict[str, object] = {"sensitive": "disease", "domains": {"disease": ["flu", "cold", "hiv"]}, "retain": 0.5}
    how |= {"mechanism": "sps", "settings": settings}
    releases = [publish_openly(table, seed=seed, **how) for seed in range(25)]
    for sql, foreseen in plan_openly(table, SAMPLED, **how).answers:
        met = [release.query(sql)["a"] for release in releases]
        values, errors = np.array([m.value for m in met]), np.array([m.se for m in met])
        assert np.allclose(np.median(errors, axis=0), foreseen["a"].se, rtol=0.1 if "AVG" in sql else 0.03), sql
        assert np.allclose(values.std(axis=0), foreseen["a"].se, rtol=0.57), sql
        assert (np.abs(values.mean(axis=0) - foreseen["a"].value) < 5 * foreseen["a"].se / np.sqrt(25)).all(), sql


def test_the_outlook_is_the_exact_posterior(spec: Path, patients: pa.Table) -> None:
    given = read_spec(spec)
    outlook = next(o for o in forecast(read(given.table), given, []).outlooks if o.column == "disease")
    shares = np.array([patients.column("disease").to_pylist().count(d) for d in DISEASES]) / 3000
    after = scumble.privacy.posteriors(scumble.Channel(outlook.retain, size=5), shares)
    assert outlook.guess == pytest.approx(after.max())
    assert outlook.rise == pytest.approx((after / shares).max())
    assert outlook.fall == pytest.approx(1 / (after / shares).min())
    assert outlook.rise <= outlook.amplification
    assert outlook.fall <= outlook.amplification


def test_mechanisms_without_one_channel_are_refused(spec: Path) -> None:
    given = read_spec(spec).model_copy(update={"mechanism": "swapped"})
    with pytest.raises(ParameterError, match="not foreseen"):
        forecast(read(given.table), given, QUESTIONS[:1])
    assert forecast(read(given.table), given, []).plan.mechanism == "swapped"


def test_a_count_that_is_true_of_nobody_is_foreseen_as_zero() -> None:
    """Sending counts through a channel and back leaves dust; a line of nobody is 0, whole counts are whole, and 0 has no relative error."""
    draw = np.random.default_rng(8)
    sex = draw.choice(["F", "M"], 4000)
    job = np.where((sex == "F"), draw.choice(["clerk", "nurse", "cook"], 4000), draw.choice(["clerk", "soldier"], 4000))
    table = pa.table({"sex": sex, "age": draw.integers(20, 60, 4000), "job": job})
    how = {"sensitive": "job", "domains": {"job": ["clerk", "nurse", "cook", "soldier", "judge"]}, "gamma": 9}
    counts = "SELECT sex, job, COUNT(*) AS n FROM release GROUP BY sex, job"
    sums = "SELECT sex, job, SUM(age) AS n FROM release GROUP BY sex, job"
    averages = "SELECT sex, job, AVG(age) AS n FROM release GROUP BY sex, job"
    found = plan_openly(table, [counts, sums, averages], **how)
    lines = {(g["sex"], g["job"]): i for i, g in enumerate(found.answers[0][1].groups.to_pylist())}
    for key, i in lines.items():
        rows = (sex == key[0]) & (job == key[1])
        assert found.answers[0][1]["n"].value[i] == rows.sum()
        assert (found.answers[1][1]["n"].value[i] == 0) == (rows.sum() == 0)
    shown = [line.split() for line in str(found).splitlines() if line.startswith("F ") and "soldier" in line]
    assert [(line[2], line[4]) for line in shown] == [("0", "-"), ("0", "-"), ("-", "-")]


def test_a_level_is_a_share_of_intervals() -> None:
    table = pa.table({"a": ["x", "y"] * 50})
    with pytest.raises(ParameterError, match="level is the share of intervals that hold the truth"):
        plan_openly(
            table,
            "SELECT COUNT(*) AS n FROM release WHERE a = 'x'",
            sensitive="a",
            domains={"a": ["x", "y"]},
            gamma=3,
            level=95,
        )
