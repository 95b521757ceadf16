"""Blind tokens given out: a code in, a signature of something unseen out, once in a period for each code."""

import asyncio
from pathlib import Path

import msgspec

from scumble.collect import refusals
from scumble.collect.blind import blind_sign, from_text, issuer_text, read_issuer, to_text
from scumble.collect.refusals import Refusal
from scumble.collect.store import Outcome
from scumble.collect.stores import open_store
from scumble.collect.survey import Survey
from scumble.collect.tokens import LONGEST_CODE, code_key, tag_of
from scumble.core.errors import SurveyError

LARGEST = 4 << 10
"""Bytes of a request for a token."""


class TokenRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person sends."""

    v: int
    survey: str
    code: str
    blinded: str


_decoder = msgspec.json.Decoder(TokenRequest)


class Issuer:
    """Who has the private key of a survey's tokens."""

    def __init__(self, survey: Survey, key: Path, store: str) -> None:
        self._key = read_issuer(key)
        if issuer_text(self._key.public_key()) != survey.record.issuer:
            raise SurveyError(f"the key in {str(key)!r} is not the one that the survey names as its issuer's")
        self._survey = survey
        self._store = store
        self._lock = asyncio.Lock()

    async def issue(self, body: bytes) -> str | Refusal:
        """The signature, or why there is none. One at a time: what is signed is on the disk first."""
        request = self._request(body)
        if isinstance(request, Refusal):
            return request
        blinded = from_text(request.blinded) or b""
        async with self._lock:
            outcome = await asyncio.to_thread(self._noted, request)
            if outcome is Outcome.UNKNOWN:
                return refusals.TOKEN_UNKNOWN
            if outcome is Outcome.SPENT:
                return refusals.CODE_SPENT
            try:
                return to_text(await asyncio.to_thread(blind_sign, self._key, blinded))
            except SurveyError:
                return refusals.MALFORMED

    def _request(self, body: bytes) -> TokenRequest | Refusal:
        try:
            request = _decoder.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return refusals.MALFORMED
        if request.v != 1:
            return refusals.VERSION
        if request.survey != self._survey.digest:
            return refusals.SURVEY
        whole = len(from_text(request.blinded) or b"") == -(-self._key.key_size // 8)
        if not whole or len(request.code) > LONGEST_CODE:
            return refusals.MALFORMED
        return refusals.CLOSED if self._survey.ended() else request

    def _noted(self, request: TokenRequest) -> Outcome:
        store = open_store(self._store)
        try:
            return store.issue(code_key(request.code), self._survey.period(), tag_of(request.code, request.blinded))
        finally:
            store.disconnect()
