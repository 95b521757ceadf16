"""Visits to a survey's pages: what they ask of the network, and what stays in the browser. Every wait has a limit."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LIMIT = 90_000
"""Milliseconds for what takes one second on a machine that does nothing else."""


class Visit:
    """A person's browser at a survey: what the page asks of the network, and what it complains of."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 390, "height": 844}, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(LIMIT)
        self.complaints: list[str] = []
        self.posted: list[tuple[str, str]] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self._look_at)

    def _look_at(self, request: Any) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "data:")):
            self.complaints.append(f"asked for {request.url}")
        if request.method == "POST":
            self.posted.append((request.url.rsplit("/", 1)[1], request.post_data))

    def kept(self) -> str:
        """All that the browser keeps for the page."""
        return str(
            self.page.evaluate("JSON.stringify(localStorage) + document.cookie + JSON.stringify(sessionStorage)")
        )


@contextmanager
def visit(browser: Any, url: str, **options: Any) -> Iterator[Visit]:
    """A visit that complains of nothing."""
    visiting = Visit(browser, **options)
    try:
        visiting.page.goto(url)
        yield visiting
        assert visiting.complaints == []
    finally:
        visiting.context.close()
