"""Counted tuples on the command line: settings in, bounds out."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from scumble.cli import app
from scumble.core.errors import NotEstimable

run = CliRunner()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    draw = np.random.default_rng(3)
    table = pa.table(
        {"age": draw.integers(0, 90, 5000), "sex": draw.choice(["F", "M"], 5000), "zip": ["902", "100"] * 2500}
    )
    pq.write_table(table, tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def published(source: Path, folder: Path) -> tuple[str, str]:
    """A release of noisy counts, and what was printed."""
    settings = [part for each in ("k=10", "delta=1e-5", "total=5000") for part in ("--set", each)]
    given = [
        "--mechanism",
        "noisy_counts",
        "--epsilon",
        "1",
        *settings,
        "--public",
        "sex,zip",
        "--coarsen",
        "age=bins:30",
    ]
    done = run.invoke(app, ["publish", str(source), *given, "-o", str(folder / "r"), "--insecure-seed", "1"])
    assert done.exit_code == 0, done.output
    return str(folder / "r"), done.output


@pytest.mark.slow
def test_publish_show_query_verify(source: Path, tmp_path: Path) -> None:
    out, told = published(source, tmp_path)
    assert "semantic 10-anonymity" in told.lower()
    assert run.invoke(app, ["verify", out]).exit_code == 0
    assert "not covered" in run.invoke(app, ["show", out]).output
    asked = run.invoke(app, ["query", out, "SELECT sex, COUNT(*) AS n FROM release GROUP BY sex", "--format", "json"])
    for row in json.loads(asked.stdout):
        assert set(row) == {"sex", "n", "n_se", "n_low", "n_high", "n_bound"}
        assert row["n_low"] <= row["n"] <= row["n_high"]
    text = run.invoke(app, ["query", out, "SELECT COUNT(*) AS n FROM release WHERE sex = 'F'"]).output
    assert "suppressed included, at most" in text
    assert "of 5,000 rows were suppressed" in text
    assert run.invoke(app, ["audit", out, "--raw", str(source)]).exit_code == 0


@pytest.mark.slow
def test_sums_and_averages_with_what_was_suppressed(source: Path, tmp_path: Path) -> None:
    """Declared ages and a public total bound an average; the answer is exact for what was published and surely within its ends."""
    out = str(tmp_path / "r")
    given = [
        "--mechanism",
        "k_dgs",
        "--set",
        "k=35",
        "--set",
        "total=5000",
        "--sensitive",
        "age",
        "--domain",
        "age=0..89",
    ]
    done = run.invoke(app, ["publish", str(source), *given, "--public", "sex", "--drop", "zip", "-o", out])
    assert done.exit_code == 0, done.output
    asked = "SELECT sex, AVG(age) AS a FROM release GROUP BY sex"
    text = run.invoke(app, ["query", out, asked]).output
    assert "surely within" in text
    assert "the value is exact for what was published" in text
    truth = pq.read_table(source).group_by("sex").aggregate([("age", "mean")]).to_pylist()
    for row in json.loads(run.invoke(app, ["query", out, asked, "--format", "json"]).stdout):
        mean = next(each["age_mean"] for each in truth if each["sex"] == row["sex"])
        assert row["a_least"] < mean < row["a_bound"]
    assert "from 0 to 89" in (tmp_path / "r" / "README.md").read_text()


@pytest.mark.slow
def test_a_schema_and_a_hierarchy_as_options(source: Path, tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("902,west,*\n100,east,*\n")
    out = str(tmp_path / "r")
    given = [
        "--mechanism",
        "columnized",
        "--epsilon",
        "2",
        "--set",
        "k=10",
        "--set",
        "delta=1e-5",
        "--set",
        'schema=[["age"], ["sex", "zip"]]',
    ]
    coarser = ["--public", "age,sex", "--coarsen", f"zip=hierarchy:{tmp_path / 'zip.csv'}:1"]
    done = run.invoke(app, ["publish", str(source), *given, *coarser, "-o", out])
    assert done.exit_code == 0, done.output
    assert "column-02" in run.invoke(app, ["show", out]).output
    asked = run.invoke(app, ["query", out, "SELECT zip, COUNT(*) AS n FROM release GROUP BY zip", "--format", "json"])
    assert {row["zip"] for row in json.loads(asked.stdout)} == {"west", "east"}
    across = run.invoke(app, ["query", out, "SELECT COUNT(*) AS n FROM release WHERE age > 3 AND sex = 'F'"])
    assert isinstance(across.exception, NotEstimable)


def test_plan_tells_how_frequent_a_tuple_has_to_be(source: Path, tmp_path: Path) -> None:
    """A question is refused, because its error depends on the data; w = 0.01, 0.5 and 0.99 are passed at 24, 32 and 36."""
    spec = tmp_path / "t.toml"
    columns = "".join(f'[columns.{name}]\nrole = "public"\n' for name in ("age", "sex", "zip"))
    spec.write_text(
        f'table = "t.parquet"\nmechanism = "noisy_counts"\n[privacy]\nepsilon = 1\n[settings]\nk = 10\ndelta = 1e-5\n{columns}'
    )
    told = run.invoke(app, ["plan", str(spec)])
    assert "1% from 24, 50% from 32, 99% from 36 people on, and never below 10" in told.output
    refused = run.invoke(app, ["plan", str(spec), "SELECT COUNT(*) FROM release"])
    assert "are not foreseen" in str(refused.exception)


@pytest.mark.slow
def test_numbers_are_printed_whole_however_many_there_are(source: Path, tmp_path: Path) -> None:
    """Four averages with intervals and bounds are wider than the page: lines grow, digits stay."""
    out, _ = published(source, tmp_path)
    shares = ", ".join(f"AVG(CASE WHEN age < {age} THEN 1 ELSE 0 END) AS below_{age}" for age in (20, 30, 60, 70))
    asked = f"SELECT sex, {shares} FROM release GROUP BY sex"
    lines = run.invoke(app, ["query", out, asked]).output.splitlines()
    narrow = run.invoke(app, ["query", out, asked.replace(shares, shares.split(", ")[1])]).output.splitlines()
    assert lines[1].startswith("F ")
    assert all(number in lines[1].split() for number in narrow[1].split())
