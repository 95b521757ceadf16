"""Risk against error: a curve for one mechanism over its range, and marks with their names for single settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scumble.core.extras import need
from scumble.reporting.plots.ticks import ticks

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")


@dataclass(frozen=True)
class FrontierPoint:
    """A way to publish: the largest posterior, the error that comes with it, and whether it is on a curve or a mark."""

    name: str
    posterior: float
    error: float
    this: bool = False


def frontier(settings: Sequence[FrontierPoint], error: str, width: int) -> Any:
    """The chart: the curves of the named mechanisms, and this release on it."""
    alt = need("altair", "report")
    narrow = width < 500
    plain = {"format": "~%", "domain": False, "ticks": False}
    x = alt.X(
        "posterior:Q", title="largest belief in any value after seeing a row", axis=alt.Axis(tickCount=5, **plain)
    )
    up = alt.Axis(values=ticks([setting.error for setting in settings]), **plain)
    y = alt.Y("error:Q", title=error, scale=alt.Scale(type="log", nice=False), axis=up)
    names = list(dict.fromkeys(setting.name for setting in settings if not setting.this))
    layers = []
    for place, name in enumerate(names):
        some = sorted(
            (setting for setting in settings if setting.name == name and not setting.this), key=lambda s: s.posterior
        )
        base = alt.Chart(alt.InlineData(values=[vars(setting) for setting in some]))
        layers.append(base.mark_line(stroke="var(--soft)", strokeWidth=1.2).encode(x=x, y=y))
        mark = {"shape": SHAPES[place % len(SHAPES)], "size": 40, "stroke": "var(--estimate)", "filled": False}
        layers.append(base.mark_point(**mark).encode(x=x, y=y))
        if len(names) > 1:
            end = alt.Chart(alt.InlineData(values=[vars(some[0])]))
            style = {"align": "left", "dx": 8, "dy": -8, "fontSize": 11 if narrow else 12, "color": "var(--ink)"}
            layers.append(end.mark_text(**style).encode(x=x, y=y, text="name:N"))
    here = [vars(setting) for setting in settings if setting.this]
    if here:
        base = alt.Chart(alt.InlineData(values=here))
        ring = {"shape": "circle", "size": 230, "stroke": "var(--truth)", "strokeWidth": 2.5, "filled": False}
        layers.append(base.mark_point(**ring).encode(x=x, y=y))
        style = {"align": "left", "dx": 13, "dy": -9, "fontSize": 12, "fontWeight": "bold", "color": "var(--ink)"}
        layers.append(base.mark_text(**style).encode(x=x, y=y, text=alt.value("this release")))
    return alt.layer(*layers).properties(width=width, height=300, autosize={"type": "fit", "contains": "padding"})
