"""A browser without a screen: it asks the studio's application itself, keeps its cookie, and follows redirections."""

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.csv

from scumble.studio.app import studio_app
from scumble.studio.state import Studio

TOKEN, PORT = "0123456789abcdef", 8123
PATIENCE = 120.0
EVIL = "<b>ward</b> & '\"; DROP TABLE release; --"
"""The name of a column that would do something, were it not text."""
FORMULA = '=HYPERLINK("http://x.example")<script>alert(1)</script>'


@dataclass
class Answered:
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str

    def element(self, id: str) -> str:
        """The text of the element with that id, which has no element inside."""
        found = re.search(rf'id="{id}"[^>]*>([^<]*)<', self.text)
        assert found is not None, id
        return unescape(found[1])


@dataclass
class Visitor:
    """Somebody with the token, or somebody without."""

    app: Any
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **headers: str) -> Answered:
        """A page, by its address."""
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Answered:
        """A form of one of the studio's own pages; the page that it leads to."""
        own = {"origin": f"http://127.0.0.1:{PORT}", "content-type": "application/x-www-form-urlencoded"}
        answer = self.ask("POST", path, urlencode(form or {}).encode(), {**own, **headers})
        return self.get(answer.headers["location"].partition("#")[0]) if answer.status == 303 else answer

    def until(self, path: str, there: Callable[[Answered], bool]) -> Answered:
        """The page once it is as it should become."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            answer = self.get(path)
            if there(answer):
                return answer
            time.sleep(0.05)
        raise AssertionError(f"{path} never came to that: {answer.text}")

    def ask(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Answered:
        """One request."""
        parts = urlsplit(path)
        named = {"host": f"127.0.0.1:{PORT}", "content-length": str(len(body)), **(headers or {})}
        if self.cookies:
            named["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        scope = {
            "type": "http",
            "method": method,
            "path": parts.path,
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in named.items()],
            "scheme": "http",
            "http_version": "1.1",
            "server": ("127.0.0.1", PORT),
            "client": ("127.0.0.1", 1),
        }
        sent: list[Any] = []
        asyncio.run(self._send(scope, body, sent))
        start = next(message for message in sent if message["type"] == "http.response.start")
        own = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        if "set-cookie" in own:
            name, _, value = own["set-cookie"].partition(";")[0].partition("=")
            self.cookies[name] = value
        text = b"".join(message.get("body", b"") for message in sent).decode()
        return Answered(start["status"], own, text)

    async def _send(self, scope: dict[str, Any], body: bytes, sent: list[Any]) -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)


@contextmanager
def opened_studio(folder: Path, seed: int | None = None) -> Iterator[tuple[Visitor, Studio]]:
    """The studio of a folder and somebody who was let in; whatever it began ends with it."""
    app, studio = studio_app(folder, [TOKEN], PORT, seed)
    visitor = Visitor(app)
    try:
        visitor.get(f"/?token={TOKEN}")
        yield visitor, studio
    finally:
        studio.close()


def small_table(path: Path, rows: int = 300) -> None:
    """People with an identifier, an ordinary column, one in doubt, and an illness."""
    draw = np.random.default_rng(3)
    diseases = ["flu", "cold", "asthma", FORMULA]
    table = pa.table(
        {
            "patient_id": [f"P{i:05d}" for i in range(rows)],
            "age": draw.integers(18, 90, rows),
            "sex": draw.choice(["F", "M"], rows),
            EVIL: draw.choice(["a", "b", "<i>c</i>"], rows),
            "disease": draw.choice(diseases, rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )
    pyarrow.csv.write_csv(table, path)
