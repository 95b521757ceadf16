"""Advice: what it promises is met, it is the strongest that meets it, and what cannot be had is said with what can."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tables import DISEASES
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.errors import InputError, ParameterError
from scumble.evaluate import Advice, advise
from scumble.spec.spec import ColumnSpec, Spec, read_spec
from scumble.spec.toml import spec_toml

pytestmark = pytest.mark.slow

BY_SEX = "SELECT sex, disease, COUNT(*) AS n FROM release GROUP BY sex, disease"
COMMON = "SELECT sex, COUNT(*) AS n FROM release WHERE disease IN ('flu', 'cold') GROUP BY sex"


@pytest.fixture
def spec(patients: pa.Table, tmp_path: Path) -> Path:
    return spec_in(tmp_path, patients)


@pytest.fixture(scope="module")
def every(patients: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Advice:
    """What is found among all mechanisms, once for the tests that look at it."""
    spec = spec_in(tmp_path_factory.mktemp("advised"), patients)
    return advise(spec, error=(BY_SEX, 0.25), repetitions=0)


def spec_in(folder: Path, patients: pa.Table) -> Path:
    """The patients and their spec."""
    pq.write_table(patients.select(["age", "sex", "disease", "smoker"]), folder / "patients.parquet")
    (folder / "patients.toml").write_text(
        'table = "patients.parquet"\n[columns.sex]\nrole = "public"\n[columns.age]\nrole = "public"\ncoarsen = { bins = 10 }\n'
        f'[columns.disease]\nrole = "sensitive"\nvalues = {json.dumps(DISEASES)}\n[columns.smoker]\nrole = "dropped"\n'
    )
    return folder / "patients.toml"


@pytest.mark.parametrize("mechanism", ["uniform", "partitioned"])
def test_the_accuracy_that_was_promised_is_met(spec: Path, mechanism: str) -> None:
    """150 fresh publications, 10 lines each: measured / promised has a standard deviation of about 1 / sqrt(2 * 150 * 8) = 0.02 (two
    sums are fixed), so that a sound promise is off by 10% with a probability below 1e-6; that of the worst line alone, 0.058, by 0.3."""
    found = advise(spec, error=(BY_SEX, 0.25), mechanisms=[mechanism], repetitions=150, seed=7, processes=1)
    (foreseen,) = found.foreseen
    met = found.met[BY_SEX]
    assert 0.24 < foreseen.error <= 0.25
    assert met.publications == 150
    assert met.ratio == pytest.approx(1, abs=0.1)
    assert met.error == pytest.approx(foreseen.error, rel=0.3)


def test_the_spec_to_use_is_one_that_publishes_and_gives_what_was_said(spec: Path, every: Advice) -> None:
    found = every
    path = spec.with_name("advised.toml")
    path.write_text(found.spec)
    forecast = scumble.plan(path, [BY_SEX])
    assert float((forecast.answers[0][1]["n"].se / forecast.answers[0][1]["n"].value).max()) == pytest.approx(
        found.foreseen[0].error
    )
    assert forecast.outlooks[0].guess == pytest.approx(found.posterior, rel=1e-6)
    assert scumble.publish(path, spec.with_name("x.release"), seed=1).manifest.mechanism == found.mechanism
    assert read_spec(path).columns["age"].coarsen == read_spec(spec).columns["age"].coarsen


def test_it_is_the_strongest_privacy_and_what_was_offered_is_ordered(spec: Path, every: Advice) -> None:
    """A little more privacy would miss the error; and more accuracy costs privacy."""
    found = advise(spec, error=(BY_SEX, 0.25), mechanisms=["uniform"], repetitions=0)
    stronger = advise(spec, posterior=0.99 * found.posterior, questions=[BY_SEX], mechanisms=["uniform"], repetitions=0)
    assert found.foreseen[0].error <= 0.25 < stronger.foreseen[0].error
    assert advise(spec, error=(BY_SEX, 0.2), mechanisms=["uniform"], repetitions=0).posterior > found.posterior
    assert every.posterior <= 1.05 * min(offer.beliefs.posterior for offer in every.others)


def test_back_from_a_posterior_to_the_errors(spec: Path) -> None:
    found = advise(spec, posterior="3/5", repetitions=0)
    assert 0.55 < found.posterior <= 0.6
    assert [each.sql for each in found.foreseen] == ['SELECT "disease", COUNT(*) AS n FROM release GROUP BY "disease"']
    assert found.chosen.error <= 1.05 * min(offer.error for offer in found.others)


def test_errors_in_units_of_the_answer(spec: Path) -> None:
    found = advise(spec, error=(COMMON, 50), absolute=True, mechanisms=["uniform"], repetitions=0)
    forecast = scumble.plan(_written(spec, found.spec), [COMMON]).answers[0][1]["n"]
    assert forecast.se.max() == pytest.approx(found.foreseen[0].error)
    assert 48 < forecast.se.max() <= 50


def _written(beside: Path, text: str) -> Path:
    path = beside.with_name("again.toml")
    path.write_text(text)
    return path


def test_several_sensitive_columns_are_seen_together(spec: Path) -> None:
    text = spec.read_text().replace(
        '[columns.smoker]\nrole = "dropped"', '[columns.smoker]\nrole = "sensitive"\nvalues = [false, true]'
    )
    spec.write_text(text)
    found = advise(spec, posterior=0.8, questions=[BY_SEX], repetitions=0)
    assert found.mechanism == "uniform"
    assert 0.79 < found.posterior <= 0.8


def test_what_cannot_be_had_is_said_with_what_can(spec: Path) -> None:
    with pytest.raises(ParameterError, match=r"cannot be had.*that is what is feasible.*times as many rows"):
        advise(spec, error=(BY_SEX, 1e-4), repetitions=0)
    with pytest.raises(ParameterError, match="before anything is published"):
        advise(spec, posterior="1/10", repetitions=0)
    hard = advise(spec, error=(BY_SEX, 0.05), mechanisms=["uniform"], repetitions=0)
    assert hard.posterior > 0.8
    assert "times as many rows" in repr(hard)


def test_what_the_choice_tells_is_said(spec: Path) -> None:
    text = repr(advise(spec, error=(COMMON, 0.2), repetitions=0))
    assert "The privacy was chosen by looking at the table" in text
    assert "other beliefs" in text


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({}, "one of them"),
        ({"error": (COMMON, 0.1), "posterior": 0.6}, "one of them"),
        ({"error": (COMMON, 0)}, "above 0"),
        ({"error": ("SELECT COUNT(*) FROM release WHERE diseas = 'flu'", 0.1)}, "did you mean 'disease'"),
        ({"posterior": 0.6, "mechanisms": ["anatomy"]}, "not foreseen"),
    ],
)
def test_wrong_use_is_said_in_one_line(spec: Path, how: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        advise(spec, repetitions=0, **how)


def test_the_command_writes_the_spec_and_keeps_what_is_there(spec: Path, tmp_path: Path) -> None:
    runner, out = CliRunner(), tmp_path / "out" / "advised.toml"
    out.parent.mkdir()
    asked = ["advise", str(spec), "--error", COMMON, "0.2", "--repetitions", "2", "--seed", "1", "--processes", "1"]
    told = runner.invoke(app, [*asked, "-o", str(out), "--format", "json"])
    assert told.exit_code == 0, told.output
    (line,) = json.loads(told.stdout)
    assert line["error"] <= 0.2
    assert line["publications"] == 2
    assert tomllib.loads(line["spec"])["table"] == "patients.parquet"
    assert read_spec(out).columns["disease"].values == DISEASES
    assert Path(str(read_spec(out).table)).resolve() == (tmp_path / "patients.parquet").resolve()
    assert isinstance(runner.invoke(app, [*asked, "-o", str(out)]).exception, InputError)
    assert "use " in runner.invoke(app, asked).stdout


def test_a_spec_as_text_is_the_spec() -> None:
    """Odd names, quotes, missing values, nested settings and dates come back as they were."""
    given = Spec.model_validate(
        {
            "mechanism": "fine_grain",
            "settings": {"rho": {"a b": [0.1, "1/3"]}, "floor": 0.01, "scores": {'say "x"': 2}},
            "privacy": {"rho1": "1/13", "rho2": 0.25},
            "columns": {
                "my column": {"role": "sensitive", "values": ["a b", 'say "x"', "é"], "missing": True},
                "age": {"role": "public", "coarsen": {"groups": {"young": [1, 2], "old": [3]}}},
                "cost": {"role": "sensitive", "low": 0, "high": 10, "step": "0.5", "privacy": {"gamma": 3}},
            },
        }
    )
    assert Spec.model_validate(tomllib.loads(spec_toml(given))) == given


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT COUNT(*) FROM release WHERE disease = 'plague'", "nothing in the table .*'plague' is not a value"),
        ("SELECT COUNT(*) FROM release WHERE sex = 'X' AND disease = 'flu'", "nothing in the table"),
        ("SELECT sex, COUNT(*) FROM release GROUP BY sex", "exact whatever the privacy"),
    ],
)
def test_a_question_without_an_error_decides_nothing(spec: Path, sql: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        advise(spec, error=(sql, 0.1), repetitions=0)


def test_lines_of_nobody_are_not_the_worst(patients: pa.Table) -> None:
    """No woman of the table has one of the diseases: that line has no relative error, and the average over it none at all."""
    women = pc.equal(patients.column("sex"), "F")
    some = patients.filter(pc.invert(pc.and_(women, pc.equal(patients.column("disease"), "hiv"))))
    given = Spec(
        columns={
            "sex": ColumnSpec(role="public"),
            "age": ColumnSpec(role="public"),
            "disease": ColumnSpec(role="sensitive", values=DISEASES),
        }
    )
    of = some.select(["sex", "age", "disease"])
    for sql in (BY_SEX, "SELECT sex, disease, AVG(age) AS n FROM release GROUP BY sex, disease"):
        found = advise(of, given, error=(sql, 0.5), mechanisms=["uniform"], repetitions=0)
        assert "sex=F, disease=hiv" not in found.foreseen[0].line
        assert found.foreseen[0].error == pytest.approx(0.5, rel=0.02)


def test_what_is_told_by_the_choice_is_what_was_asked_for(spec: Path) -> None:
    assert "just enough for this accuracy" in str(advise(spec, error=(BY_SEX, 0.25), repetitions=0))
    by_posterior = str(advise(spec, posterior="0.7", repetitions=0))
    assert "this accuracy" not in by_posterior
    assert "just enough for this posterior" in by_posterior


def test_values_that_are_too_common_to_be_protected_are_named(spec: Path) -> None:
    """With rho1 a posterior is about the rarer values alone, and the advice leaves the others as they are: whoever publishes has to know which."""
    text = spec.read_text()
    without = advise(spec, error=(COMMON, 0.2), repetitions=0)
    spec.write_text(f"{text}[privacy]\nrho1 = 0.15\nrho2 = 0.5\n")
    found = advise(spec, error=(COMMON, 0.2), mechanisms=["fine_grain"], repetitions=0)
    free = tomllib.loads(found.spec)["settings"]["scores"]
    assert 0 < len(free) < len(DISEASES)
    said = f"because more than rho1 = 0.15 of the rows have them: {', '.join(free)};"
    assert said in repr(found)
    assert said in found.spec
    assert "NOT among the protected" not in repr(without) + without.spec
