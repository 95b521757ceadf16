"""Error against selectivity, on logarithmic scales: every question is a mark, its shape says how many columns it is about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scumble.core.extras import need
from scumble.reporting.plots.ticks import ticks

SHAPES = {1: ("circle", "var(--estimate)"), 2: ("triangle-up", "var(--truth)"), 3: ("cross", "var(--third)")}
"""The mark of a question about one, two or three columns; templates/marks.html draws the same ones for the key."""


@dataclass(frozen=True)
class Point:
    """A question: the share of rows that it counts, its error relative to the count, and how many columns it is about."""

    selectivity: float
    error: float
    columns: int


def scatter(points: Sequence[Point], line: float, error: str, width: int) -> Any:
    """The chart, with a dashed line at an error that is worth naming."""
    alt = need("altair", "report")
    log = alt.Scale(type="log", nice=False)
    wanted = ticks([point.selectivity for point in points]), ticks([line, *(point.error for point in points)])
    across, up = (alt.Axis(format="~%", domain=False, ticks=False, values=values) for values in wanted)
    x = alt.X("selectivity:Q", title="share of rows that the question counts", scale=log, axis=across)
    y = alt.Y("error:Q", title=error, scale=log, axis=up)
    rule = alt.Chart(alt.InlineData(values=[{"error": line}]))
    layers = [rule.mark_rule(stroke="var(--soft)", strokeDash=[4, 4]).encode(y=y)]
    for columns, (shape, colour) in SHAPES.items():
        some = [vars(point) for point in points if point.columns == columns]
        if some:
            mark = {"shape": shape, "size": 34, "stroke": colour, "strokeWidth": 1.4, "filled": False, "opacity": 0.85}
            layers.append(alt.Chart(alt.InlineData(values=some)).mark_point(**mark).encode(x=x, y=y))
    return alt.layer(*layers).properties(width=width, height=300, autosize={"type": "fit", "contains": "padding"})
