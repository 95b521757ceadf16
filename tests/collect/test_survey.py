"""A survey: channels by the mechanism's own plan, a digest and a signature over all of it, and a promise that nobody can overstate."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from collect.surveys import COLUMNS, KEY, survey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import scumble
from scumble.collect.promise import messages, promise, rounded_up
from scumble.collect.reading import open_survey
from scumble.collect.survey import Survey
from scumble.collect.survey_record import SurveyRecord
from scumble.core.mixture_choice import best_mixture
from scumble.core.mixture_coins import MixtureCoins
from scumble.core.mixture_part import Numbers
from scumble.core.staged_coins import StagedCoins
from scumble.errors import SurveyError
from scumble.release.manifest import digest_of
from scumble.release.records import record_of


def document(**changes: Any) -> dict[str, Any]:
    return dict(json.loads(survey(**changes).text()))


def resealed(changed: dict[str, Any]) -> dict[str, Any]:
    """The document of a collector who lies, with a digest and a signature of its own."""
    plain = {key: value for key, value in changed.items() if key not in ("digest", "signature")}
    record = SurveyRecord.model_validate({**plain, "signature": None})
    lying = Survey(record)
    assert digest_of(plain) == lying.digest
    return dict(json.loads(lying.signed(KEY).text()))


def test_a_survey_is_read_as_it_was_made(tmp_path: Path) -> None:
    made = survey()
    (tmp_path / "s.json").write_text(made.text())
    for given in (
        tmp_path / "s.json",
        str(tmp_path / "s.json"),
        made.text(),
        made.text().encode(),
        json.loads(made.text()),
        made,
    ):
        read = open_survey(given)
        assert (read.digest, read.text()) == (made.digest, made.text())
    assert read.gamma <= Fraction(20.0855369232)  # e^3, from below
    assert read.gamma > 20


def test_a_survey_promises_what_its_release_will() -> None:
    made = survey()
    terms = made.terms
    assert terms.guarantees == made.record.guarantees
    (factor,) = [g.parameters["gamma"] for g in terms.guarantees if g.kind == "amplification"]
    assert Fraction(factor) >= made.gamma
    assert "one_row_unanswered" in [condition.code for condition in terms.guarantees[0].conditions]
    assert "one_row_stated" in [c.code for c in survey(tokens="codes").terms.guarantees[0].conditions]


def test_anything_that_was_changed_later_is_seen() -> None:
    for change in ({"title": "Another"}, {"promise": "Nothing."}, {"series": "0" * 32}, {"until": None}):
        with pytest.raises(SurveyError, match="was changed after it was made"):
            open_survey(document() | change)
    other = survey().signed(Ed25519PrivateKey.generate())
    with pytest.raises(SurveyError, match="is not that of its key"):
        open_survey(
            {**document(), "signature": json.loads(other.text())["signature"] | {"key": document()["signature"]["key"]}}
        )
    with pytest.raises(SurveyError, match="is not signed"):
        open_survey({key: value for key, value in document().items() if key != "signature"})


def _weaker(given: dict[str, Any]) -> None:
    """Nine tenths are kept, and the promise stays."""
    channel = given["questions"][1]["channel"]
    channel["threshold"] = (1 << 32) // 10 * 9 // 4 * 4
    channel["retain"] = channel["threshold"] / 2**32


def _promises_more(given: dict[str, Any]) -> None:
    given["guarantees"][0]["parameters"]["gamma"] = 2.0


def _says_more(given: dict[str, Any]) -> None:
    given["promise"] = "Nobody can ever learn anything."


def _bare(given: dict[str, Any]) -> None:
    del given["questions"][1]["channel"]


def _of_no_words(given: dict[str, Any]) -> None:
    given["questions"][1]["channel"]["threshold"] += 1


def _by_counts(given: dict[str, Any]) -> None:
    given["mechanism"] = "k_dgs"


def _unknown(given: dict[str, Any]) -> None:
    given["mechanism"] = "magic"


def _twice(given: dict[str, Any]) -> None:
    given["questions"].append({**given["questions"][0], "name": "SEX"})


LIES = {
    _weaker: "promises something else than what follows",
    _promises_more: "promises something else than what follows",
    _says_more: "sentence for who answers is not the one that follows",
    _bare: "'illness' is not so",
    _of_no_words: "cannot be one",
    _by_counts: "works on a whole table",
    _unknown: "does not know",
    _twice: "two questions of one name",
}


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
def test_a_collector_who_lies_is_refused(lie: Any) -> None:
    """A signature says who says it, and not that it is so."""
    given = document()
    lie(given)
    plain = {key: value for key, value in given.items() if key not in ("digest", "signature")}
    try:
        given = resealed(given)
    except scumble.ScumbleError:  # such a survey cannot even be made
        given |= {"digest": digest_of(plain)}
    with pytest.raises(SurveyError, match=LIES[lie]):
        open_survey(given)


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"format": "scumble-survey"}',
        "\ud800{",
        b"[" * 10_000,
        b'{"a":' * 50 + b"1" + b"}" * 50,
        7,
        None,
        b"\xff",
    ],
)
def test_what_is_no_survey_is_refused_in_a_sentence(given: Any) -> None:
    with pytest.raises(SurveyError):
        open_survey(given)


@pytest.mark.parametrize("key", sorted(set(json.loads(survey().text())) - {"digest"}))
def test_a_field_that_is_missing_or_of_another_kind_is_refused(key: str) -> None:
    wrong: list[Any] = [None, 7, [], {}, "x", True]
    for given in wrong:
        changed = document() | {key: given}
        changed |= {"digest": digest_of({k: v for k, v in changed.items() if k not in ("digest", "signature")})}
        with pytest.raises(SurveyError):
            open_survey(changed)


def test_mechanisms_whose_coins_belong_to_a_row_can_be_used() -> None:
    wide = {**COLUMNS, "code": {"role": "sensitive", "low": 0, "high": 499}}
    design = survey(mechanism="design", columns=wide, privacy={"gamma": 27})
    assert design.questions["code"].codes > 500
    assert open_survey(design.text()).questions["code"].column().type == "uint16"
    fine = survey(mechanism="fine_grain", settings={"weights": "alike"}, columns={"illness": COLUMNS["illness"]})
    assert open_survey(fine.text()).record.mechanism == "fine_grain"
    known = {"illness": {"none": 0.7, "flu": 0.2}}
    how: dict[str, Any] = {
        "mechanism": "shaped",
        "columns": {"illness": COLUMNS["illness"]},
        "privacy": {"rho2": 0.5, "gamma": 9},
    }
    shaped = open_survey(survey(**how, settings={"frequencies": known}).text())
    assert shaped.gamma <= 9
    assert scumble.perturb({"illness": "flu"}, shaped) != b""
    with pytest.raises(SurveyError, match="give weights or frequencies"):
        survey(**how)


def test_codes_that_the_protocol_does_not_have_are_refused() -> None:
    """By whoever drafts a survey, and by whoever opens one."""
    ages: dict[str, Any] = {"age": {"role": "sensitive", "low": 0, "high": 99}}
    with pytest.raises(SurveyError, match="which the protocol of surveys does not have; use design"):
        survey(mechanism="mixture", columns=ages, privacy={"gamma": 5})
    record = record_of(MixtureCoins.of(best_mixture(Numbers(100), 5.0)))
    changed = json.loads(survey(mechanism="design", columns=ages, privacy={"gamma": 5}).text())
    changed["questions"][0]["channel"] = record.model_dump(mode="json", exclude_none=True)
    changed |= {"digest": digest_of({k: v for k, v in changed.items() if k not in ("digest", "signature")})}
    with pytest.raises(SurveyError, match=r"'questions\.0\.channel' is none"):
        open_survey(changed)


def test_mechanisms_that_count_a_table_cannot() -> None:
    for mechanism in ("partitioned", "k_dgs", "swapped", "anatomy"):
        with pytest.raises(SurveyError, match="nobody has one here"):
            survey(mechanism=mechanism)
    with pytest.raises(SurveyError, match="from the counts of a table here"):
        survey(mechanism="fine_grain", columns={"illness": COLUMNS["illness"]})


def test_a_survey_of_periods_has_memoised_coins() -> None:
    made = survey(period="month", fresh=0.75)
    assert all(isinstance(coins, StagedCoins) for coins in made.coins.values())
    assert made.manifest().randomness.keyed
    assert made.terms.guarantees[0].kind == "memoised"
    assert "all that you send over time" in made.promise
    assert made.gamma <= Fraction(20.0855369232)


def test_coins_are_committed_to_by_series_domain_and_channel() -> None:
    """The same commitment where coins are the same, and another where they are not."""

    def commitments(**changes: Any) -> list[str]:
        streams = survey(**({"period": "month", "series": "ab" * 16} | changes)).manifest().randomness.streams
        return [stream.commitment for stream in streams]

    first = commitments()
    assert commitments(title="Another", until="2028-01-01") == first
    renamed = {**COLUMNS, "illness": {**COLUMNS["illness"], "ask": "Which?"}}
    assert commitments(columns=renamed) == first
    moved = {name: column for name, column in COLUMNS.items() if name != "illness"} | {
        "ill": {**COLUMNS["illness"], "attribute": "illness"}
    }
    assert sorted(commitments(columns=moved)) == sorted(first)
    for change in ({"series": "cd" * 16}, {"privacy": {"epsilon": 2}}):
        assert not set(commitments(**change)) & set(first)


def test_labels_are_for_values_that_are_there() -> None:
    with pytest.raises(SurveyError, match="a label for 'X'"):
        survey(columns={**COLUMNS, "sex": {"role": "public", "values": ["F", "M"], "labels": {"X": "other"}}})
    yes = {"role": "sensitive", "values": [True, False], "labels": {"true": "yes", "false": "no"}}
    assert survey(columns={"smoker": yes}).questions["smoker"].record.labels == {"true": "yes", "false": "no"}


@pytest.mark.parametrize(
    ("values", "type"),
    [
        (["a", "b"], "string"),
        ([1, 2], "int64"),
        ([1, 2.5], "double"),
        ([True, False], "bool"),
        (["2027-01-01", "2027-01-02"], "date32[day]"),
    ],
)
def test_the_type_of_answers_is_that_of_the_declared_values(values: list[Any], type: str) -> None:
    asked = {"role": "sensitive", "values": values} | ({"type": "date"} if type.startswith("date") else {})
    if type.startswith("date"):
        from datetime import date

        asked["values"] = [date.fromisoformat(value) for value in values]
    made = open_survey(survey(columns={"x": asked}).text())
    assert made.questions["x"].record.type == type
    with pytest.raises(SurveyError, match="of several kinds"):
        survey(columns={"x": {"role": "sensitive", "values": ["a", 1]}})


def test_the_sentence_rounds_up() -> None:
    assert rounded_up(Fraction(300001, 100000), 2) == "3.01"
    assert "3.01" in promise(Fraction(300001, 100000))
    assert promise(Fraction(1001)) == messages()["promise_weak"]
