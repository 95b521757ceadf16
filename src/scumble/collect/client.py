"""One person: the same coins for the same answer each time, a queue that outlives the process, and retries that nobody counts twice."""

import json
import math
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scumble.collect import device
from scumble.collect.answers import message_of
from scumble.collect.blind import MESSAGE_BYTES, Blinding, as_token, blind, finalize, from_text, issuer_of, to_text
from scumble.collect.device import Device, Sent
from scumble.collect.reading import open_survey
from scumble.collect.sending import Unreachable, post
from scumble.collect.wire import as_id, decode, encode
from scumble.core.entropy import fresh_bytes
from scumble.core.errors import SurveyError

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds between two tries: the first, which doubles, and the longest."""

MESSAGE = "scumble-message 1"


class Client:
    """One person's side of a survey.

    survey   a Survey, the file of one, its document, or the address of a server that has it
    store    the file that keeps the person's secret and queue; one for each person, and a new one where there is none
    server   the address that answers are sent to; that of the survey where it was given by one
    token    what lets the person answer, where the survey asks for it: a code, which is exchanged for a token where these are blind

    The coins of an answer are a function of the store's secret, the question and the answer. So who answers again says nothing new,
    as long as the answer is the same and the store is kept.
    """

    def __init__(self, survey: Any, store: str | Path, *, server: str | None = None, token: str = "") -> None:
        self.survey = open_survey(survey)
        by_address = isinstance(survey, str) and survey.startswith(("http://", "https://"))
        self.server = server or (survey if by_address else "")
        self.token = token
        self._device = Device(Path(store))

    def message(self, record: Mapping[str, Any], *, period: str | None = None) -> bytes:
        """The person's answers as one message, the same for the same answers; nothing is sent or noted."""
        when = self.survey.period() if period is None else period
        id = as_id(self._device.keyed(MESSAGE, self.survey.digest, when))
        token = self._token(when)
        made = message_of(record, self.survey, token=token, secret=self._device.secret, period=when, id=id)
        return encode(made)

    def _token(self, period: str) -> str:
        """The token; where it is blind and a code was given, the one that the server signs for the code without seeing it."""
        if self.survey.record.tokens != "blind" or "." in self.token:
            return self.token
        key = issuer_of(str(self.survey.record.issuer))
        blinding, token = self._device.blinding(
            self.survey.digest, period, lambda: blind(key, fresh_bytes(MESSAGE_BYTES))
        )
        if not token:
            signature = self._signed(blinding)
            token = as_token(blinding.message, finalize(key, blinding, signature))
            self._device.unblinded(self.survey.digest, period, token)
        return token

    def _signed(self, blinding: Blinding) -> bytes:
        request = {"v": 1, "survey": self.survey.digest, "code": self.token, "blinded": to_text(blinding.blinded)}
        try:
            reply = post(self.server, "/tokens", json.dumps(request).encode(), kind="application/json")
        except Unreachable as error:
            raise SurveyError(
                f"no token can be had, for {self.server} cannot be reached: {error}; try it later"
            ) from None
        signature = from_text(str(reply.document.get("signature", "")))
        if not reply.done or not signature:
            raise SurveyError(f"no token was given for the code: {reply.why}")
        return signature

    def answer(self, record: Mapping[str, Any]) -> Sent:
        """Answers the survey: what is sent is on the disk first, and stays in the queue until a server has taken it.

        A refusal is raised as SurveyError. Where no server can be reached the answer waits, and `flush` sends it.
        """
        if self.survey.ended():
            raise SurveyError(f"the survey took answers until {self.survey.record.until}; it is over")
        period = self.survey.period()
        former = self._device.message(self.survey.digest, period)
        if former is not None and former.state == device.REFUSED:  # nothing of it was taken
            self._device.forget(former)
            former = None
        body = self._body(record, former, period)
        epsilon = math.log(self.survey.gamma)
        waiting = self._device.queue(Sent(self.survey.digest, period, body, self.server, epsilon, self.survey.title))
        if waiting.state == device.WAITING and self.server:
            self._try(waiting)
        return self._settled(self.survey.digest, period)

    def _body(self, record: Mapping[str, Any], former: Sent | None, period: str) -> bytes:
        """The message; the one that was queued before, where the answers are the same."""
        body = self.message(record, period=period)
        if former is None:
            return body
        old, new = decode(former.body), decode(body)
        staged = any(
            question.record.channel.stages for question in self.survey.questions.values() if question.record.channel
        )
        if old is None or new is None or (old.codes != new.codes and not staged):
            raise SurveyError("this survey was answered before with other answers; what was sent cannot be changed")
        return former.body

    def flush(self, timeout: float = 60.0) -> bool:
        """Sends what waits, again and again with longer and longer pauses; whether nothing waits any more.

        timeout   the seconds after which no further try is begun
        """
        end = time.monotonic() + timeout
        for pause in self._pauses():
            waits = [self._try(sent) for sent in self._device.messages(device.WAITING) if sent.server or self.server]
            if not self.waiting:
                return True
            longest = max([pause, *(wait for wait in waits if wait is not None)])
            if not waits or time.monotonic() + longest > end:
                return False
            time.sleep(longest)
        return False

    @property
    def waiting(self) -> int:
        """How many messages wait to be sent."""
        return len(self._device.messages(device.WAITING))

    @property
    def answered(self) -> list[Sent]:
        """Everything that this person ever answered with this store; the epsilons of different surveys add up."""
        return self._device.messages()

    def _try(self, sent: Sent) -> float | None:
        """Sends a message once; the seconds to wait where the server names some."""
        try:
            reply = post(sent.server or self.server, "/answers", sent.body)
        except Unreachable:
            return None
        if reply.done:
            self._device.settle(sent, device.TAKEN)
        elif not reply.later:
            self._device.settle(sent, device.REFUSED, reply.why)
        return reply.retry_after

    def _settled(self, survey: str, period: str) -> Sent:
        sent = self._device.message(survey, period)
        assert sent is not None
        if sent.state == device.REFUSED:
            raise SurveyError(f"the answer was refused: {sent.reason}")
        return sent

    @staticmethod
    def _pauses() -> Iterator[float]:
        """Longer and longer, and no two clients alike: all of them come back when a server does."""
        pause = FIRST_WAIT
        while True:
            share = int.from_bytes(fresh_bytes(4), "little") / 2**32
            yield pause * (0.5 + share / 2)
            pause = min(LONGEST_WAIT, 2 * pause)
