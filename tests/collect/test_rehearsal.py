"""The rehearsal: a server, people, estimates and a release; and nothing of it is left running."""

import subprocess
import sys
from pathlib import Path

import pytest

import scumble
from scumble.collect.rehearsal import BATCH, rehearse, serving
from scumble.core.errors import SurveyError


@pytest.mark.slow
def test_a_survey_goes_all_the_way(tmp_path: Path) -> None:
    said: list[str] = []
    closed = rehearse(tmp_path / "demo", 1600, 0.0, said.append)
    assert closed.sound
    assert closed.release.manifest.rows == 1600
    shown = [int(line.split()[0].replace(",", "")) for line in said if " answers   flu" in line]
    assert len(shown) == 6
    assert shown == sorted(shown)
    assert shown[-1] > 1600 - BATCH
    assert said[-1].endswith("1,600 answers, verified")
    assert '"event": "stopped"' in (tmp_path / "demo" / "server.log").read_text().replace('":"', '": "')
    assert "own devices" in str(scumble.open(tmp_path / "demo" / "health.release").manifest.randomness.source)


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(SurveyError, match="exists; name another folder"):
        rehearse(tmp_path, 1600, 0.0, print)


@pytest.mark.slow
def test_a_server_that_cannot_start_is_told(tmp_path: Path) -> None:
    (tmp_path / "survey.json").write_text("{}")
    with pytest.raises(SurveyError, match="the server did not start: scumble"), serving(tmp_path):
        pytest.fail("it started")


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "scumble", "collect", "demo", "-o", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 2
    assert "exists; name another folder" in run.stderr
