"""From what was believed before seeing a row to the most that can be believed after."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from scumble.core.extras import need


def belief(bound: Callable[[float], float], marked: Sequence[float], width: int) -> Any:
    """The curve of the largest posterior, with the priors of the table beside it marked, and a dashed line where nothing is learnt."""
    alt = need("altair", "report")
    priors = np.concatenate([np.linspace(0, 1, 101), np.geomspace(1e-4, 0.05, 25)])
    curve = [{"x": float(p), "y": bound(float(p))} for p in np.sort(priors)]
    points = [{"x": p, "y": bound(p)} for p in marked]
    percent = {"format": "%", "tickCount": 5, "domain": False, "ticks": False}
    x = alt.X("x:Q", title="believed before", axis=alt.Axis(**percent), scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("y:Q", title="believed after, at most", axis=alt.Axis(**percent), scale=alt.Scale(domain=[0, 1]))
    same = alt.Chart(alt.InlineData(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
    line = alt.Chart(alt.InlineData(values=curve))
    dots = alt.Chart(alt.InlineData(values=points))
    return alt.layer(
        same.mark_line(stroke="var(--soft)", strokeDash=[4, 4], strokeWidth=1.2).encode(x=x, y=y),
        line.mark_line(stroke="var(--estimate)", strokeWidth=2.5).encode(x=x, y=y),
        dots.mark_point(shape="circle", size=56, fill="var(--estimate)", stroke="var(--paper)").encode(x=x, y=y),
    ).properties(width=width, height=260, autosize={"type": "fit", "contains": "padding"})
