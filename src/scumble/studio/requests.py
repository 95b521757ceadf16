"""What a handler is given: a request and its form. Handlers run beside the loop, so that a page that takes a moment holds up no other."""

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from scumble.studio.guard import LARGEST

Form = dict[str, str]
Handler = Callable[[Request, Form], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


def endpoint(handler: Handler) -> Endpoint:
    """A handler as Starlette calls it."""

    async def answer(request: Request) -> Response:
        form = await _form(request) if request.method == "POST" else {}
        return await run_in_threadpool(handler, request, form)

    return answer


async def _form(request: Request) -> Form:
    """The fields of a form; of one that is given twice the last."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST:
            return {}
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=100_000))


def go(place: str) -> Response:
    """On to another page, by GET."""
    return RedirectResponse(place, 303)


def nothing() -> Response:
    """There is no such page."""
    return Response("there is no such page\n", 404, media_type="text/plain")
