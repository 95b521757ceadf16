"""Columns published coarser: a question that their values cannot answer as it was asked says so, and what would be right."""

import datetime as dt
import shlex
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from naming import plan_openly, publish_openly
from shell import scumble_command

import scumble
from scumble.spec.spec import Coarsen
from scumble.spec.steps import words

COARSEN: dict[str, dict[str, Any]] = {
    "age": {"bins": 10},
    "cost": {"bins": 2.5},
    "zip": {"prefix": 3},
    "job": {"groups": {"health": ["nurse", "doctor"], "other": ["cook"]}},
    "born": {"date": "month"},
    "seen": {"date": "week"},
    "kids": {"edges": [1, 3]},
}
HOW: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": ["a", "b", "c"]}, "coarsen": COARSEN}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    draw, n = np.random.default_rng(1), 2000
    days, hours = draw.integers(0, 9000, n).tolist(), draw.integers(0, 9000, n).tolist()
    return pa.table(
        {
            "age": draw.integers(17, 90, n),
            "cost": draw.random(n) * 100,
            "zip": [str(z) for z in draw.integers(10000, 10400, n).tolist()],
            "job": draw.choice(["nurse", "doctor", "cook"], n),
            "born": [dt.date(1980, 1, 1) + dt.timedelta(d) for d in days],
            "seen": [dt.datetime(2020, 1, 1) + dt.timedelta(hours=h) for h in hours],
            "kids": draw.integers(0, 6, n),
            "disease": draw.choice(["a", "b", "c"], n),
        }
    )


@pytest.fixture(scope="module")
def release(table: pa.Table) -> scumble.Release:
    return publish_openly(table, retain=0.5, seed=1, **HOW)


@pytest.fixture(scope="module")
def fine(table: pa.Table) -> scumble.Release:
    """The same without coarsening: what the table would say."""
    return publish_openly(table, retain=0.5, seed=1, **(HOW | {"coarsen": {}, "public": [*COARSEN]}))


def notes(release: scumble.Release, where: str) -> str:
    return " ".join(release.query(f"SELECT COUNT(*) AS n FROM release WHERE {where}").notes)


RIGHT = [
    "age >= 40", "age > 39", "40 <= age", "age BETWEEN 30 AND 49", "NOT (age < 20.0)", "age > 39.5", "age IS NOT NULL",
    "cost >= 10", "cost < 7.5",
    "zip LIKE '102%'", "zip < '102'", "zip > '10'",
    "born >= DATE '1990-03-01'", "born <= '1990-03-31'", "born < '1990-03-01'",
    "seen >= '2020-02-03'",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("where", RIGHT)
def test_questions_at_boundaries_are_answered_as_the_table_would_and_without_a_note(
    where: str, release: scumble.Release, fine: scumble.Release
) -> None:
    sql = f"SELECT COUNT(*) AS n FROM release WHERE {where}"
    assert release.query(sql)["n"].value == fine.query(sql)["n"].value
    assert not release.query(sql).notes


WRONG = {
    "age > 40": "the bound 40 in age > 40 falls inside 40 to 49; age >= 50 or age >= 40 would be right",
    "41 <= age": "falls inside 40 to 49; age >= 50 or age >= 40 would be right",
    "age <= 40": "falls inside 40 to 49; age < 40 or age < 50 would be right",
    "NOT age > 45 OR sin(1) = 1": "the bound 45",
    "age BETWEEN 25 AND 34": "the bound 34 in age BETWEEN 25 AND 34 falls inside 30 to 39; age < 30 or age < 40",
    "age = 37": "no row has the 37 of age = 37, which lies inside 30 to 39; age = 30 asks for all of these",
    "age IN (20, 37)": "age = 30 asks for all",
    "age > -3": "falls inside -10 to -1; age >= 0 or age >= -10",
    "cost > 10": "falls inside 10 to below 12.5; cost >= 12.5 or cost >= 10 would be right",
    "zip = '10210'": "zip = '102' asks for all",
    "zip LIKE '1021%'": "not of the values that they stand for",
    "zip > '102'": "not of the values that they stand for",
    "job = 'nurse'": "no row has the 'nurse' of job = 'nurse'; job = 'health' asks for all",
    "job = 'helth'": "did you mean 'health'",
    "born >= '1990-03-15'": "falls inside 1990-03-01 to 1990-03-31; born >= '1990-04-01' or born >= '1990-03-01' would",
    "born = '1990-03-04'": "born = '1990-03-01' asks for all",
    "seen < '2020-02-05 12:00:00'": "seen < '2020-02-03' or seen < '2020-02-10' would be right",
    "kids = '2'": "kids = '[1, 3)' asks for all",
}


@pytest.mark.parametrize("where", WRONG)
def test_what_falls_inside_is_said_with_what_would_be_right(where: str, release: scumble.Release) -> None:
    assert WRONG[where] in notes(release, where)


@pytest.mark.parametrize(
    "where",
    ["age {} 1e400", "age {} -1e400", "age {} 1e300", "age {} 18446744073709551616", "cost {} 1e400", "born {} '9999-12-31'", "born {} '0001-01-01'", "seen {} '9999-12-31 23:59:59'"],
)  # fmt: skip
@pytest.mark.parametrize("sign", [">", "<=", "="])
def test_what_lies_where_there_are_no_steps_is_answered(where: str, sign: str, release: scumble.Release) -> None:
    """Infinite numbers, and days after which no calendar has one: all rows lie below, or above."""
    all_rows, asked = release.manifest.rows, where.format(sign)
    below = "-1e400" in where or "0001" in where
    matching = {">": below, "<=": not below, "=": False}[sign]
    assert release.query(f"SELECT COUNT(*) AS n FROM release WHERE {asked}")["n"].value == all_rows * matching


@pytest.mark.parametrize(
    ("where", "instead"), [("age > 40", "age >= 50"), ("born < '1990-03-15'", "born < '1990-04-01'")]
)
def test_what_would_be_right_is(where: str, instead: str, release: scumble.Release, fine: scumble.Release) -> None:
    assert instead in notes(release, where)
    sql = f"SELECT COUNT(*) AS n FROM release WHERE {instead}"
    assert not release.query(sql).notes
    assert release.query(sql)["n"].value == fine.query(sql)["n"].value
    assert notes(fine, where) == ""


def test_a_plan_says_it_in_the_same_words_in_python(table: pa.Table) -> None:
    told = str(plan_openly(table, "SELECT AVG(age) AS a FROM release WHERE disease = 'a'", retain=0.5, **HOW))
    assert "note: age is published in steps of 10, 30 stands for 30 to 39: AVG(age) takes each value" in told


def test_groups_are_told_apart_from_values(release: scumble.Release) -> None:
    (note,) = release.query("SELECT age, COUNT(*) AS n FROM release GROUP BY age").notes
    assert note == "age is published in steps of 10, 30 stands for 30 to 39"
    assert not release.query("SELECT job, COUNT(*) AS n FROM release GROUP BY job").notes


@pytest.mark.parametrize(
    ("mechanism", "how"),
    [
        ("sps", {"retain": 0.5}),
        ("k_dgs", {"settings": {"k": 5}}),
        ("anatomy", {"settings": {"l": 2}}),
        ("perturbed_generalization", {"settings": {"k": 5}, "gamma": 3}),
    ],
)
def test_every_kind_of_release_says_so(mechanism: str, how: dict[str, Any], table: pa.Table) -> None:
    given = {"coarsen": {"age": {"bins": 10}}} | how
    given |= {} if mechanism == "k_dgs" else {"sensitive": "disease", "domains": {"disease": ["a", "b", "c"]}}
    release = publish_openly(table.select(["age", "job", "disease"]), mechanism=mechanism, seed=1, **given)
    assert "the bound 40 in age > 40 falls inside 40 to 49" in notes(release, "age > 40")


SPEC = """
table = "t.csv"
[privacy]
retain = 0.5
[columns]
age = { role = "public", coarsen = { bins = 10 } }
disease = { role = "sensitive", values = ["a", "b", "c"] }
"""


@pytest.mark.slow
def test_a_plan_says_so_too(table: pa.Table, tmp_path: Path) -> None:
    asked = "SELECT COUNT(*) AS n FROM release WHERE age > 40"
    assert "falls inside 40 to 49" in plan_openly(table, asked, retain=0.5, **HOW).answers[0][1].notes[0]
    pa.csv.write_csv(table.select(["age", "disease"]), tmp_path / "t.csv")
    (tmp_path / "t.toml").write_text(SPEC)
    run = scumble_command("plan", tmp_path / "t.toml", asked)
    assert run.returncode == 0, run.stderr
    assert "note: age is published in steps of 10" in run.stdout


def test_the_readme_says_what_a_value_stands_for(release: scumble.Release) -> None:
    text = (release.path / "README.md").read_text()
    assert "| age | int64 | coarsened: in steps of 10, 30 stands for 30 to 39 |" in text
    assert "2020-05-01 stands for 2020-05-01 to 2020-05-31" in text
    assert "'health' stands for nurse, doctor; 'other' stands for cook" in text
    assert "in steps of 10, 30 stands for 30 to 39" in str(release)


def test_words_do_not_list_what_is_too_much() -> None:
    many = Coarsen(groups={f"g{i}": [f"v{i}-{j}" for j in range(100)] for i in range(100)})
    assert len(words(many, "string")) < 1000
    assert words(Coarsen(date="day"), "date32[day]") == "as it is, by days"


@pytest.mark.parametrize("mechanism", ["uniform", "fine_grain", "k_dgs", "perturbed_generalization"])
def test_the_command_of_a_readme_survives_a_shell(mechanism: str, tmp_path: Path) -> None:
    """Names that need quotes in SQL, and a value with a dollar: a shell hands on what the README means."""
    draw = np.random.default_rng(1)
    name = 'the "disease"'
    table = pa.table({name: draw.choice(["$a", "b", "c"], 400), "age": draw.integers(0, 9, 400)})
    how: dict[str, Any] = {"sensitive": name, "domains": {name: ["$a", "b", "c"]}, "gamma": 3}
    if mechanism == "k_dgs":
        how = {"settings": {"k": 5}}
    if mechanism == "perturbed_generalization":
        how |= {"settings": {"k": 5}}
    if mechanism == "fine_grain":
        how |= {"settings": {"scores": {"b": 2}}}
    release = publish_openly(table, tmp_path / "r", mechanism=mechanism, seed=1, **how)
    (line,) = [x for x in (release.path / "README.md").read_text().splitlines() if x.startswith("    scumble query")]
    scumble_, query, folder, sql = shlex.split(line)
    assert (scumble_, query, folder) == ("scumble", "query", ".")
    assert release.query(sql)["n"].value.sum() > 0
    handed = subprocess.run(["sh", "-c", f"printf %s {line.split('query . ')[1]}"], capture_output=True, text=True)
    assert handed.stdout == sql
