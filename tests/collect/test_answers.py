"""One record to one message: every answer is checked, coins are those of the survey, and nothing else of an answer is in it."""

import json
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
from collect.surveys import COLUMNS, ILLNESSES, survey
from scipy.stats import chi2

import scumble
from scumble.collect.answers import message_of
from scumble.collect.device_coins import sent_code
from scumble.errors import SchemaError

RECORD = {"sex": "F", "illness": "flu", "days": 3}


def codes(**changes: Any) -> list[int]:
    return list(json.loads(scumble.perturb(RECORD | changes, survey()))["codes"])


def test_a_message_is_a_short_line_of_json() -> None:
    body = scumble.perturb(RECORD, survey(), token="K7QF-22")
    message = json.loads(body)
    assert list(message) == ["v", "survey", "id", "codes", "token"]
    assert message["survey"] == survey(series=None).digest or len(message["survey"]) == 64
    assert len(message["id"]) == 22
    assert len(body) < 200
    assert b"\n" not in body


def test_each_call_has_coins_and_an_id_of_its_own() -> None:
    made = survey()
    messages = [json.loads(scumble.perturb(RECORD, made)) for _ in range(200)]
    assert len({message["id"] for message in messages}) == 200
    assert {message["codes"][0] for message in messages} == {0}
    assert len({tuple(message["codes"]) for message in messages}) > 10


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"illness": "flue"}, "'flue' is no answer to 'illness'; did you mean 'flu'?"),
        ({"illness": None}, "'illness' is not answered"),
        ({"illness": 3}, "3 is no answer to 'illness'"),
        ({"illness": ["flu"]}, "is no answer to 'illness'"),
        ({"days": 11}, "a number from 0 to 10"),
        ({"days": "3"}, "'3' is no answer to 'days'"),
        ({"days": float("nan")}, "nan is no answer"),
        ({"days": float("inf")}, "inf is no answer"),
        ({"sex": "x" * 1000}, "..."),
        ({"age": 3}, "'age' is not asked"),
    ],
)
def test_what_is_no_answer_is_refused_on_the_device(change: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaError) as caught:
        codes(**change)
    assert said in str(caught.value)


def test_every_question_is_answered() -> None:
    with pytest.raises(SchemaError, match="'days' is not answered"):
        scumble.perturb({"sex": "F", "illness": "flu"}, survey())
    optional = {**COLUMNS, "illness": {**COLUMNS["illness"], "missing": True}}
    assert len(json.loads(scumble.perturb({"sex": "F", "days": 3}, survey(columns=optional)))["codes"]) == 3


def test_a_public_number_is_a_point_and_none_is_rounded() -> None:
    columns = {**COLUMNS, "age": {"role": "public", "low": 0, "high": 100, "step": 5}}
    made = survey(columns=columns)
    assert json.loads(scumble.perturb({**RECORD, "age": 25}, made))["codes"][3] == 5
    with pytest.raises(SchemaError, match="from 0 to 100, by 5"):
        scumble.perturb({**RECORD, "age": 26}, made)


FALSE_ALARM = 1e-7
"""Of each of the tests below, whose statistic has a chi-square law with at most 3 degrees of freedom: n = 3,000 draws."""
DRAWS = 3000


def distance(counts: Counter[int], expected: np.ndarray) -> float:
    """Pearson's statistic of draws against a law."""
    seen = np.array([counts[code] for code in range(len(expected))])
    return float(((seen - DRAWS * expected) ** 2 / (DRAWS * expected)).sum())


@pytest.mark.slow
@pytest.mark.parametrize("secret", [None, b"s"], ids=["fresh coins", "memoised coins of many people"])
def test_codes_follow_the_channel_of_the_survey_and_no_other(secret: bytes | None) -> None:
    question = survey().questions["illness"]
    drawn = Counter(
        sent_code(question, 1, "ab" * 16, None if secret is None else secret + str(i).encode()) for i in range(DRAWS)
    )
    law = question.coins.channel().matrix()[:, 1]
    limit = chi2.isf(FALSE_ALARM, len(ILLNESSES) - 1)
    assert distance(drawn, law) < limit
    wrong = law + np.array([-0.03, 0.09, -0.03, -0.03])
    assert distance(drawn, wrong) > limit


def test_memoised_coins_are_the_same_for_the_same_answer_and_no_other() -> None:
    made = survey()
    question = made.questions["days"]
    secrets = [bytes([i]) * 32 for i in range(100)]
    first = [sent_code(question, 3, "ab" * 16, secret) for secret in secrets]
    assert first == [sent_code(question, 3, "ab" * 16, secret) for secret in secrets]
    for place, series in ((4, "ab" * 16), (3, "cd" * 16)):
        other = [sent_code(question, place, series, secret) for secret in secrets]
        assert sum(a == b for a, b in zip(first, other, strict=True)) < 60


def operations(call: Any) -> int:
    """How many instructions of Python a call takes, all that it calls included."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
    return count


def test_a_kept_answer_takes_as_many_steps_as_a_replaced_one() -> None:
    """Whoever measures time on the device, or until a message comes, learns nothing of the coin: steps are counted, not seconds."""
    made = survey(columns={"illness": COLUMNS["illness"]})
    question = made.questions["illness"]
    message_of({"illness": "flu"}, made)  # what is worked out once is
    steps: dict[bool, set[int]] = {True: set(), False: set()}
    for i in range(40):
        secret = bytes([i]) * 32
        kept = sent_code(question, 1, made.record.series, secret) == 1
        steps[kept].add(operations(lambda secret=secret: message_of({"illness": "flu"}, made, secret=secret, id="x")))
    assert len(steps[True] | steps[False]) == 1
    assert steps[True]
    assert steps[False]
