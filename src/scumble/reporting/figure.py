"""A picture on the page: drawn twice, for a wide and for a narrow screen, in the page's own colours, with words for who cannot see it.

Colours are names of CSS variables, so that one drawing serves light, dark and print.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from scumble.core.charts import svg_of
from scumble.core.charts import text as text

WIDE, NARROW = 720, 340
"""Widths in CSS pixels; templates/style.css switches between the two drawings."""

Draw = Callable[[int], Any]
"""A width in pixels -> an Altair chart."""


@dataclass(frozen=True)
class Drawing:
    """A drawing with its caption, and what it shows in words."""

    caption: str
    alt: str
    wide: str
    narrow: str
    key: tuple[tuple[str, str], ...] = ()
    """The marks and what they stand for: (name of a mark in templates/marks.html, words)."""


def figure(draw: Draw, caption: str, alt: str, key: tuple[tuple[str, str], ...] = (), wide: int = WIDE) -> Drawing:
    """The figure of a chart."""
    return Drawing(caption, alt, svg(draw(wide), alt), svg(draw(NARROW), alt), key)


def svg(chart: Any, alt: str) -> str:
    """A chart as SVG that stands in a page."""
    drawn = svg_of(_dressed(chart))
    head, body = drawn.split(">", 1)
    size = re.search(r'viewBox="([\d. ]+)"', head)
    assert size is not None
    body = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", body)
    return f'<svg viewBox="{size[1]}" width="{size[1].split()[2]}" role="img" aria-label="{escape(alt)}">{body}'


def _dressed(chart: Any) -> Any:
    """Without colours, fonts and roles of its own."""
    return chart.configure(
        aria=False,
        background="transparent",
        font="sans-serif",
        view={"stroke": None},
        axis={
            "labelColor": "var(--soft)",
            "titleColor": "var(--soft)",
            "titleFontWeight": "normal",
            "titlePadding": 10,
            "gridColor": "var(--line)",
            "domainColor": "var(--line)",
            "tickColor": "var(--line)",
            "labelFontSize": 12,
            "titleFontSize": 12,
        },
    )
