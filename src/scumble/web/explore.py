"""The explore page: manifest, data and what asks them, in one HTML file that loads nothing from elsewhere.

The page runs one script and one style, and the browser is told their hashes, so that it runs nothing else. Names and values stand in it as JSON that no HTML parser
takes for markup, and are shown as text.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from scumble.web.bundle import script, source

NAME = "explore.html"
INLINED = 5_000_000
"""Bytes of data files, all together, up to which they are in the page itself; larger ones are read from beside it."""


@dataclass(frozen=True)
class DataFile:
    """A data file of a release: its path in it, and how it can be told from another."""

    path: str
    sha256: str
    bytes: int
    rows: int


def page(
    document: Mapping[str, Any], facts: Mapping[str, Any], data: Sequence[DataFile], read: Callable[[str], bytes]
) -> str:
    """The page of a release: a function of manifest and data, so that whoever verifies makes it anew.

    document  the manifest, without its files
    facts     what else the page is told
    data      the data files, which the page knows again when it is handed them
    read      gives the bytes of one of them, by its path
    """
    given = {
        "manifest": document,
        "facts": facts,
        "data": [{"path": f.path, "sha256": f.sha256, "bytes": f.bytes, "rows": f.rows} for f in data],
    }
    parts = [_block("release", "application/json", json_text(given))]
    if in_page(data):
        parts += [_block(f"data-{i}", "text/plain", _base64(read(file.path))) for i, file in enumerate(data)]
    return _template().replace("<!-- data -->", "\n".join(parts))


def in_page(data: Sequence[DataFile]) -> bool:
    """Whether the data files are in the page itself."""
    return sum(file.bytes for file in data) <= INLINED


def json_text(value: Any) -> str:
    r"""JSON in which nothing can end a script or begin a comment of HTML.

    >>> json_text({"name": "</script><!--"})
    '{"name": "\\u003c/script>\\u003c!--"}'
    """
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _block(name: str, kind: str, text: str) -> str:
    """Data that a browser does not run."""
    return f'<script type="{kind}" id="{name}">{text}</script>'


@cache
def policy() -> str:
    """What a browser lets the page do: one script and one style, by their hashes, and the data beside it."""
    return (
        f"default-src 'none'; script-src '{_hash(_script())}'; style-src '{_hash(_style())}'; img-src data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'"
    )


@cache
def _template() -> str:
    """The page without its data."""
    html = source("page/explore.html").replace("<!-- policy -->", policy())
    return html.replace("/* style */", _style()).replace("/* script */", _script())


def _script() -> str:
    return script("page/main.js")


def _style() -> str:
    return source("page/explore.css")


def _hash(text: str) -> str:
    """How a browser knows a script or a style: as it stands between its tags."""
    return f"sha256-{_base64(hashlib.sha256(text.encode()).digest())}"
