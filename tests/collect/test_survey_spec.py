"""A collector's spec: what is refused, in a sentence that says what to do."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from collect.surveys import COLUMNS, spec

from scumble.collect.survey_spec import SurveySpec, read_survey_spec
from scumble.errors import SurveyError

TEXT = """
collector = "An institute"
until = 2027-03-31
[privacy]
epsilon = 2
[columns.name]
role = "identifier"
[columns.illness]
role = "sensitive"
values = ["none", "flu"]
"""


def read(tmp_path: Path, text: str) -> SurveySpec:
    (tmp_path / "health_at-work.toml").write_text(text)
    return read_survey_spec(tmp_path / "health_at-work.toml")


def test_a_spec_is_spelt_as_that_of_a_table(tmp_path: Path) -> None:
    given = read(tmp_path, TEXT)
    assert given.title == "health at work"
    assert list(given.asked) == ["illness"]
    assert given.until == datetime(2027, 3, 31, 23, 59, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('role = "sensitive"', 'role = "public"'), "no column is sensitive"),
        (('values = ["none", "flu"]', ""), "a question needs its answers"),
        (('role = "identifier"', 'role = "?"'), "nobody decided"),
        (("[privacy]", "[privacyy]"), "did you mean 'privacy'?"),
        (('["none", "flu"]', '["none", "flu"]\nlow = 0\nhigh = 1'), "a list of values or a grid, not both"),
        (("until = 2027-03-31", "fresh = 0.5"), "give a period beside it"),
        (("until = 2027-03-31", "tokens = 'cods'"), "did you mean 'codes'?"),
        (("until = 2027-03-31", "until = 'soon'"), "until"),
        (("until", "="), "is not valid TOML"),
        (("until = 2027-03-31", "live = { batch = 1 }"), "live.batch"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    with pytest.raises(SurveyError, match=r"health_at-work\.toml") as caught:
        read(tmp_path, TEXT.replace(*change, 1))
    assert said in str(caught.value)


def test_a_spec_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SurveyError, match="there is no spec"):
        read_survey_spec(tmp_path / "none.toml")
    with pytest.raises(SurveyError, match="cannot be read: is a directory"):
        read_survey_spec(tmp_path)


@pytest.mark.parametrize(
    ("given", "until"),
    [
        ("2027-03-31", "2027-03-31T23:59:59+00:00"),
        ("2027-03-31T18:00:00+02:00", "2027-03-31T16:00:00+00:00"),
        (datetime(2027, 3, 31, 18), "2027-03-31T18:00:00+00:00"),
    ],
)
def test_an_end_is_a_moment_of_the_universal_clock(given: Any, until: str) -> None:
    assert spec(until=given).until.isoformat() == until


def test_texts_speak_of_questions_that_are_there() -> None:
    with pytest.raises(ValueError, match="'ilness', which is no column"):
        spec(columns=COLUMNS, texts={"de": {"columns": {"ilness": {"ask": "Was?"}}}})
