"""One record to one message, on the respondent's side: pure, with fresh coins at each call."""

from collections.abc import Mapping
from typing import Any

from scumble.collect.device_coins import sent_code
from scumble.collect.reading import open_survey
from scumble.collect.survey import Survey
from scumble.collect.survey_question import places
from scumble.collect.wire import VERSION, Message, encode, new_id


def perturb(record: Mapping[str, Any], survey: Any, *, token: str = "") -> bytes:
    """A person's answers as one message that tells no more than the survey promises.

    record   question -> answer, an answer to every question
    survey   a Survey, the file of one, its document, or the address of a server that has it
    token    what lets the person answer, where the survey asks for it

    Coins are fresh at each call: whoever sends two of them lets both be averaged. One person over time is a Client.
    """
    opened = open_survey(survey)
    return encode(message_of(record, opened, token=token))


def message_of(
    record: Mapping[str, Any],
    survey: Survey,
    *,
    token: str = "",
    secret: bytes | None = None,
    period: str | None = None,
    id: str | None = None,
) -> Message:
    """The message of a record; by memoised coins where the device has a secret."""
    true = places(record, survey.questions)
    codes = [
        sent_code(question, place, survey.record.series, secret)
        for question, place in zip(survey.questions.values(), true, strict=True)
    ]
    return Message(
        v=VERSION,
        survey=survey.digest,
        id=id or new_id(),
        codes=codes,
        period=survey.period() if period is None else period,
        token=token,
    )
