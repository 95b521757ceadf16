"""Slips of a publisher that nobody should have to find in a release: ids, retentions of one, misspelt names."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from naming import plan_openly
from shell import scumble_command

import scumble
from scumble.core.errors import SchemaError
from scumble.sources.source import read
from scumble.spec.spec import read_spec
from scumble.spec.suggest import spec_text

pytestmark = pytest.mark.slow


def people(rows: int = 300) -> pa.Table:
    draw = np.random.default_rng(1)
    columns = {"patient": np.arange(rows) + 1000, "age": draw.integers(0, 90, rows), "weight": draw.random(rows)}
    return pa.table(columns | {"disease": draw.choice(["a", "b", "c"], rows)})


HOW: dict[str, Any] = {"sensitive": "disease", "domains": {"disease": ["a", "b", "c"]}, "retain": 0.5, "seed": 1}


def test_a_column_that_is_made_coarser_is_named_by_that() -> None:
    coarser = scumble.publish(people(), coarsen={"patient": {"bins": 50}}, rest="drop", **HOW)
    assert coarser.manifest.public == ["patient"]


def test_what_the_spec_beside_a_table_leaves_out_stays_out(tmp_path: Path) -> None:
    pa.csv.write_csv(people(), tmp_path / "pat.csv")
    assert scumble_command("init", tmp_path / "pat.csv").returncode == 0
    assert read_spec(tmp_path / "pat.toml").columns["patient"].role == "identifier"
    flags = [
        "--sensitive",
        "disease",
        "--public",
        "age",
        "--retain",
        "0.5",
        "--insecure-seed",
        "1",
        "--domain",
        "disease=a,b,c",
    ]
    made = scumble_command("publish", tmp_path / "pat.csv", *flags, "--public", "weight", "-o", tmp_path / "r")
    assert made.returncode == 0, made.stderr
    assert "'patient' is left out: it is identifier in pat.toml" in made.stdout
    assert scumble.open(tmp_path / "r").manifest.public == ["age", "weight"]
    named = scumble_command(
        "publish", tmp_path / "pat.csv", *flags, "-o", tmp_path / "s", "--public", "patient", "--drop", "weight"
    )
    assert named.returncode == 0, named.stderr
    assert scumble.open(tmp_path / "s").manifest.public == ["patient", "age"]


def test_steps_are_suggested_for_numbers_that_tell_people_apart(tmp_path: Path) -> None:
    """A rule for the age, which is public; a remark for the weight, which may be."""
    pa.csv.write_csv(people(), tmp_path / "pat.csv")
    assert scumble_command("init", tmp_path / "pat.csv").returncode == 0
    text = (tmp_path / "pat.toml").read_text()
    assert "\ncoarsen = { bins = 5 }" in text.split("[columns.age]")[1].split("[columns")[0]
    assert "# if it is public: coarsen = { bins = 0.05 }" in text.split("[columns.weight]")[1]
    decided = text.replace("# if it is public: ", "").replace('role = "?"', 'role = "public"')
    (tmp_path / "pat.toml").write_text(decided)
    assert read_spec(tmp_path / "pat.toml").columns["weight"].coarsen is not None
    ages = scumble.plan(tmp_path / "pat.toml", "SELECT age, COUNT(*) AS n FROM release GROUP BY age").answers[0][1]
    assert len(ages) == 18


ROLES = {
    "identifier": [
        "last_name",
        "Last Name",
        "lastName",
        "patient-id",
        "Nachname",
        "Straße",
        "Telefonnummer",
        "prénom",
        "Apellidos",
    ],
    "sensitive": ["disease", "Krankheit", "Vorerkrankung", "Monatsgehalt", "maladie", "enfermedad"],
    "public": ["age", "Geschlecht", "Station", "Aufnahme", "region"],
    "?": ["valid", "rename", "tournament", "weight", "bed", "PLZ"],
}


@pytest.mark.parametrize(("wanted", "name"), [(role, name) for role, names in ROLES.items() for name in names])
def test_what_a_column_is_called_suggests_its_role(wanted: str, name: str) -> None:
    """Values that repeat, so that nothing but the name can tell."""
    text = spec_text("t.csv", read(pa.table({name: ["a", "b"] * 20})))
    assert tomllib.loads(text)["columns"][name]["role"] == wanted


def test_years_are_suggested_for_dates_that_tell_people_apart(tmp_path: Path) -> None:
    days = pa.array(range(300), pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"born": days, "seen": days.slice(0, 1).take([0] * 300)}), tmp_path / "pat.parquet")
    made = scumble_command("init", tmp_path / "pat.parquet")
    assert "and no column looks sensitive, so read it" in made.stdout
    text = (tmp_path / "pat.toml").read_text()
    assert text.count('# if it is public: coarsen = { date = "year" }') == 1
    decided = text.replace("# if it is public: ", "").replace('role = "?"', 'role = "public"')
    (tmp_path / "pat.toml").write_text(decided)
    assert read_spec(tmp_path / "pat.toml").columns["born"].coarsen is not None


def test_a_retention_of_one_is_warned_of() -> None:
    how = {**HOW, "retain": 1}
    del how["seed"]
    (warning,) = plan_openly(people(), drop="patient", **how).plan.warnings
    assert warning.startswith("nothing of 'disease' will be perturbed: its retention is 1")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[privacy]\nrho_1 = 0.1", "'privacy.rho_1' is not a known setting; did you mean 'rho1'"),
        ("[columns.a]\nrole = 'public'\ncoarsen = { bin = 10 }", "'columns.a.coarsen.bin'.*did you mean 'bins'"),
        ("[columns.a]\nrole = 'sensitive'\nvalue = [1]", "'columns.a.value'.*did you mean 'values'"),
        ("[columns.privacy]\nrole = 'sensitive'\nvalue = [1]", "'columns.privacy.value'.*did you mean 'values'"),
        ("[columns.a]\nrole = 'sensitive'\nprivacy = { gama = 2 }", "'columns.a.privacy.gama'.*did you mean 'gamma'"),
        ("mechanisms = 'uniform'", "'mechanisms'.*did you mean 'mechanism'"),
        (
            "[columns.a]\nrole = 'senstive'",
            r"columns.a.role cannot be 'senstive'; did you mean 'sensitive'\? roles are public",
        ),
        ("[columns.a]\nrole = 'Public'", "cannot be 'Public'; did you mean 'public'"),
        (
            "[columns.a]\nrole = 'quasi-identifier'",
            "cannot be 'quasi-identifier'; roles are public .*quasi-identifiers are",
        ),
        ("[columns.a]\nvalues = [1, 2]", "'columns.a.role' is missing; roles are public"),
        ("[columns.int]\nrole = 'x'", "columns.int.role cannot be 'x'; roles are"),
        (
            "[columns.a]\nrole = 'public'\ncoarsen = { date = 'mont' }",
            "coarsen.date cannot be 'mont'; did you mean 'month'",
        ),
        ("[columns.a]\nrole = 'public'\ncoarsen = 10", "columns.a.coarsen must be a table, .*, not 10"),
        ("[columns.a]\nrole = 'sensitive'\nvalues = 'flu'", "columns.a.values must be a list, .*, not 'flu'"),
        ("[privacy]\nrho1 = [1]", "privacy.rho1 must be a number, or a fraction such as .*, not "),
    ],
)
def test_a_misspelt_name_of_a_spec_gets_the_right_one(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(f"table = 't.csv'\n{text}\n")
    with pytest.raises(SchemaError, match=words):
        read_spec(tmp_path / "t.toml")


def test_a_wrong_option_points_at_the_help_of_its_command() -> None:
    assert scumble_command("advise", "--foo").stderr.strip().endswith("; see scumble advise --help")
    assert scumble_command("--foo").stderr.strip().endswith("; see scumble --help")
