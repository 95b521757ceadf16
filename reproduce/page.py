"""One self-contained page of prose, figures and tables: what every script in reproduce/ writes.

    from page import Page, curves                       # scripts run as `python reproduce/olap.py`

    page = Page("Privacy-preserving OLAP", "Figures 4 to 14, ours beside the paper's")
    page.heading("Number of rows")
    page.prose("The error falls as `n^-0.5`. A blank line begins a new paragraph; `code` and **bold** are the only marks.")
    page.figure(curves({"p = 0.5": (n, error)}, x="rows", y="l1 error", log="xy"), "Figure 10. Zipf, 8 columns.")
    page.figures([(left, "caption"), (right, "caption")])               # side by side
    page.table(["p", "error"], [[0.2, 0.31], [0.5, 0.02]], "Numbers of figure 10.")
    page.claims([("error falls as n^-0.5", "slope -0.49", True)])       # the paper says | here | agrees: True, False, None = in part
    page.write("olap.html")                                             # into reproduce/out/, and the path is printed

`curves` draws lines; any other matplotlib figure is welcome too. Figures become inline SVG: the page opens without a network.
A table's numbers get four significant digits, whole ones and those above 1,000 no decimals; give text where that is wrong.
"""

import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

OUT = Path(__file__).parent / "out"
COLOURS = ["#1f6f8b", "#d1603d", "#4f772d", "#7b4b94", "#b08900", "#555555", "#c2185b", "#00897b"]
MARKERS = "osD^vPX*"
CROWD = 4
"""Lines that a legend among them has room for, at most."""

LOOK = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888",
    "axes.grid": True,
    "axes.titlesize": 11,
    "grid.color": "#e6e6e6",
    "font.size": 10,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "scumble",
}

STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; color: #222; background: #fff; max-width: 68rem; margin: 2.5rem auto; padding: 0 1.5rem; }
h1 { font-size: 1.9rem; margin-bottom: .2rem; } h1 + p { color: #666; margin-top: 0; }
h2 { font-size: 1.3rem; margin-top: 2.6rem; border-bottom: 1px solid #ddd; padding-bottom: .25rem; }
p { max-width: 46rem; }
code { background: #f3f3f0; padding: .05rem .3rem; border-radius: 3px; font-size: .9em; }
.row { display: flex; flex-wrap: wrap; gap: 1.5rem; } figure { margin: 1rem 0; flex: 1 1 26rem; max-width: 34rem; }
figure svg { width: 100%; height: auto; } figcaption, caption { color: #555; font-size: .88rem; text-align: left; }
caption { padding-bottom: .4rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; font-size: .9rem; }
th, td { padding: .3rem .75rem; border-bottom: 1px solid #e4e4e4; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #bbb; white-space: nowrap; } td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.yes { color: #2e7d32; white-space: nowrap; } .no { color: #b3261e; white-space: nowrap; } .part { color: #9a6700; white-space: nowrap; }
"""

VERDICTS = {True: '<span class="yes">agrees</span>', False: '<span class="no">differs</span>'}


class Page:
    """A page that grows from top to bottom."""

    def __init__(self, title: str, subtitle: str = "") -> None:
        self._title = title
        self._parts = [f"<h1>{escape(title)}</h1>", f"<p>{_marked(subtitle)}</p>"]

    def heading(self, text: str) -> None:
        """A section begins."""
        self._parts.append(f"<h2>{escape(text)}</h2>")

    def prose(self, text: str) -> None:
        """Paragraphs, separated by blank lines; `code` and **bold** are understood."""
        self._parts += [f"<p>{_marked(part.strip())}</p>" for part in re.split(r"\n\s*\n", text) if part.strip()]

    def figure(self, figure: Figure, caption: str = "") -> None:
        """A matplotlib figure."""
        self.figures([(figure, caption)])

    def figures(self, figures: Sequence[tuple[Figure, str]]) -> None:
        """Figures side by side, each with its caption."""
        drawn = [f"<figure>{_svg(f)}<figcaption>{_marked(text)}</figcaption></figure>" for f, text in figures]
        self._parts.append(f'<div class="row">{"".join(drawn)}</div>')

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "") -> None:
        """Rows of numbers and texts."""
        self._table(headings, [[_cell(value) for value in row] for row in rows], caption)

    def claims(self, rows: Sequence[tuple[str, str, bool | None]]) -> None:
        """What a paper says, what came out here, and whether the two agree (None: in part)."""
        cells = [
            [f"<td>{_marked(said)}</td>", f"<td>{_marked(here)}</td>", f"<td>{_verdict(agrees)}</td>"]
            for said, here, agrees in rows
        ]
        self._table(["the paper says", "here", ""], cells, "")

    def _table(self, headings: Sequence[str], cells: Sequence[Sequence[str]], caption: str) -> None:
        head = "".join(f"<th>{_marked(text)}</th>" for text in headings)
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
        title = f"<caption>{_marked(caption)}</caption>" if caption else ""
        self._parts.append(
            f'<div class="wide"><table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        )

    def write(self, name: str) -> Path:
        """The page as a file in reproduce/out/."""
        OUT.mkdir(exist_ok=True)
        path = OUT / name
        head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(self._title)}</title>'
        body = "\n".join(self._parts)
        path.write_text(
            f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n'
        )
        print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")
        return path


def curves(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    x: str,
    y: str,
    title: str = "",
    log: str = "",
    guides: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    size: tuple[float, float] = (5.6, 3.7),
) -> Figure:
    """Lines by name, with marks at their points.

    log      "x", "y" or "xy": which axes are logarithmic
    guides   thin dashed lines to compare with, such as a slope
    """
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        for i, (name, (across, up)) in enumerate(series.items()):
            colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
            axes.plot(across, up, label=name, color=colour, marker=marker, markersize=4.5, linewidth=1.6)
        for name, (across, up) in (guides or {}).items():
            axes.plot(across, up, label=name, color="#999", linestyle="--", linewidth=1.1)
        axes.set(xlabel=x, ylabel=y, title=title, xscale="log" if "x" in log else "linear")
        axes.set_yscale("log" if "y" in log else "linear")
        if "x" not in log and all(isinstance(v, int) for across, _ in series.values() for v in across):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        names = len(series) + len(guides or {})
        if names > CROWD:  # below the plot, where no line passes
            figure.legend(fontsize=9, loc="outside lower center", ncols=2 if names % 3 else 3)
        elif names > 1:
            axes.legend(fontsize=9)
    return figure


def _svg(figure: Figure) -> str:
    with mpl.rc_context(LOOK):
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _marked(text: str) -> str:
    safe = escape(text)
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", safe)


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return f"<td>{_marked(value)}</td>"
    if isinstance(value, bool) or value is None:
        return f"<td>{'' if value is None else 'yes' if value else 'no'}</td>"
    number = float(value)
    plain = (number.is_integer() and abs(number) < 1e15) or 1e3 <= abs(number) < 1e9
    return f'<td class="number">{f"{number:,.0f}" if plain else f"{number:.4g}"}</td>'


def _verdict(agrees: bool | None) -> str:
    return VERDICTS.get(agrees, '<span class="part">in part</span>')  # type: ignore[arg-type]
