"""Answers as charts, every estimate with its interval: bars by group, a line over numbers and days, a cross-table of two groups."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from scumble.core.atomic import demand_file, whole_file
from scumble.core.charts import png_of, svg_of, text
from scumble.core.errors import ParameterError
from scumble.core.extras import need

if TYPE_CHECKING:
    from scumble.query.estimates import Estimate, Estimates

MOST_LINES = 60
"""Lines that are drawn, at most."""
MOST_CHARTS = 6
"""Columns that are drawn below each other, at most."""
WIDTH, ROW = 460, 22
"""The width of a chart and the height of a bar, in CSS pixels."""
INK, FILL, SOFT = "#1f2a37", "#8fb3d9", "#5b6770"

MOST_COLUMNS = 12
"""Columns of a cross-table, at most."""
KINDS = (".svg", ".png", ".html")

Rows = list[dict[str, Any]]


def chart_of(answer: "Estimates", column: str | None = None) -> Any:
    """An Altair chart of one column of estimates; of all of them below each other where none is named."""
    estimates = list(answer.estimates) if column is None else [answer[column]]
    if not estimates or not len(answer):
        raise ParameterError("there is nothing to draw: the answer has no line of estimates")
    if len(estimates) > MOST_CHARTS:
        raise ParameterError(
            f"the answer has {len(estimates)} columns of estimates, and {MOST_CHARTS} are drawn at most; name one of them"
        )
    alt = need("altair", "report")
    charts = [_chart(alt, answer, e) for e in estimates]
    whole = charts[0] if len(charts) == 1 else alt.vconcat(*charts, spacing=28).resolve_scale(color="independent")
    axis = {"labelColor": INK, "titleColor": SOFT, "titleFontWeight": "normal", "gridColor": "#e6e9ec", "domain": False}
    return whole.configure(font="sans-serif", background="white", view={"stroke": None}, axis={**axis, "ticks": False})


def demand_kind(path: Path) -> None:
    """Refuses a file whose name does not say what is to be drawn."""
    if path.suffix.lower() not in KINDS:
        raise ParameterError(f"a plot is written to a file that ends in {', '.join(KINDS)}, not to {str(path)!r}")


def write(chart: Any, answer: "Estimates", path: Path, overwrite: bool = False) -> None:
    """The chart in a file: a drawing, pixels, or a page with the table below it that loads nothing."""
    demand_kind(path)
    demand_file(path, overwrite)
    drawn = png_of(chart) if path.suffix.lower() == ".png" else svg_of(chart).encode()
    with whole_file(path, overwrite=overwrite) as aside:
        aside.write_bytes(_page(drawn.decode(), answer).encode() if path.suffix.lower() == ".html" else drawn)


def _page(drawn: str, answer: "Estimates") -> str:
    """A page of a drawing and the numbers in it."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Answer</title>'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width"><style>body{font:15px sans-serif;margin:2em}'
        f"svg{{max-width:100%}}</style></head><body>{drawn}{answer.card().html()}</body></html>\n"
    )


def _chart(alt: Any, answer: "Estimates", e: "Estimate") -> Any:
    names = answer.labels
    count = min(len(answer), MOST_LINES)
    groups = [answer.groups.column(name).slice(0, count) for name in names]
    numbers = list(zip(e.value, e.low, e.high, strict=True))[:count]
    if len(names) == 2 and _crossed(groups):
        drawn = _cross_table(alt, names, groups, numbers, e.digits)
    elif len(names) == 1 and count > 2 and _ordered(groups[0].type):
        drawn = _line(alt, names[0], groups[0], numbers, e.name)
    else:
        drawn = _bars(alt, names, groups, numbers, e.name)
    return drawn.properties(title=alt.Title(text(e.name), subtitle=_subtitle(answer, e, count), **TITLE))


TITLE: dict[str, Any] = {"anchor": "start", "color": INK, "subtitleColor": SOFT, "fontSize": 14, "subtitleFontSize": 12}


def _subtitle(answer: "Estimates", e: "Estimate", count: int) -> list[str]:
    kind = "exact" if e.exact else "with sure bounds" if e.certain else f"with {100 * answer.level:g}% intervals"
    lines = [kind if len(answer) == count else f"{kind}; the first {count} of {len(answer):,} lines"]
    held = [note for note in answer.notes if "hold together" in note]
    return [*lines, *(["all intervals hold together"] if held else [])]


def _ordered(kind: pa.DataType) -> bool:
    return any(
        is_such(kind)
        for is_such in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_temporal)
    )


def _crossed(groups: Sequence[pa.ChunkedArray]) -> bool:
    """Whether two groups make a table: several values of both, and no cell twice."""
    one, other = (column.to_pylist() for column in groups)
    cells = set(zip(one, other, strict=True))
    return 1 < min(len(set(one)), len(set(other))) <= MOST_COLUMNS and len(cells) == len(one)


def _drawable(numbers: Sequence[tuple[float, float, float]]) -> Rows:
    """Values and ends; an interval without an end is drawn to its value."""
    rows: Rows = []
    for value, low, high in numbers:
        if math.isfinite(value):
            ends = [end if math.isfinite(end) else value for end in (low, high)]
            rows.append({"value": float(value), "low": float(ends[0]), "high": float(ends[1])})
        else:
            rows.append({"value": None, "low": None, "high": None})
    return rows


def _bars(alt: Any, names: Sequence[str], groups: Sequence[pa.ChunkedArray], numbers: Any, what: str) -> Any:
    """A bar for each line, the first above."""
    labels = [", ".join(map(text, line)) for line in zip(*(g.to_pylist() for g in groups), strict=True)] or [text(what)]
    rows = [{**row, "label": label} for row, label in zip(_drawable(numbers), _apart(labels), strict=True)]
    base = alt.Chart(alt.InlineData(values=rows))
    y = alt.Y("label:N", sort=None, title=text(", ".join(names)) if names else None, axis=alt.Axis(labelLimit=260))
    ends = alt.X("low:Q", title=text(what)), alt.X2("high:Q")
    return alt.layer(
        base.mark_bar(color=FILL, height={"band": 0.7}).encode(x=alt.X("value:Q", title=text(what)), y=y),
        base.mark_rule(color=INK, strokeWidth=1.4).encode(x=ends[0], x2=ends[1], y=y),
        base.mark_tick(color=INK, thickness=1.4, size=8).encode(x=ends[0], y=y),
        base.mark_tick(color=INK, thickness=1.4, size=8).encode(x=alt.X("high:Q"), y=y),
    ).properties(width=WIDTH, height=max(2 * ROW, ROW * len(rows)))


def _line(alt: Any, name: str, group: pa.ChunkedArray, numbers: Any, what: str) -> Any:
    """A line over numbers or days, with the interval of each point."""
    days = pa.types.is_temporal(group.type)
    places = [None if value is None else value.isoformat() if days else float(value) for value in group.to_pylist()]
    rows = [{**row, "x": x} for row, x in zip(_drawable(numbers), places, strict=True) if x is not None]
    base = alt.Chart(alt.InlineData(values=rows))
    grid = alt.Axis(grid=False) if days else alt.Axis(grid=False, format="d", tickMinStep=1)
    x = alt.X("x:T" if days else "x:Q", title=text(name), scale=alt.Scale(zero=False), axis=grid)
    y = alt.Y("low:Q", title=text(what))
    return alt.layer(
        base.mark_area(color=FILL, opacity=0.45).encode(x=x, y=y, y2=alt.Y2("high:Q")),
        base.mark_line(color=INK, strokeWidth=1.6).encode(x=x, y=alt.Y("value:Q", title=text(what))),
        base.mark_rule(color=INK, strokeWidth=1.2).encode(x=x, y=y, y2=alt.Y2("high:Q")),
        base.mark_point(color=INK, filled=True, size=36, opacity=1).encode(x=x, y="value:Q"),
    ).properties(width=WIDTH, height=240)


def _cross_table(alt: Any, names: Sequence[str], groups: Sequence[pa.ChunkedArray], numbers: Any, digits: int) -> Any:
    """A cell for each combination: the darker the larger, with the interval below the number. The group with more values is down the side."""
    one, other = ([text(value) for value in group.to_pylist()] for group in groups)
    if len(set(other)) > len(set(one)):
        one, other, names = other, one, names[::-1]
    rows = [
        {**row, "row": a, "column": b, "number": _written(value, digits), "ends": _ends(low, high, digits)}
        for row, a, b, (value, low, high) in zip(_drawable(numbers), one, other, numbers, strict=True)
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("column:N", sort=None, title=text(names[1]), axis=alt.Axis(orient="top", labelAngle=0, labelLimit=96)),
        y=alt.Y("row:N", sort=None, title=text(names[0]), axis=alt.Axis(labelLimit=200)),
    )
    shade = alt.Color("value:Q", legend=None, scale=alt.Scale(range=["#f4f7fa", FILL]))
    width = max(len(row["ends"]) for row in rows) * 6 + 14
    return alt.layer(
        base.mark_rect(stroke="white", strokeWidth=2).encode(color=shade),
        base.mark_text(color=INK, dy=-6, fontSize=13).encode(text="number:N"),
        base.mark_text(color=SOFT, dy=9, fontSize=10).encode(text="ends:N"),
    ).properties(width=max(width, 70) * len(set(other)), height=40 * len(set(one)))


def _ends(low: float, high: float, digits: int) -> str:
    return "" if low == high else f"{_written(low, digits)} to {_written(high, digits)}"


def _written(number: float, digits: int) -> str:
    return f"{number:,.{digits}f}" if math.isfinite(number) else "unknown" if math.isnan(number) else "no end"


def _apart(labels: Sequence[str]) -> list[str]:
    """Labels that look the same get a number: the axis would put them in one row."""
    seen: Counter[str] = Counter()
    places = []
    for label in labels:
        seen[label] += 1
        places.append(f"{label} ({seen[label]})" if seen[label] > 1 else label)
    return places
