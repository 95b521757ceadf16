"""Pages in a real browser: one Chromium for all tests of a module, with no network but the pages themselves.

Debian's package `chromium` is used, and `make browser-tools` installs it together with axe-core. Where either is missing a test is skipped and says so; where
SCUMBLE_BROWSER is "required", as in CI, it fails.
"""

import functools
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
REQUIRED = os.environ.get("SCUMBLE_BROWSER") == "required"
NODE_MODULES = Path(__file__).parent / "web" / "node" / "node_modules"
SCREENS = Path(__file__).parents[1] / "build" / "screenshots"
"""Where tests leave what they saw; it is no part of the repository."""


def demand(there: bool, what: str) -> None:
    """Skips a test for which something is missing, or fails it where nothing may be."""
    if not there and REQUIRED:
        pytest.fail(f"{what} is missing; run make browser-tools")
    if not there:
        pytest.skip(f"{what} is missing; make browser-tools installs it")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser. It goes with the module: while it is open, a loop runs in this thread, and no other one can be started."""
    demand(CHROMIUM.exists(), "Debian's chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium: Any) -> Iterator[Any]:
    """A page of a reader's own; whatever its script complains of fails the test, and so does a request to elsewhere."""
    with opened_tab(chromium) as page:
        yield page


class opened_tab:  # noqa: N801  used like a function
    """A page in a context of its own, by the options of playwright."""

    def __init__(self, chromium: Any, **options: Any) -> None:
        self._context = chromium.new_context(viewport={"width": 1100, "height": 900}, **options)
        self._complaints: list[str] = []

    def __enter__(self) -> Any:
        page = self._context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: self._complaints.append(str(error)))
        page.on("console", self._hear)
        page.on("request", self._look_at)
        page.complaints = self._complaints
        return page

    def _hear(self, said: Any) -> None:
        if said.type == "error":
            self._complaints.append(said.text)

    def _look_at(self, request: Any) -> None:
        if not request.url.startswith(("file:", "http://127.0.0.1:", "data:", "blob:")):
            self._complaints.append(f"asked for {request.url}")

    def __exit__(self, *error: object) -> None:
        self._context.close()
        if not any(error):
            assert self._complaints == []


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, which looks for what people with disabilities cannot use."""
    path = NODE_MODULES / "axe-core" / "axe.min.js"
    demand(path.exists(), "axe-core")
    return path.read_text(encoding="utf-8")


LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
"""What axe looks for: levels A and AA of WCAG."""


def violations(page: Any, axe: str) -> list[str]:
    """What axe finds on a page as it is shown, each with the elements that it is about."""
    page.evaluate(axe)
    found = page.evaluate("(levels) => axe.run(document, { runOnly: levels })", LEVELS)
    return [f"{v['id']}: {[node['target'] for node in v['nodes']][:5]}" for v in found["violations"]]


def screenshot(page: Any, name: str, *, full: bool = True) -> Path:
    """What a reader sees, kept for whoever looks at the run."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    path = SCREENS / f"{name}.png"
    page.screenshot(path=str(path), full_page=full)
    return path


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what was asked for is no news."""


@pytest.fixture
def hosted() -> Iterator[Any]:
    """Puts a folder on a host of this machine, as it is; gives its address."""
    servers: list[http.server.ThreadingHTTPServer] = []

    def host(folder: Path) -> str:
        handler = functools.partial(_Quiet, directory=str(folder))
        servers.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_address[1]}"

    yield host
    for server in servers:
        server.shutdown()
        server.server_close()
