"""Looking at messages before anything is kept: one is taken as the survey's codes and hashes of its token, or refused with a reason."""

import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from msgspec import Raw

from scumble.collect import refusals
from scumble.collect.policy import noted
from scumble.collect.refusals import Refusal
from scumble.collect.store import Arrival, Outcome
from scumble.collect.survey import Survey
from scumble.collect.tokens import code_key, id_key, tag, token_key
from scumble.collect.wire import ID, LONGEST_TOKEN, VERSION, Message, decode

WIDTHS = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""Letters of `struct` for codes of so many bytes."""

LATE = timedelta(days=1)
"""How long after the end of a period a message of it is taken, unless it is closed before: it may have waited for a network."""

Verified = Callable[[str], bool]
"""Whether a token was signed by the survey's issuer."""


class Admission:
    """What a survey lets in."""

    def __init__(self, survey: Survey, verified: Verified | None = None) -> None:
        self._survey = survey
        self._limits = [question.codes for question in survey.questions.values()]
        self.packing = packing(survey)
        self._verified = verified
        self._tokens = survey.record.tokens

    def admit(self, raw: bytes | Raw, now: datetime | None = None) -> Arrival | Refusal:
        """A message as a store takes it, or why it is refused."""
        message = decode(raw)
        if message is None:
            return refusals.MALFORMED
        if message.v != VERSION:
            return refusals.VERSION
        moment = now or datetime.now(UTC)
        problem = self._problem(message, moment)
        return problem or self._arrival(message, moment)

    def _problem(self, message: Message, moment: datetime) -> Refusal | None:
        if message.survey != self._survey.digest:
            return refusals.SURVEY
        if not ID.match(message.id) or len(message.token) > LONGEST_TOKEN:
            return refusals.MALFORMED
        codes, limits = message.codes, self._limits
        if len(codes) != len(limits) or not all(0 <= code < limit for code, limit in zip(codes, limits, strict=True)):
            return refusals.CODES
        if self._survey.ended(moment):
            return refusals.CLOSED
        if message.period not in (self._survey.period(moment), self._survey.period(moment - LATE)):
            return refusals.PERIOD
        return self._of_token(message)

    def _of_token(self, message: Message) -> Refusal | None:
        if self._tokens == "open":
            return refusals.TOKEN_UNWANTED if message.token else None
        if not message.token:
            return refusals.TOKEN_MISSING
        if self._tokens == "blind" and (self._verified is None or not self._verified(message.token)):
            return refusals.TOKEN_UNKNOWN
        return None

    def _arrival(self, message: Message, moment: datetime) -> Arrival:
        keys = {"open": id_key, "codes": code_key, "blind": token_key}
        token = message.token if self._tokens != "open" else message.id
        return Arrival(
            key=keys[self._tokens](token),
            tag=tag(message, token),
            period=message.period,
            codes=self.packing.pack(*message.codes),
            once="" if self._tokens == "blind" else message.period,
            by_code=self._tokens == "codes",
            noted=noted(self._survey.record.clock, moment),
        )

    def refusal(self, outcome: Outcome) -> Refusal | None:
        """Why a store did not keep an arrival; none where it did, now or before."""
        if outcome is Outcome.SPENT:
            return refusals.ID_REUSED if self._tokens == "open" else refusals.TOKEN_SPENT
        return {Outcome.UNKNOWN: refusals.TOKEN_UNKNOWN, Outcome.CLOSED: refusals.CLOSED}.get(outcome)


def packing(survey: Survey) -> struct.Struct:
    """How the codes of an answer are kept: one after the other, each in as many bytes as its question needs, the lowest first."""
    return struct.Struct("<" + "".join(WIDTHS[q.code_type.itemsize] for q in survey.questions.values()))
