"""The page about synthetic rows: what they are, and which tables of one and two columns agree with the release that they were made from."""

from typing import TYPE_CHECKING

from scumble.reporting.figure import text
from scumble.reporting.numbers import whole
from scumble.reporting.page import style, templates

if TYPE_CHECKING:
    from scumble.release.synthetic import Synthetic


def page(synthetic: "Synthetic") -> str:
    """The page as text."""
    margins = synthetic.fidelity
    lines = [
        {
            "names": [text(name) for name in margin.names],
            "cells": whole(margin.cells),
            "inside": f"{100 * margin.inside / max(margin.cells, 1):.0f}%",
            "farthest": f"{100 * margin.farthest:.2f}",
            "half": "exact" if margin.exact else f"± {100 * margin.half:.2f}",
            "low": margin.inside < 0.9 * margin.cells,
        }
        for margin in margins
    ]
    cells = sum(margin.cells for margin in margins)
    return str(
        templates()
        .get_template("fidelity.html")
        .render(
            name=text(synthetic.release.title),
            mark=text(synthetic.mark),
            rows=whole(len(synthetic)),
            columns=[text(name) for name in synthetic.rows.column_names],
            inside=f"{100 * sum(margin.inside for margin in margins) / max(cells, 1):.0f}%",
            cells=whole(cells),
            single=[line for line, margin in zip(lines, margins, strict=True) if len(margin.names) == 1],
            pairs=[line for line, margin in zip(lines, margins, strict=True) if len(margin.names) == 2],
            apart=[text(name) for name in synthetic.apart],
            left=_left(synthetic),
            style=style(),
        )
    )


def _left(synthetic: "Synthetic") -> int:
    """Tables of one and two columns that have too many cells to be compared."""
    count = len(synthetic.rows.column_names)
    return count * (count + 1) // 2 - len(synthetic.fidelity)
