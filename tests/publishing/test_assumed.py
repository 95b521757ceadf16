"""A spec that says rho2 alone, or nothing of privacy: planned and tested as it is compared, and what was taken for granted is said."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import scumble
from scumble.auditing.evidence.table import examine_table
from scumble.cli import app
from scumble.core.channel import gamma_bound
from scumble.core.errors import ParameterError
from scumble.mechanisms.declared_table import spec_table
from scumble.spec.spec import read_spec

COLUMNS = """
[columns.sex]
role = "public"
[columns.disease]
role = "sensitive"
values = ["a", "b", "c"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = {"sex": np.arange(1000) % 2, "disease": np.repeat(["a", "b", "c"], [500, 300, 200])}
    pa.csv.write_csv(pa.table(rows), tmp_path / "t.csv")
    return tmp_path


def spec(folder: Path, privacy: str) -> Path:
    (folder / "t.toml").write_text(f"table = 't.csv'\n{privacy}\n{COLUMNS}")
    return folder / "t.toml"


@pytest.mark.slow
def test_rho2_alone_is_planned_with_the_commonest_share_as_compare_has_it(folder: Path) -> None:
    path = spec(folder, "[privacy]\nrho2 = 0.8")
    found = scumble.plan(path)
    assert found.plan.guarantees[1].parameters["gamma"] == pytest.approx(gamma_bound(0.5, 0.8))
    assert found.outlooks[0].guess == pytest.approx(0.8)
    assert any(
        "rho1 = 0.5 is taken here, the share of the commonest value" in warning for warning in found.plan.warnings
    )
    compared = CliRunner().invoke(
        app,
        ["compare", str(path), "--level", "0.8", "--mechanism", "uniform", "--repetitions", "1", "--processes", "1"],
    )
    assert compared.exit_code == 0
    assert f"p = {found.outlooks[0].retain:.3g}" in compared.stdout


@pytest.mark.slow
@pytest.mark.parametrize("privacy", ["[privacy]\nrho2 = 0.8", "", 'mechanism = "partitioned"\n[privacy]\nrho2 = 0.8'])
def test_every_command_that_publishes_nothing_takes_it(privacy: str, folder: Path) -> None:
    path = spec(folder, privacy)
    for command in (
        ["plan", str(path)],
        ["audit", "--reconstruction", str(path)],
        ["advise", str(path), "--posterior", "0.8", "--repetitions", "0"],
    ):
        made = CliRunner().invoke(app, command)
        assert made.exception is None or isinstance(made.exception, SystemExit), (command, made.exception)
    (found,) = examine_table(spec_table(read_spec(path)), read_spec(path))
    gamma = gamma_bound(0.5, 0.8) if "rho2" in privacy else 3
    assert found.retain == pytest.approx(scumble.Channel.from_gamma(3, gamma).retain)


@pytest.mark.slow
def test_what_was_taken_for_granted_is_said(folder: Path) -> None:
    said = CliRunner().invoke(app, ["audit", "--reconstruction", str(spec(folder, ""))]).stderr
    assert "note: the spec does not say how private: gamma = 3 is taken here" in said
    shown = CliRunner().invoke(app, ["plan", str(spec(folder, "[privacy]\nrho2 = 0.8"))]).stdout
    assert "warning: the spec has rho2 alone: rho1 = 0.5 is taken here" in " ".join(shown.split())


@pytest.mark.slow
def test_a_publisher_says_it_and_what_cannot_be_promised_is_refused(folder: Path) -> None:
    with pytest.raises(ParameterError, match="rho1 and rho2 go together, what is believed before and after"):
        scumble.publish(spec(folder, "[privacy]\nrho2 = 0.8"))
    with pytest.raises(
        ParameterError, match=r"rho2 = 0.4 cannot be promised: the commonest sensitive value has a share of 0.5"
    ):
        scumble.plan(spec(folder, "[privacy]\nrho2 = 0.4"))


@pytest.mark.slow
def test_a_whole_target_is_left_as_it_is(folder: Path) -> None:
    assert not scumble.plan(spec(folder, "[privacy]\ngamma = 4")).plan.warnings
    assert not scumble.plan(spec(folder, "[privacy]\nrho1 = 0.1\nrho2 = 0.3")).plan.warnings
