"""The commands in Python: each is a function, a spec is built once, and what publish is told is told by the same names everywhere."""

import inspect
from dataclasses import MISSING, fields
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

import scumble
from scumble.core.errors import ParameterError, TableError
from scumble.publishing.arguments import Arguments
from scumble.spec.spec import read_spec

COMMANDS = ["publish", "plan", "open", "init", "verify", "audit", "compare", "advise", "report"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_a_function_with_words(name: str) -> None:
    function = getattr(scumble, name)
    assert inspect.isfunction(function)
    assert function.__doc__
    assert name in scumble.__all__


def test_publish_names_each_argument_of_a_spec_with_its_default() -> None:
    """The signature is for help and completion; what it leaves out nobody could say."""
    named = inspect.signature(scumble.publish).parameters
    own = {field.name: field.default for field in fields(Arguments)}
    beside = {"table", "out", "key", "seed", "overwrite", "progress", "again", "budget", "ledger", "memory"}
    assert {name: p.default for name, p in named.items() if name not in beside} == own
    assert MISSING not in own.values()
    for name in own:
        assert name in str(scumble.publish.__doc__), name


def test_plan_refuses_what_publish_does_not_know(patients: pa.Table) -> None:
    with pytest.raises(ParameterError, match="publishing takes no argument 'sensitiv'; did you mean 'sensitive'"):
        scumble.plan(patients, sensitiv="disease")


@pytest.mark.slow
def test_init_writes_a_spec_beside_the_table_and_keeps_one_that_is_there(patients: pa.Table, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(patients, tmp_path / "patients.csv")
    path = scumble.init(tmp_path / "patients.csv")
    assert path == tmp_path / "patients.toml"
    spec = read_spec(path)
    assert set(spec.columns) == set(patients.column_names)
    assert spec.columns["disease"].role == "sensitive"
    with pytest.raises(TableError, match="exists and is kept"):
        scumble.init(tmp_path / "patients.csv")
    assert scumble.init(tmp_path / "patients.csv", overwrite=True) == path
    (tmp_path / "far").mkdir()
    other = scumble.init(str(tmp_path / "patients.csv"), tmp_path / "far" / "s.toml", text="age")
    assert read_spec(other).columns.keys() == spec.columns.keys()
    assert read_spec(other).columns["age"] != spec.columns["age"]
