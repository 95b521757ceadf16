"""HTTP on the respondent's side, by Python's own means: a survey fetched, a body sent, and what the server says to it."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any

from scumble.collect.wire import CONTENT_TYPE
from scumble.core.errors import SurveyError

TIMEOUT = 30.0
"""Seconds that a server may take to answer."""

LARGEST_REPLY = 32 << 20

LATER = {408, 425, 429, 500, 502, 503, 504}
"""What a server says that may be asked again."""


class Unreachable(Exception):  # noqa: N818  what the server is
    """No answer came, so that nobody knows whether what was sent has arrived."""


@dataclass(frozen=True)
class Reply:
    """What a server said."""

    status: int
    document: dict[str, Any] = field(default_factory=dict)
    retry_after: float | None = None

    @property
    def done(self) -> bool:
        """Whether it was taken."""
        return self.status == 200

    @property
    def later(self) -> bool:
        """Whether it may be taken later."""
        return self.status in LATER

    @property
    def why(self) -> str:
        """The reason of a refusal, in the server's words."""
        return str(self.document.get("error") or f"the server answered {self.status}")[:500]


class _Stay(urllib.request.HTTPRedirectHandler):
    """An answer is sent to the address that was named, and to no other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """None is followed."""


_opener = urllib.request.build_opener(_Stay)


def post(
    server: str, path: str, body: bytes, *, kind: str = CONTENT_TYPE, bearer: str = "", timeout: float = TIMEOUT
) -> Reply:
    """What the server says to a body."""
    headers = {"Content-Type": kind, "Accept": "application/json"}
    if bearer:
        headers["Authorization"] = f"Bearer {bearer}"
    return _reply(urllib.request.Request(_address(server) + path, body, headers, method="POST"), timeout)


def fetched_survey(server: str) -> bytes:
    """The survey that a server has."""
    request = urllib.request.Request(_address(server) + "/survey", headers={"Accept": "application/json"})
    try:
        with _opener.open(request, timeout=TIMEOUT) as answer:
            return bytes(answer.read(LARGEST_REPLY))
    except urllib.error.HTTPError as error:
        raise SurveyError(
            f"{server} has no survey: it answered {error.code}; name the address of a collector"
        ) from None
    except (OSError, HTTPException, ValueError) as error:
        raise SurveyError(f"{server} cannot be reached: {_said(error)}") from None


def _reply(request: urllib.request.Request, timeout: float) -> Reply:
    try:
        with _opener.open(request, timeout=timeout) as answer:
            return Reply(answer.status, _document(answer.read(LARGEST_REPLY)))
    except urllib.error.HTTPError as error:
        with error:
            return Reply(error.code, _document(error.read(LARGEST_REPLY)), _seconds(error.headers.get("Retry-After")))
    except (TimeoutError, OSError, HTTPException) as error:
        raise Unreachable(_said(error)) from None
    except ValueError as error:
        raise SurveyError(f"{request.full_url!r} is no address of a server: {error}") from None


def _address(server: str) -> str:
    if not server.startswith(("http://", "https://")):
        raise SurveyError(f"the address of a server begins with https:// or http://, not {server[:80]!r}")
    return server.rstrip("/").removesuffix("/survey").removesuffix("/answers")


def _document(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _seconds(text: str | None) -> float | None:
    return min(3600.0, float(text)) if text is not None and text.strip().isdecimal() else None


def _said(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    return str(getattr(reason, "strerror", None) or reason or type(error).__name__).lower()
