"""The page itself: the sections in the order in which they are read, filled into one file that needs nothing else.

Column names and values are somebody else's text: templates escape everything, and the page's own policy forbids scripts, frames and
any connection, should something slip through.
"""

from collections.abc import Callable
from datetime import date
from importlib import resources
from typing import Any

from scumble.core.extras import need
from scumble.core.progress import Progress
from scumble.reporting.figure import text
from scumble.reporting.numbers import whole
from scumble.reporting.section import Section
from scumble.reporting.sections.accuracy import accuracy
from scumble.reporting.sections.asking import asking
from scumble.reporting.sections.crosstab import crosstab
from scumble.reporting.sections.distributions import distributions
from scumble.reporting.sections.frontier import frontier
from scumble.reporting.sections.integrity import integrity
from scumble.reporting.sections.meaning import meaning
from scumble.reporting.sections.mechanisms import mechanisms
from scumble.reporting.sections.promise import promise
from scumble.reporting.sections.published import published
from scumble.reporting.sections.questions import questions
from scumble.reporting.sections.risk import risk
from scumble.reporting.sections.signature import signature
from scumble.reporting.sections.standards import standards
from scumble.reporting.sections.summary import summary
from scumble.reporting.sections.verdict import verdict
from scumble.reporting.subject import Subject

SECTIONS: list[Callable[[Subject], Section | None]] = [
    summary,
    published,
    promise,
    meaning,
    questions,
    risk,
    distributions,
    crosstab,
    accuracy,
    frontier,
    mechanisms,
    standards,
    asking,
    integrity,
    signature,
]


def render(subject: Subject, progress: Progress | None = None) -> str:
    """The page as text."""
    sections = []
    for done, build in enumerate(SECTIONS):
        if progress is not None:
            progress(done, len(SECTIONS))
        section = build(subject)
        if section is not None:
            sections.append(section)
    manifest = subject.manifest
    return str(
        templates()
        .get_template("page.html")
        .render(
            sections=sections,
            internal=subject.internal,
            verdict=verdict(subject),
            name=text(subject.release.title),
            mechanism=", ".join(dict.fromkeys(part.manifest.mechanism for part in subject.parts)),
            rows=whole(manifest.rows),
            software=manifest.software,
            digest=", ".join(part.manifest.digest for part in subject.parts),
            secure=manifest.randomness.secure,
            today=f"{date.today():%-d %B %Y}",
            style=style(),
        )
    )


def style() -> str:
    """How all pages look."""
    return (resources.files("scumble.reporting") / "templates" / "style.css").read_text(encoding="utf-8")


def templates() -> Any:
    """Those of all pages, which escape everything."""
    jinja = need("jinja2", "report")
    return jinja.Environment(
        loader=jinja.PackageLoader("scumble.reporting"),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
