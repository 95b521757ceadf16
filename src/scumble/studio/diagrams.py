"""The larger pictures: the frontier of the mechanisms, and answers to come with their intervals."""

import math
from collections.abc import Sequence
from html import escape

from scumble.core.display import cell
from scumble.core.parameters import plain
from scumble.evaluate.measured import percent
from scumble.studio.frontier import ForeseenLine, Frontier

WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 640, 300, 58, 16, 14, 40


def frontier_picture(made: Frontier, level: int, chosen: str | None) -> str:
    """Error against belief, a line and marks for each mechanism; the chosen one is drawn over the others."""
    points = {
        name: [(o.beliefs.posterior, o.error) for at in made.offers if (o := at.get(name)) and 0 < o.error < math.inf]
        for name in made.names
    }
    errors = [error for line in points.values() for _, error in line] + (
        [made.now[1]] if made.now and made.now[1] > 0 else []
    )
    if not errors:
        return ""
    low, high = min(errors) / 1.15, max(errors) * 1.15

    def x(belief: float) -> float:
        return LEFT + (WIDE - LEFT - RIGHT) * min(1.0, max(0.0, belief))

    def y(error: float) -> float:
        return TOP + (HIGH - TOP - BOTTOM) * math.log(high / error) / math.log(high / low)

    drawn = [_axes(x, y, low, high, made.prior)]
    for name, line in sorted(points.items(), key=lambda each: each[0] == chosen):
        style = "mechanism chosen" if name == chosen else "mechanism"
        path = " ".join(f"{x(b):.1f},{y(e):.1f}" for b, e in line)
        marks = "".join(f'<circle cx="{x(b):.1f}" cy="{y(e):.1f}" r="3"/>' for b, e in line)
        drawn.append(f'<g class="{style}"><title>{escape(name)}</title><polyline points="{path}"/>{marks}</g>')
    if made.now is not None and made.now[1] > 0:
        a, b = x(made.now[0]), y(made.now[1])
        drawn.append(f'<path class="now" d="M{a:.1f} {b - 7:.1f}l7 7-7 7-7-7Z"><title>the spec as it is</title></path>')
    here = made.offers[level].get(chosen or "")
    if here is not None and 0 < here.error < math.inf:
        drawn.append(f'<circle class="here" cx="{x(here.beliefs.posterior):.1f}" cy="{y(here.error):.1f}" r="8"/>')
    label = "Error of the worst line against the largest belief in a protected value, for each mechanism"
    return f'<svg class="picture frontier" viewBox="0 0 {WIDE} {HIGH}" role="img" aria-label="{label}">{"".join(drawn)}</svg>'


def _axes(x, y, low: float, high: float, prior: float) -> str:  # type: ignore[no-untyped-def]
    ticks = [
        10.0**power * f for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1) for f in (1, 3)
    ]
    rows = "".join(
        f'<path class="axis" d="M{LEFT} {y(t):.1f}H{WIDE - RIGHT}"/><text class="tick" x="{LEFT - 8}" y="{y(t) + 4:.1f}" text-anchor="end">{percent(t)}</text>'
        for t in ticks
        if low <= t <= high
    )
    columns = "".join(
        f'<text class="tick" x="{x(b):.1f}" y="{HIGH - 20}" text-anchor="middle">{b:.0%}</text>'
        for b in (0, 0.25, 0.5, 0.75, 1)
    )
    floor = f'<path class="prior" d="M{x(prior):.1f} {TOP}V{HIGH - BOTTOM}"/>'
    words = f'<text class="tick" x="{WIDE - RIGHT}" y="{HIGH - 4}" text-anchor="end">largest belief after seeing a row; dashed: without any release</text>'
    return rows + columns + floor + words


def intervals_picture(listed: Sequence[ForeseenLine], width: int = 640) -> str:
    """A dot at the truth, and the interval that its answer will have."""
    if not listed:
        return ""
    left, right, step = 190, 150, 22
    start = min(0.0, *(line.low for line in listed))
    end = max(line.high for line in listed)
    room = width - left - right

    def x(number: float) -> float:
        return left + room * (number - start) / ((end - start) or 1.0)

    drawn = [f'<path class="axis" d="M{x(0):.1f} 0V{step * len(listed)}"/>']
    for place, line in enumerate(listed):
        mid = place * step + 11
        shown = cell(line.label)
        shown = shown if len(shown) <= 30 else shown[:29] + "…"
        numbers = f"{plain(line.value, 4)} [{plain(line.low, 3)}, {plain(line.high, 3)}]"
        drawn.append(
            f'<text class="label" x="{left - 8}" y="{mid + 4}" text-anchor="end">{escape(shown)}</text>'
            f'<path class="interval" d="M{x(line.low):.1f} {mid}H{x(line.high):.1f}"/><circle class="dot" cx="{x(line.value):.1f}" cy="{mid}" r="3.5"/>'
            f'<text class="share" x="{width}" y="{mid + 4}" text-anchor="end">{escape(numbers)}</text>'
        )
    label = "True values, and the intervals that answers will have"
    return f'<svg class="picture intervals" viewBox="0 0 {width} {step * len(listed)}" role="img" aria-label="{label}">{"".join(drawn)}</svg>'
