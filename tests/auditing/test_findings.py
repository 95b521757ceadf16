"""Verdicts and grades of findings, from what on an audit fails, and findings for programs."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.csv
import pytest
from auditing.attacked import ONE, people
from naming import publish_openly
from shell import scumble_command

from scumble.auditing import ATTACKS, audit
from scumble.auditing.finding import GRADES, Finding
from scumble.auditing.findings import CHANCE, Findings, Threshold
from scumble.auditing.level import SHARES, error_of
from scumble.core.errors import ParameterError

SCHEMA = Path(__file__).parents[2] / "docs" / "findings.schema.json"


def of_law(log_p: float, **more: Any) -> Finding:
    return Finding.of_test("law", 0.6, 0.5, log_p, error_of("law"), "a sentence", **more)


def test_the_shares_of_all_attacks_are_one_error_at_most() -> None:
    assert sum(SHARES.values()) <= 1
    assert set(SHARES) <= set(ATTACKS)


def test_a_law_is_broken_where_its_probability_is_at_most_the_error() -> None:
    assert of_law(-10).verdict == "holds"
    assert of_law(-20).verdict == "broken"
    assert of_law(-20).low > 0.5 > of_law(-10).low, "the interval says the same"
    assert of_law(-10).p == pytest.approx(4.54e-5, rel=0.01)


def test_more_than_the_baseline_is_open_only_where_the_release_says_so() -> None:
    assert of_law(0, uncovered="It does not.", exposed=0.2).verdict == "open"
    assert of_law(0, uncovered="It does not.", exposed=0.0).verdict == "holds"
    assert of_law(-20, uncovered="It does not.", exposed=0.2).verdict == "broken"
    assert Finding.of_share("x", 90, 100, 0.1, "").verdict == "broken"
    assert Finding.of_share("x", 90, 100, 0.1, "", uncovered="It does not.").verdict == "open"


@pytest.mark.parametrize(
    ("share", "grade"), [(0, "none"), (0.01, "low"), (0.05, "moderate"), (0.2, "high"), (0.51, "severe")]
)
def test_grades_go_by_the_share_of_people(share: float, grade: str) -> None:
    assert of_law(0, exposed=share, question="inference").grade == grade


def test_a_release_that_is_not_what_it_says_is_severe() -> None:
    assert of_law(-20).grade == "severe"
    assert of_law(-5).grade == "none"


@pytest.mark.parametrize(
    ("fail_on", "failing"),
    [("weaker", 0), ("low", 2), ("moderate", 2), ("high", 1), ("severe", 0), ("never", 0)],
)
def test_from_what_on_an_audit_fails(fail_on: Threshold, failing: int) -> None:
    """Two open findings, moderate and high."""
    says = {"uncovered": "It does not.", "question": "inference"}
    findings = Findings([of_law(0, exposed=0.05, **says), of_law(0, exposed=0.2, **says), of_law(0)])
    assert len(findings.failing(fail_on)) == failing
    broken = Findings([*findings, of_law(-30)])
    assert len(broken.failing(fail_on)) == (0 if fail_on == "never" else failing + 1)
    assert broken.grade == "severe"


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A release of people who are nearly all alone, and the raw table."""
    folder = tmp_path_factory.mktemp("findings")
    raw = people(400)
    release = publish_openly(raw, folder / "a.release", **ONE, retain=0.4)
    pa.csv.write_csv(raw, folder / "raw.csv")
    return release.path, folder / "raw.csv"


SOME = ["--only", "linking", "--only", "retention,law"]


def test_json_follows_its_schema(given: tuple[Path, Path]) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="the schema is checked by jsonschema: pip install jsonschema")
    release, raw = given
    done = scumble_command("audit", release, "--raw", raw, "--format", "json")
    found = json.loads(done.stdout)
    schema = json.loads(SCHEMA.read_text())
    jsonschema.validate(found, schema)
    assert {"linking", "inference", "retention", "law", "coins", "order"} <= {each["attack"] for each in found}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([{**found[0], "verdict": "fine"}], schema)
    assert set(schema["items"]["properties"]["grade"]["enum"]) == set(GRADES)


def test_attacks_can_be_run_alone(given: tuple[Path, Path]) -> None:
    release, raw = given
    done = scumble_command("audit", release, "--raw", raw, *SOME, "--format", "json")
    assert [each["attack"] for each in json.loads(done.stdout)] == ["linking", "retention", "law"]
    with pytest.raises(ParameterError, match=r"there is no attack 'lwa'.*law"):
        audit(release, only=["lwa"])
    wrong = scumble_command("audit", release, "--only", "nothing")
    assert wrong.returncode == 2
    assert "there is no attack 'nothing'" in wrong.stderr


def test_the_exit_code_goes_by_the_threshold(given: tuple[Path, Path]) -> None:
    """Most people are alone: open, as the release says, and severe."""
    release, raw = given
    codes = {
        fail_on: scumble_command("audit", release, "--raw", raw, *SOME, "--fail-on", fail_on).returncode
        for fail_on in ("weaker", "severe", "never")
    }
    assert codes == {"weaker": 0, "severe": 1, "never": 0}


def test_a_report_of_tests_for_build_servers(given: tuple[Path, Path], tmp_path: Path) -> None:
    release, raw = given
    file = tmp_path / "audit.xml"
    done = scumble_command("audit", release, "--raw", raw, *SOME, "--fail-on", "high", "--junit", file)
    assert done.returncode == 1
    assert "fails on high: linking" in done.stdout
    suite = ElementTree.parse(file).getroot()
    assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "3", "1")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["linking"]


def test_what_the_text_says_of_chance(given: tuple[Path, Path]) -> None:
    release, raw = given
    said = scumble_command("audit", release, "--raw", raw, *SOME).stdout
    assert CHANCE in said
    assert "at worst severe" in said
