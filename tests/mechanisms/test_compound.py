"""Several sensitive columns as one: every mechanism perturbs combinations, and questions name the parts."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forged import with_care
from naming import publish_openly
from typer.testing import CliRunner

import scumble
from scumble.auditing import audit
from scumble.cli import app
from scumble.core.combined import joined
from scumble.core.errors import ParameterError, ReleaseError, SchemaError
from scumble.release.verify import verify
from scumble.truth import Truth

ROWS = 3000
JOBS, FIELDS = ["cook", "nurse", "clerk"], [1, 2, 3, 4]
DOMAINS: dict[str, Any] = {"job": JOBS, "field": FIELDS}
COMPOUND = {"work": ["job", "field"]}
HOW: dict[str, dict[str, Any]] = {
    "uniform": {"gamma": 9},
    "design": {"gamma": 1.3},
    "shaped": {"rho2": "1/2", "gamma": 20},
    "fine_grain": {"gamma": 9, "settings": {"weights": "alike"}},
    "partitioned": {"rho2": "1/2"},
    "identity": {"retain": 0.5},
    "swapped": {"retain": 0.5},
    "sps": {"retain": 0.5},
    "anatomy": {"settings": {"l": 2}},
}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    draw = np.random.default_rng(3)
    field = draw.choice(FIELDS, ROWS, p=[0.4, 0.3, 0.2, 0.1])
    return pa.table(
        {
            "sex": draw.choice(["F", "M"], ROWS),
            "job": [JOBS[(f + int(d)) % 3] for f, d in zip(field, draw.random(ROWS) * 2, strict=True)],
            "field": pa.array(field, pa.int16()),
        }
    )


def published(table: pa.Table, mechanism: str, out: Path | None = None, **more: Any) -> scumble.Release:
    how: dict[str, Any] = {
        "domains": DOMAINS,
        "compound": COMPOUND,
        "public": ["sex"],
        "seed": 1,
        **HOW[mechanism],
        **more,
    }
    return scumble.publish(table, out, mechanism=mechanism, **{k: v for k, v in how.items() if v is not None})


@pytest.mark.parametrize("mechanism", ["uniform", "design", "shaped", "fine_grain"])
def test_a_part_is_the_sum_of_weights_over_the_others(mechanism: str, people: pa.Table) -> None:
    """By the matrix of the channel on combinations: a job in some fields, and each job."""
    release = published(people, mechanism)
    (column,) = (c for c in release.manifest.columns if c.role == "sensitive")
    channel, values = release.manifest.channels["work"], column.values.values.to_pylist()
    seen = column.shown.encode(release.table().column("work").combine_chunks(), "work")
    sql = "SELECT job, COUNT(*) AS n FROM release WHERE field BETWEEN 2 AND 3 AND sex = 'F' GROUP BY job"
    women = np.array(release.table().column("sex").to_pylist()) == "F"
    for line in release.query(sql):
        h = [value.split(" | ") in ([line["job"], "2"], [line["job"], "3"]) for value in values]
        w = channel.weights(np.array(h, float))[seen][women]
        assert line["n"] == pytest.approx(w.sum(), rel=1e-9, abs=1e-6)
        assert line["n_se"] == pytest.approx(np.sqrt((w**2 - w).sum()), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", HOW)
def test_every_question_holds_the_truth_about(mechanism: str, people: pa.Table, tmp_path: Path) -> None:
    """Parts by themselves, across, and as the whole, within 6 standard errors (false alarm below 1e-6); sound, and its attacks find nothing."""
    release = published(people, mechanism, tmp_path / "r", seed=None)
    truth = Truth.of(people, release)
    for sql in (
        "SELECT job, COUNT(*) AS n FROM release GROUP BY job",
        "SELECT COUNT(*) AS n FROM release WHERE job = 'nurse' AND field > 2",
        "SELECT sex, field, COUNT(*) AS n FROM release WHERE job <> 'cook' GROUP BY sex, field",
        "SELECT COUNT(*) AS n FROM release WHERE work = 'nurse | 1'",
    ):
        answers = truth.answer(sql)
        for line in release.query(sql):
            key = tuple(value for name, value in line.items() if not name.startswith("n"))
            expected = answers.get(key, (0, [0]))[1][0]
            if mechanism != "anatomy":  # whose standard errors are not those of coins
                assert abs(line["n"] - expected) <= 6 * line["n_se"] + 1e-6
    assert all(check.passed for check in verify(release))
    assert all(finding.passed for finding in audit(tmp_path / "r", people))


def test_numbers_of_a_part_are_summed(people: pa.Table) -> None:
    release = published(people, "uniform", gamma=2000)
    (line,) = release.query("SELECT SUM(field) AS s, AVG(field) AS a FROM release WHERE job = 'cook'")
    chosen = np.array(people.column("job").to_pylist()) == "cook"
    fields = people.column("field").to_numpy()[chosen]
    assert abs(line["s"] - fields.sum()) < 6 * line["s_se"]
    assert abs(line["a"] - fields.mean()) < 6 * line["a_se"]


def test_combinations_are_declared_observed_or_all(people: pa.Table) -> None:
    every = [joined(pair) for pair in itertools.product(JOBS, FIELDS)]
    seen = sorted(
        {
            joined(pair)
            for pair in zip(people.column("job").to_pylist(), people.column("field").to_pylist(), strict=True)
        }
    )
    assert 1 < len(seen) < len(every)

    def listed(**how: Any) -> tuple[Any, bool]:
        column = published(people, "uniform", **how).manifest.column("work")
        assert column is not None
        assert column.domain is not None
        return column.domain.values, column.domain.from_data

    assert listed() == (every, False)
    assert listed(domains=None, domain_from_data=True) == (seen, True)
    chosen = [text.split(" | ") for text in seen]
    assert listed(domains={"work": [[job, int(field)] for job, field in chosen]}) == (seen, False)
    with pytest.raises(SchemaError, match="outside its domain"):
        listed(domains={"work": [["cook", 1], ["nurse", 2]]})


@pytest.mark.parametrize("mechanism", ["partitioned", "sps", "anatomy"])
def test_a_mechanism_for_one_attribute_takes_several_columns_as_one(mechanism: str, people: pa.Table) -> None:
    """Without a word about it, and a question finds each of them."""
    release = publish_openly(
        people, mechanism=mechanism, sensitive=["job", "field"], domains=DOMAINS, seed=1, **HOW[mechanism]
    )
    column = release.manifest.column("job_field")
    assert column is not None
    assert [part.name for part in column.parts or ()] == ["job", "field"]
    assert "job and field as one" in str(release)
    lines = list(release.query("SELECT job, COUNT(*) AS n FROM release WHERE field = 1 GROUP BY job"))
    assert {line["job"] for line in lines} - set(JOBS) == set()
    assert {"nurse", "clerk"} <= {line["job"] for line in lines}


def test_a_plan_foresees_what_is_asked_of_a_part(people: pa.Table) -> None:
    sql = "SELECT job, COUNT(*) AS n FROM release GROUP BY job"
    for mechanism in ("shaped", "partitioned", "design", "sps"):
        forecast = scumble.plan(
            people, [sql], mechanism=mechanism, compound=COMPOUND, domains=DOMAINS, public=["sex"], **HOW[mechanism]
        )
        ((_, answer),) = forecast.answers
        for line in answer:
            true = people.column("job").to_pylist().count(line["job"])
            assert line["n"] == pytest.approx(true)
            assert 0 < line["n_se"] < ROWS


def test_a_spec_and_the_command_line_say_the_same(people: pa.Table, tmp_path: Path) -> None:
    """In TOML the parts stand at the column that they make; rows stream, so that the table is a file."""
    pq.write_table(people, tmp_path / "people.parquet")
    (tmp_path / "people.toml").write_text(
        'table = "people.parquet"\nmechanism = "shaped"\npersons = "one row each"\n[privacy]\nrho2 = "1/2"\ngamma = 20\n[columns.sex]\nrole = "public"\n'
        '[columns.work]\nrole = "sensitive"\nparts = ["job", "field"]\n'
        '[columns.work.domains]\njob = ["cook", "nurse", "clerk"]\nfield = { low = 1, high = 4 }\n',
        encoding="utf-8",
    )
    spec = scumble.publish(tmp_path / "people.toml", tmp_path / "a", seed=1)
    arguments = [
        "publish",
        str(tmp_path / "people.parquet"),
        "-o",
        str(tmp_path / "b"),
        "--mechanism",
        "shaped",
        "--rho2",
        "1/2",
        "--gamma",
        "20",
    ]
    arguments += [
        "--public",
        "sex",
        "--compound",
        "work=job,field",
        "--domain",
        "job=cook,nurse,clerk",
        "--domain",
        "field=1..4",
    ]
    run = CliRunner().invoke(app, [*arguments, "--persons", "one row each", "--insecure-seed", "1"])
    assert run.exit_code == 0, run.output
    flags = scumble.open(tmp_path / "b")
    assert flags.manifest.column("work") == spec.manifest.column("work")
    plan = CliRunner().invoke(
        app, ["plan", str(tmp_path / "people.toml"), "SELECT field, COUNT(*) AS n FROM release GROUP BY field"]
    )
    assert plan.exit_code == 0, plan.output
    readme = (tmp_path / "a" / "README.md").read_text(encoding="utf-8")
    assert "a combination of `job` and `field`" in readme


def test_coins_by_key_belong_to_the_combination(people: pa.Table) -> None:
    ids = people.append_column("id", pa.array(range(ROWS)))
    how: dict[str, Any] = {"key": bytes(range(32)), "id": "id", "seed": None}
    one, two = (published(ids, "uniform", **how) for _ in range(2))
    assert sorted(one.table().column("work").to_pylist()) == sorted(two.table().column("work").to_pylist())


OBSERVED: dict[str, Any] = {"domains": None, "domain_from_data": True, "drop": ["field"]}


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"compound": {"work": ["job"]}, **OBSERVED}, "2 items"),
        ({"compound": {"work": ["job", "job"]}, **OBSERVED}, "a column is a part once"),
        ({"compound": {"work": ["job", "town"]}, **OBSERVED}, "'town', which is not in the table"),
        ({"compound": {"sex": ["job", "field"]}, "public": []}, "has a column 'sex' already"),
        ({"compound": {"a": ["job", "field"], "b": ["field", "sex"]}, "public": []}, "a part of two columns"),
        ({"public": ["sex", "job"]}, "'job' is a part of 'work', and public by itself"),
        ({"domains": None}, "has no domain"),
        ({"domains": {"work": [["cook", 1, 2], ["nurse", 1, 2]]}}, "is a list of 2 values"),
        ({"domains": {"job": JOBS, "field": {"low": 0.5, "high": 4}}}, "in whole numbers"),
        (
            {"domains": {"job": [f"j{i}" for i in range(2000)], "field": {"low": 1, "high": 1000}}},
            "2,000,000 combinations",
        ),
    ],
)
def test_what_cannot_be_taken_as_one_is_refused(how: dict[str, Any], words: str, people: pa.Table) -> None:
    with pytest.raises((SchemaError, ParameterError), match=words):
        published(people, "uniform", **how)


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts.pop(),
        lambda parts: parts[0].update(name="sex"),
        lambda parts: parts[0].update(name="field"),
        lambda parts: parts[0].update(type="int16"),
        lambda parts: parts[1].update(type="double"),
        lambda parts: parts.reverse(),
        lambda parts: parts.append({"name": "third", "type": "string"}),
    ],
)
def test_forged_parts_are_refused(change: Any, people: pa.Table, tmp_path: Path) -> None:
    """Names that are taken, and types that the values do not have: nothing is asked of such a release."""
    published(people, "uniform", tmp_path / "r")

    def forge(document: dict[str, Any]) -> None:
        change(document["columns"][-1]["parts"])

    with pytest.raises(ReleaseError, match="'work'"):
        with_care(tmp_path / "r", forge)
    assert "parts" in json.loads((tmp_path / "r" / "manifest.json").read_text(encoding="utf-8"))["columns"][-1]
