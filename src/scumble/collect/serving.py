"""The server's routes: the survey out, answers in. Everything that comes in is a stranger's."""

import asyncio
import hmac
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scumble.collect import issuing, refusals
from scumble.collect.admission import Admission, Verified
from scumble.collect.blind import issuer_of, token_verifies
from scumble.collect.events import tell
from scumble.collect.issuing import Issuer
from scumble.collect.limits import Rates, read_body
from scumble.collect.metrics import Times
from scumble.collect.pages import Pages
from scumble.collect.refusals import RETRY_AFTER, Refusal
from scumble.collect.settings import ServerSettings
from scumble.collect.store import Arrival, Outcome
from scumble.collect.stores import open_store
from scumble.collect.survey import Survey
from scumble.collect.wire import CONTENT_TYPE, LARGEST, split
from scumble.collect.writer import NotStored, Writer
from scumble.core.errors import InputError, QuestionStopped, ReleaseError, SurveyError
from scumble.core.once import once

if TYPE_CHECKING:
    from scumble.collect.live import LiveAnswers

JSON = "application/json"
TAKEN_TYPES = {CONTENT_TYPE, JSON, "application/x-ndjson", "application/octet-stream", ""}
"""Content types of answers. Those that a form of another site can send are not among them."""

HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
BURST, LEAST_BURST = 20, 5
"""Seconds of the rate that may come at once, and how many requests at least."""

MOST_QUESTIONS = 4
"""That are answered at a time; who asks meanwhile is asked to come again."""

NO_BATCH = 1 << 62
"""Answers of a batch, where none shows before the end."""

_encode = msgspec.json.Encoder().encode


def reply(document: Any, status: int = 200, **headers: str) -> Response:
    """A document of ours."""
    return Response(_encode(document), status, {**HEADERS, **headers}, JSON)


def bearer(request: Request, token: str) -> bool:
    """Whether a request has a token."""
    given = request.headers.get("authorization", "")
    return bool(token) and hmac.compare_digest(given.encode(), f"Bearer {token}".encode())


class Collector:
    """A survey and its store, behind HTTP."""

    def __init__(self, survey: Survey, settings: ServerSettings) -> None:
        self.survey = survey
        self.settings = settings
        self._text = survey.text().encode()
        self._rates = Rates(settings.rate, max(LEAST_BURST, BURST * settings.rate))
        live = survey.record.live
        self.writer = Writer(lambda: open_store(settings.store), live.batch if live else NO_BATCH, tell)
        self._asking = asyncio.Semaphore(MOST_QUESTIONS)
        self.admission = Admission(survey, _verifier(survey))
        self._issuer = None if settings.issuer is None else Issuer(survey, settings.issuer, settings.store)
        self._pages = Pages(settings.messages)
        self.refused: Counter[str] = Counter()
        self.repeated = 0
        self.times = Times()

    def app(self) -> Starlette:
        """The routes, and what begins and ends with the server."""
        routes = [
            Route("/survey", self.get_survey, methods=["GET"]),
            Route("/answers", self.post_answers, methods=["POST"]),
            Route("/health", self.get_health, methods=["GET"]),
            Route("/query", self.get_query, methods=["GET"]),
            *([Route("/tokens", self.post_tokens, methods=["POST"])] if self._issuer else []),
            *self._pages.routes(),
        ]
        return Starlette(routes=routes, lifespan=self._lifespan, exception_handlers={404: _nothing, 405: _nothing})

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self.writer.start()
        with tempfile.TemporaryDirectory(prefix="scumble-live-") as folder:
            self._scratch = Path(folder)
            yield
        await self.writer.stop()

    async def get_survey(self, request: Request) -> Response:
        """The document, to the byte."""
        return Response(self._text, 200, HEADERS, JSON)

    async def get_health(self, request: Request) -> Response:
        """Whether the server works, and nothing that moves with single answers."""
        working = not self.writer.full and not self.writer.failing
        document = {"status": "ok" if working else "busy", "survey": self.survey.digest, "ended": self.survey.ended()}
        return reply(document, 200 if working else 503)

    async def post_answers(self, request: Request) -> Response:
        """Messages: each is stored, known already, or refused with a reason; acknowledged when it is on the disk."""
        started = time.perf_counter()
        parts = await self._parts(request)
        if isinstance(parts, Refusal):
            return self.refuse(parts)
        moment = datetime.now(UTC)
        admitted = [self.admission.admit(part, moment) for part in parts[0]]
        try:
            results = await self._written(admitted)
        except NotStored:
            return self.refuse(refusals.STORE)
        self.times.add(time.perf_counter() - started)
        return self._told(results, single=parts[1])

    async def post_tokens(self, request: Request) -> Response:
        """A code for a signature of something that is not seen."""
        assert self._issuer is not None
        body = await self._body(request, issuing.LARGEST)
        try:
            issued = body if isinstance(body, Refusal) else await self._issuer.issue(body)
        except SurveyError:
            issued = refusals.STORE
        return self.refuse(issued) if isinstance(issued, Refusal) else reply({"signature": issued})

    async def get_query(self, request: Request) -> Response:
        """The answer to a question, over batches that are full; for who may see it."""
        refusal = self._reader(request)
        if refusal is not None:
            return self.refuse(refusal)
        given = request.query_params
        period = given.get("period") or self.survey.period()
        async with self._asking:
            try:
                answer = await asyncio.to_thread(self._asked, given.get("sql", ""), period, given.get("level", "0.95"))
            except QuestionStopped as error:
                return reply({"error": str(error)}, 503)
            except (SurveyError, ReleaseError) as error:  # names of files and databases are for the log alone
                tell("live", error=str(error))
                return self.refuse(refusals.STORE)
            except InputError as error:
                return reply({"error": str(error)}, 422)
        return reply(answer)

    def _asked(self, sql: str, period: str, level: str) -> dict[str, Any]:
        return self._live.ask(sql, period, level=level, timeout=self.settings.seconds)

    @once
    def _live(self) -> "LiveAnswers":
        """Loaded by the first question: a server that starts again after a fall is there at once."""
        from scumble.collect.live import LiveAnswers

        store, live = self.settings.store, self.survey.record.live
        assert live is not None
        return LiveAnswers(self.survey, lambda: open_store(store), self._scratch, live.batch)

    def _reader(self, request: Request) -> Refusal | None:
        """Why somebody may not ask, if so."""
        live = self.survey.record.live
        if live is None:
            return refusals.HIDDEN
        if live.readers == "token" and not bearer(request, self.settings.reader_token):
            return refusals.STRANGER
        if not self._rates.allows(request.client.host if request.client else None):
            return refusals.RATE
        return refusals.BUSY if self._asking.locked() else None

    async def _parts(self, request: Request) -> tuple[list[Any], bool] | Refusal:
        """The messages of a body, and whether it is one alone."""
        body = await self._body(request, LARGEST)
        if isinstance(body, Refusal):
            return body
        messages = split(body)
        if messages is None:
            return refusals.BODY
        return messages, len(messages) == 1 and not body.lstrip().startswith(b"[")

    async def _body(self, request: Request, largest: int) -> bytes | Refusal:
        """What was sent, within the limits; else why it is refused."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in TAKEN_TYPES:
            return refusals.TYPE
        if not self._rates.allows(request.client.host if request.client else None):
            return refusals.RATE
        if self.writer.full:
            return refusals.BUSY
        return await read_body(request, largest, self.settings.seconds)

    async def _written(self, admitted: Sequence[Arrival | Refusal]) -> list[Outcome | Refusal]:
        arrivals = [each for each in admitted if isinstance(each, Arrival)]
        outcomes = iter(await self.writer.write(arrivals) if arrivals else [])
        results: list[Outcome | Refusal] = []
        for each in admitted:
            outcome = each if isinstance(each, Refusal) else next(outcomes)
            results.append((self.admission.refusal(outcome) or outcome) if isinstance(outcome, Outcome) else outcome)
        return results

    def _told(self, results: Sequence[Outcome | Refusal], *, single: bool) -> Response:
        if single and isinstance(results[0], Refusal):
            return self.refuse(results[0])
        refused = [(place, each) for place, each in enumerate(results) if isinstance(each, Refusal)]
        for _, each in refused:
            self._count(each)
        repeated = sum(each is Outcome.REPEATED for each in results)
        self.repeated += repeated
        document: dict[str, Any] = {"stored": len(results) - len(refused) - repeated, "repeated": repeated}
        if refused:
            document["refused"] = [
                {"place": place, "code": each.code, "error": each.sentence} for place, each in refused
            ]
        statuses = {each.status for _, each in refused}
        status = 200 if len(refused) < len(results) else statuses.pop() if len(statuses) == 1 else 422
        return reply(document, status)

    def refuse(self, refusal: Refusal) -> Response:
        """A refusal, counted. Whoever sent too much or too slowly is let go."""
        self._count(refusal)
        headers = {"Retry-After": str(RETRY_AFTER[refusal.code])} if refusal.code in RETRY_AFTER else {}
        if refusal.code in ("size", "slow", "rate"):
            headers["Connection"] = "close"
        return reply({"error": refusal.sentence, "code": refusal.code}, refusal.status, **headers)

    def _count(self, refusal: Refusal) -> None:
        self.refused[refusal.code] += 1
        self.writer.refused[refusal.code] += 1


def _verifier(survey: Survey) -> Verified | None:
    if survey.record.issuer is None:
        return None
    key = issuer_of(survey.record.issuer)
    return lambda token: token_verifies(key, token)


async def _nothing(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    sentence = (
        "there is nothing at this address; docs/protocol.md has the addresses"
        if status == 404
        else "this address takes other methods"
    )
    return reply({"error": sentence}, status)
