"""The pages of a survey, for who answers and for who sees answers while they come in: files of this package, and message files of the operator."""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from importlib import resources
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scumble.collect.promise import messages
from scumble.core.errors import SurveyError, did_you_mean

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What a browser lets the pages do: their own scripts, and requests to where they came from."""

HEADERS = {
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".json": "application/json"}
LANGUAGE = re.compile(r"[a-z]{2,3}\Z")
PLACES = re.compile(r"\{\w+\}")


class Pages:
    """Every file that a browser may have, in memory."""

    def __init__(self, own: Sequence[Path] = ()) -> None:
        folder = resources.files("scumble.collect") / "page"
        self._files = {item.name: item.read_bytes() for item in folder.iterdir() if item.is_file()}
        spoken = {
            item.name.removesuffix(".json"): messages(item.name.removesuffix(".json"))
            for item in (folder / "messages").iterdir()
        }
        spoken |= {path.stem: message_file(path) for path in own}
        self._languages = {code: spoken[code]["language"] for code in sorted(spoken)}
        for code, words in spoken.items():
            self._files[f"messages/{code}.json"] = json.dumps(words, ensure_ascii=False).encode()
        self._files["languages"] = json.dumps(self._languages, ensure_ascii=False).encode()

    def routes(self) -> list[Route]:
        """Where they are."""
        return [
            Route("/", self._page("index.html"), methods=["GET"]),
            Route("/live", self._page("live.html"), methods=["GET"]),
            Route("/page/{name:path}", self._part, methods=["GET"]),
        ]

    def _page(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        async def get(request: Request) -> Response:
            return self._sent(name)

        return get

    async def _part(self, request: Request) -> Response:
        return self._sent(request.path_params["name"])

    def _sent(self, name: str) -> Response:
        held = self._files.get(name)
        if held is None:
            return Response("nothing is here", 404, HEADERS, "text/plain")
        return Response(held, 200, HEADERS, TYPES.get(Path(name).suffix, TYPES[".json"]))


def message_file(path: Path) -> dict[str, str]:
    """The words of the pages in another language: a file that is called by its code, such as it.json."""
    try:
        words = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SurveyError(f"{str(path)!r} is no message file: {error}") from None
    english = messages()
    if not LANGUAGE.match(path.stem) or path.suffix != ".json":
        raise SurveyError(f"a message file is called by the code of its language, such as it.json, not {path.name!r}")
    if not isinstance(words, dict) or not all(isinstance(text, str) for text in words.values()):
        raise SurveyError(f"{str(path)!r} is no message file: one object of texts")
    if "language" not in words:
        raise SurveyError(f"{str(path)!r} does not say what its language is called (language)")
    for name, text in words.items():
        if name not in english:
            raise SurveyError(f"{str(path)!r} has a message {name!r}, which no page says{did_you_mean(name, english)}")
        if strange := set(PLACES.findall(text)) - set(PLACES.findall(english[name])):
            raise SurveyError(f"{str(path)!r} has {min(strange)} in {name!r}, which is not known there")
    return words
