"""Counts of values: what was published, what is estimated with its interval, and the truth, a row for each value.

Each has a shape of its own: a square, a dot on a line, a diamond. Nothing is told by colour alone.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from scumble.core.extras import need

STEP = 24
"""Pixels of a row."""

SQUARE = {"shape": "square", "size": 42, "stroke": "var(--published)", "strokeWidth": 1.5, "filled": False}
DOT = {"shape": "circle", "size": 62, "fill": "var(--estimate)", "stroke": "var(--paper)", "strokeWidth": 1}
DIAMOND = {"shape": "diamond", "size": 78, "stroke": "var(--truth)", "strokeWidth": 2, "filled": False}


@dataclass(frozen=True)
class DotLine:
    """A value, or a range of values, with its counts."""

    label: str
    estimate: float
    low: float
    high: float
    published: float | None = None
    truth: float | None = None


def dots(lines: Sequence[DotLine], width: int) -> Any:
    """The chart of some values, from top to bottom."""
    alt = need("altair", "report")
    narrow = width < 500
    base = alt.Chart(alt.InlineData(values=[_drawn(line) for line in _apart(lines)]))
    labels = alt.Axis(
        labelLimit=130 if narrow else 230, labelColor="var(--ink)", ticks=False, domain=False, labelPadding=8
    )
    y = alt.Y("label:N", sort=None, title=None, axis=labels)
    counts = alt.Axis(format="~s", tickCount=4 if narrow else 7, domain=False, ticks=False)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", axis=counts, title="rows of the table")

    ranged = base.mark_rule(stroke="var(--estimate)", strokeWidth=3, strokeCap="round")
    layers = [ranged.encode(x=x("low"), x2="high:Q", y=y)]
    for field, mark in (("published", SQUARE), ("estimate", DOT), ("truth", DIAMOND)):
        if any(getattr(line, field) is not None for line in lines):
            layers.append(base.mark_point(**mark).encode(x=x(field), y=y))
    fitted = {"type": "fit-x", "contains": "padding"}
    return alt.layer(*layers).properties(
        width=width, height={"step": STEP}, autosize=fitted, padding={"left": 14, "right": 6, "top": 5, "bottom": 5}
    )


def _apart(lines: Sequence[DotLine]) -> list[DotLine]:
    """Values that look the same when cut short get a number: the axis would put them in one row."""
    seen: Counter[str] = Counter()
    places = []
    for line in lines:
        seen[line.label] += 1
        places.append(replace(line, label=f"{line.label} ({seen[line.label]})") if seen[line.label] > 1 else line)
    return places


def _drawn(line: DotLine) -> dict[str, Any]:
    """An interval without an end is drawn to its value; the table beside the chart says that it is open."""
    ends = {
        name: end if math.isfinite(end) else line.estimate for name, end in (("low", line.low), ("high", line.high))
    }
    return {**vars(line), **ends}
