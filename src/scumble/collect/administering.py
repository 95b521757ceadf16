"""What is for the administrator alone: on a port of its own that listens on this machine only, and with a token."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from scumble.collect import refusals
from scumble.collect.events import tell
from scumble.collect.metrics import Lines, exposition
from scumble.collect.serving import HEADERS, Collector, bearer, reply
from scumble.collect.store import Store
from scumble.collect.stores import open_store
from scumble.collect.tokens import code_key, new_code
from scumble.core.errors import SurveyError

MOST_CODES = 100_000
"""That are made at once."""

Handler = Callable[[Request], Awaitable[Response]]


class Administration:
    """The routes of the administrator."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._token = collector.settings.admin_token

    def app(self) -> Starlette:
        """The routes."""
        every = [
            ("/status", self._status, "GET"),
            ("/metrics", self._metrics, "GET"),
            ("/codes", self._codes, "POST"),
            ("/close", self._close, "POST"),
        ]
        return Starlette(
            routes=[Route(path, self._guarded(handler), methods=[method]) for path, handler, method in every]
        )

    def _guarded(self, handler: Handler) -> Handler:
        async def guarded(request: Request) -> Response:
            if not bearer(request, self._token):
                return reply({"error": "this is for the administrator: Authorization: Bearer TOKEN"}, 401)
            try:
                return await handler(request)
            except SurveyError as error:
                return reply({"error": str(error)}, 503)

        return guarded

    async def _stored(self, work: Callable[[Store], Any]) -> Any:
        """What a store says, asked aside."""

        def asked() -> Any:
            store = open_store(self._collector.settings.store)
            try:
                return work(store)
            finally:
                store.disconnect()

        return await asyncio.to_thread(asked)

    async def _status(self, request: Request) -> Response:
        tally = asdict(await self._stored(lambda store: store.tally()))
        return reply({"survey": self._collector.survey.digest, **tally, "waiting": self._collector.writer.waiting})

    async def _metrics(self, request: Request) -> Response:
        writer = self._collector.writer
        lines: Lines = [
            ("scumble_answers_total", "counter", "Answers stored since the start.", {"": writer.stored}),
            ("scumble_repeated_total", "counter", "Messages that were known already.", {"": self._collector.repeated}),
            ("scumble_refused_total", "counter", "Messages refused, by reason.", _by_reason(self._collector.refused)),
            ("scumble_transactions_total", "counter", "Transactions written.", {"": writer.transactions}),
            ("scumble_store_failures_total", "counter", "Transactions that nobody knows of.", {"": writer.failures}),
            ("scumble_waiting", "gauge", "Messages that wait to be written.", {"": writer.waiting}),
        ]
        text = exposition(lines) + self._collector.times.text(
            "scumble_answer_seconds", "From a message to its receipt."
        )
        return PlainTextResponse(text, headers=HEADERS, media_type="text/plain; version=0.0.4")

    async def _codes(self, request: Request) -> Response:
        given = request.query_params.get("count", "")
        if not given.isdecimal() or not 0 < int(given[:9]) <= MOST_CODES:
            return reply({"error": f"count is a whole number from 1 to {MOST_CODES:,}"}, 422)
        codes = [new_code() for _ in range(int(given))]
        await self._stored(lambda store: store.add_codes([code_key(code) for code in codes]))
        tell("codes", count=len(codes))
        return reply({"codes": codes})

    async def _close(self, request: Request) -> Response:
        period = request.query_params.get("period", "")
        if bool(period) != bool(self._collector.survey.record.period):
            return reply({"error": "a survey with periods is closed period by period, and no other has one"}, 422)
        await self._stored(lambda store: store.close(period))
        tell("closed", period=period)
        return reply({"closed": period or "the survey"})


def _by_reason(counts: Any) -> dict[str, float]:
    known = [value.code for value in vars(refusals).values() if isinstance(value, refusals.Refusal)]
    return {f'reason="{code}"': float(counts[code]) for code in known}
