"""Templates and files: every page is made here, and every value in it is escaped."""

from functools import cache
from importlib import resources
from typing import Any

from starlette.responses import HTMLResponse, Response

from scumble.core.display import Grid, Items, Note, plain
from scumble.core.extras import need
from scumble.core.parameters import plain as number
from scumble.evaluate.measured import percent
from scumble.release.explore_facts import explore_page
from scumble.release.release import Release
from scumble.web.explore import policy

FILES = {
    "report.css": ("scumble.reporting", "templates/style.css", "text/css"),
    "studio.css": ("scumble.studio", "static/studio.css", "text/css"),
    "studio.js": ("scumble.studio", "static/studio.js", "text/javascript"),
}
"""What pages load: the style of the report, so that all pages are of one kind, and what the studio has beyond it."""

PRINTED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-popups allow-modals"
"""The report: a page without scripts, kept apart from the studio."""

APART = "; sandbox allow-scripts allow-downloads allow-modals"
"""Added to the explore page's own policy. Names and values in it may be a stranger's: it lives in an origin of its own, without the cookie."""


@cache
def _environment() -> Any:
    jinja = need("jinja2", "studio")
    made = jinja.Environment(
        loader=jinja.PackageLoader("scumble.studio"),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["plain"] = plain
    made.filters["plain_lines"] = lambda text: "\n".join(plain(line) for line in str(text).splitlines())
    made.filters["share"] = lambda share: "-" if share is None else percent(share)
    made.filters["number"] = lambda value: number(value, 4) if isinstance(value, float) else plain(value)
    made.filters["kind"] = lambda part: {Grid: "grid", Note: "note", Items: "items"}[type(part)]
    return made


def rendered(template: str, facts: dict[str, Any], status: int = 200) -> Response:
    """A page."""
    return HTMLResponse(_environment().get_template(template).render(**facts), status)


def printed(text: str) -> Response:
    """The report."""
    return HTMLResponse(text, headers={"Content-Security-Policy": PRINTED})


def explored(release: Release) -> Response:
    """The explore page of a release, made anew: its script is ours, whoever made the release."""
    page = explore_page(release.manifest, lambda name: release.file(name).read_bytes())
    return HTMLResponse(page, headers={"Content-Security-Policy": policy() + APART})


def file(name: str) -> Response:
    """A file that pages load."""
    if name not in FILES:
        return Response("there is no such file\n", 404, media_type="text/plain")
    package, path, kind = FILES[name]
    text = (resources.files(package) / path).read_text(encoding="utf-8")
    return Response(text, media_type=kind)
