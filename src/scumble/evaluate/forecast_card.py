"""What a forecast shows of itself, to the publisher alone: it tells the truth beside the errors to come."""

import math
from typing import TYPE_CHECKING

from scumble.core.display import Card, Grid, Note, Part
from scumble.core.parameters import plain
from scumble.publishing.preview import told_by_public
from scumble.query.estimates import Estimates

if TYPE_CHECKING:
    from scumble.evaluate.forecast import Forecast

OUTLOOK = ("column", "kept", "factor", "commonest", "largest belief", "rises", "falls", "rows for ±0.05")

LEGEND = (
    "kept: the retention; of codes, how probably a code stands for the true value. factor: odds change by at most this, whatever was believed. commonest: the share of the commonest value, "
    "which is the largest belief in a value without the release; largest belief: in any value, after the published one that tells most (not how often a "
    "guess is right). rises, falls: the most that any value becomes likelier or less likely. rows: from which a share comes back within 0.05 with 95%."
)

MOST = 60
"""Rows of an answer that are shown."""


def card(forecast: "Forecast") -> Card:
    """The guarantees to come, what an attacker's guess becomes, and the error that each answer will have."""
    parts: list[Part] = [part for part in forecast.plan.card().parts if isinstance(part, Note)]
    parts.append(Note(f"persons: {forecast.persons.words}"))
    parts += told_by_public(forecast.dependence)
    parts += [
        Note(f"warning: publishing will be refused: {error}", "strong") for error in [_refusal(forecast)] if error
    ]
    parts += _outlooks(forecast) if forecast.outlooks else [Note(text) for text in forecast.plan.remarks]
    for sql, answer in forecast.answers:
        parts += [Note(sql, "heading"), _errors(answer)]
        if len(answer) > MOST:
            parts.append(Note(f"({len(answer) - MOST} more rows)", "faint"))
        parts += [Note(f"note: {note}", "faint") for note in answer.notes]
    return Card(f"{forecast.rows:,} rows, mechanism {forecast.plan.mechanism}; nothing is written", parts)


def _refusal(forecast: "Forecast") -> str:
    """The columns that are determined, which publishing refuses unless the spec accepts it."""
    names = [one.column for one in forecast.dependence if one.determined]
    return f"public columns determine {', '.join(names)}, unless the spec accepts it" if names else ""


def _outlooks(forecast: "Forecast") -> list[Part]:
    rows = [
        (
            outlook.column,
            f"{outlook.retain:.4g}",
            plain(outlook.amplification, 4),
            f"{outlook.prior:.3f}",
            f"{outlook.guess:.3f}",
            f"x {plain(outlook.rise, 3)}",
            f"/ {plain(outlook.fall, 3)}",
            f"{outlook.rows:,}",
        )
        for outlook in forecast.outlooks
    ]
    return [
        Note("for your eyes only, with the table's own shares as the attacker's beliefs:", "heading"),
        Grid(OUTLOOK, rows, (0,)),
        Note(LEGEND, "faint"),
        Note(f"condition number of all columns together: {plain(forecast.condition, 4)}"),
    ]


def _errors(answer: Estimates) -> Grid:
    """The truth, and the standard error to come."""
    groups = answer.groups.schema.names
    headings = [
        *groups,
        *(h for e in answer.estimates for h in (f"true {e.name}", "standard error will be", "relative")),
    ]
    keys = answer.groups.slice(0, MOST).to_pylist() if groups else [{}]
    rows = []
    for i, key in enumerate(keys):
        cells = ["NULL" if value is None else str(value) for value in key.values()]
        for e in answer.estimates:
            if math.isnan(e.value[i]):  # the average of no rows
                cells += ["-", "-", "-"]
                continue
            share = f"{abs(e.se[i] / e.value[i]):.1%}" if e.value[i] else "-"
            cells += [plain(e.value[i]), plain(e.se[i], 4), share]
        rows.append(cells)
    return Grid(headings, rows, range(len(groups)))
