"""Who may come in: this machine's own user, by a browser that was handed a token, from no page but the studio's own.

A page of a stranger can make a browser send requests to 127.0.0.1, and can make a name of its own lead there (DNS rebinding). So the Host header has to
be ours, the cookie is sent from our own pages alone (SameSite=Strict), and whatever changes something has to come from our own origin.
"""

import hmac
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from scumble.core.entropy import fresh_bytes

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a browser lets our pages do: files of the studio, and requests to it."""

HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer a browser would send forms with the origin "null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
BROKEN = "something went wrong in the studio itself ({}); go back and try again"
STRANGER = (
    "open the address that `scumble studio` printed: it has a token in it, which this browser was not given; "
    "it opens once, and a studio that is started anew prints another"
)
SAFE = ("GET", "HEAD")
LARGEST = 4 << 20
"""Bytes of a body."""


class Guard:
    """Stands before all pages."""

    def __init__(self, app: App, tokens: Iterable[str], port: int) -> None:
        self._app, self._tokens = app, set(tokens)
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie, self._session = f"scumble-studio-{port}", fresh_bytes(24).hex()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or refuses it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        started = _Started(send)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(started, *refusal)
        elif self._enters(scope):
            cookie = f"{self._cookie}={self._session}; HttpOnly; SameSite=Strict; Path=/"
            await _answer(started, 303, "", {"location": "/", "set-cookie": cookie})
        elif self._known(headers):
            await self._inside(scope, receive, started)
        else:
            await _answer(started, 403, STRANGER)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if host not in self._hosts:
            return 421, "the studio answers at 127.0.0.1 alone"
        if scope["method"] in SAFE:
            return None
        if headers.get("origin") != f"http://{host}" or headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return 403, "only the studio's own pages can change something"
        if not headers.get("content-length", "0").isdigit() or int(headers.get("content-length", "0")) > LARGEST:
            return 413, "this is too much for a form"
        return None

    def _known(self, headers: dict[str, str]) -> bool:
        try:
            held = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return False
        return held is not None and hmac.compare_digest(held.value.encode(), self._session.encode())

    def _enters(self, scope: Scope) -> bool:
        """Whether the address has a token, which is void from now on: others may read it in the command line of a browser."""
        if scope["method"] != "GET" or scope["path"] != "/":
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        held = [token for token in self._tokens if hmac.compare_digest(given.encode(), token.encode())]
        self._tokens.difference_update(held)
        return bool(held)

    async def _inside(self, scope: Scope, receive: Receive, started: "_Started") -> None:
        try:
            await self._app(scope, receive, started)
        except Exception as error:  # noqa: BLE001  a server's own log would have the message in it, and a message may have a value in it
            tell(error)
            if not started.begun:
                await _answer(
                    started,
                    500,
                    BROKEN.format(type(error).__name__),
                )


class _Started:
    """Adds our headers, where a page has none of its own, and knows whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send, self.begun = send, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            own = list(message.get("headers", []))
            named = {name.lower() for name, _ in own}
            more = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in named]
            message = {**message, "headers": [*own, *more]}
        await self._send(message)


async def _answer(send: Send, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
    text = f"scumble studio: {sentence}\n".encode() if sentence else b""
    own = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(text)), **(headers or {})}
    listed = [(name.encode(), value.encode()) for name, value in own.items()]
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": text})


def tell(error: BaseException) -> None:
    """An error of our own, on the terminal: its kind and its place, and not its message."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" in {Path(last[0].filename).name}, line {last[0].lineno}" if last else ""
    print(f"scumble studio: {type(error).__name__}{where}", file=sys.stderr, flush=True)
