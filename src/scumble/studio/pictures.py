"""Small pictures, drawn here as SVG: no script draws them, and no style stands in them but classes and the page's own colours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.display import cell
from scumble.spec.looks.seen import dated, numeric

BARS, BINS, LABEL = 6, 24, 22
"""Values that have a bar, parts of a histogram, and characters of a label."""


@dataclass(frozen=True)
class Counted:
    """A value and how many rows have it."""

    label: str
    count: int
    rest: bool = False


def column_picture(column: pa.ChunkedArray) -> str:
    """A histogram of numbers and days, bars of anything else."""
    kind = column.type
    if (numeric(kind) or dated(kind)) and len(column.unique()) > BARS:
        drawn = histogram(column)
        if drawn:
            return drawn
    return bars(commonest(column))


def commonest(column: pa.ChunkedArray) -> list[Counted]:
    """The values with the most rows, and one bar for all others."""
    if pa.types.is_nested(column.type):
        column = pa.chunked_array([pa.array([str(value) for value in column.to_pylist()])])
    counted = pc.value_counts(column)
    order = pc.sort_indices(counted.field("counts"), sort_keys=[("", "descending")])
    places = order[:BARS].to_pylist()
    top = [Counted(_label(counted.field("values")[p].as_py()), counted.field("counts")[p].as_py()) for p in places]
    others = len(counted) - len(top)
    if others > 0:
        top.append(
            Counted(f"{others:,} other value{'s' * (others > 1)}", len(column) - sum(b.count for b in top), True)
        )
    return top


def _label(value: Any) -> str:
    text = "(missing)" if value is None else cell(value)
    return text if len(text) <= LABEL else text[: LABEL - 1] + "…"


def bars(listed: Sequence[Counted], width: int = 300) -> str:
    """A bar for each value, with its label before it and its share behind it; all others have their share alone."""
    total = sum(bar.count for bar in listed) or 1
    most = max((bar.count for bar in listed if not bar.rest), default=1) or 1
    left, right, step = 136, 44, 19
    lines = []
    for place, bar in enumerate(listed):
        y = place * step
        long = 0.0 if bar.rest else max(1.0, (width - left - right) * bar.count / most)
        lines.append(
            f'<text class="label" x="{left - 8}" y="{y + 13}" text-anchor="end">{escape(bar.label)}</text>'
            f'<rect class="bar" x="{left}" y="{y + 3}" width="{long:.1f}" height="12" rx="1"/>'
            f'<text class="share" x="{left + long + 6:.1f}" y="{y + 13}">{_share(bar.count / total)}</text>'
        )
    return _svg(width, step * max(1, len(listed)), "".join(lines), "How many rows have each value")


def histogram(column: pa.ChunkedArray, width: int = 300, height: int = 96) -> str:
    """Numbers or days in equal steps; nothing where they have no ends."""
    plain = column.drop_null()
    days = dated(plain.type)
    if days:
        plain = plain.cast(pa.timestamp("us")).cast(pa.int64())
    numbers = np.asarray(plain.cast(pa.float64(), safe=False).to_numpy())
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers) or not math.isfinite(numbers.max() - numbers.min()) or numbers.max() == numbers.min():
        return ""
    counts, _ = np.histogram(numbers, BINS)
    step, most, floor = width / BINS, counts.max(), height - 18
    drawn = "".join(
        f'<rect class="bar" x="{i * step + 0.5:.1f}" y="{floor - n * (floor - 4) / most:.1f}" width="{step - 1:.1f}" height="{n * (floor - 4) / most:.1f}"/>'
        for i, n in enumerate(counts.tolist())
        if n
    )
    low, high = (_end(value, days) for value in (numbers.min(), numbers.max()))
    drawn += f'<path class="axis" d="M0 {floor + 0.5}H{width}"/>'
    drawn += f'<text class="share" x="0" y="{height - 4}">{escape(low)}</text><text class="share" x="{width}" y="{height - 4}" text-anchor="end">{escape(high)}</text>'
    return _svg(width, height, drawn, f"How many rows have values from {low} to {high}")


def _end(value: float, days: bool) -> str:
    if days:
        return str(np.datetime64(int(value), "us"))[:10]
    return f"{value:,.10g}"


def _share(share: float) -> str:
    return "<0.1%" if 0 < share < 0.001 else f"{share:.0%}" if share >= 0.1 else f"{share:.1%}"


def _svg(width: float, height: float, drawn: str, title: str) -> str:
    return f'<svg class="picture" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">{drawn}</svg>'


def gauge(success: float, low: float, high: float, baseline: float, width: int = 120) -> str:
    """How often an attack succeeds, with its interval, and a tick where it would without the weakness that it looks for."""
    a, b, x, tick = (3 + (width - 6) * min(1.0, max(0.0, share)) for share in (low, high, success, baseline))
    drawn = (
        f'<path class="axis" d="M3 8H{width - 3}"/><path class="interval" d="M{a:.1f} 8H{b:.1f}"/>'
        f'<circle class="dot" cx="{x:.1f}" cy="8" r="3"/><path class="tick-mark" d="M{tick:.1f} 2V14"/>'
    )
    return f'<svg class="picture gauge" viewBox="0 0 {width} 16" aria-hidden="true">{drawn}</svg>'
