"""A protected column by a public one, as a table whose cells are shaded by their share: a heat map that can be read aloud."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from scumble.core.errors import InputError
from scumble.reporting.axes import Axis, protected_axis, public_axis
from scumble.reporting.figure import text
from scumble.reporting.numbers import whole
from scumble.reporting.section import Section
from scumble.reporting.subject import Subject

MOST_ROWS, MOST_COLUMNS = 12, 6
MOST_CANDIDATES = 12
"""Columns that are looked at, to find the one that tells most."""

TITLE = "Together: a cross-tabulation"

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """A share of the rows of its column of the table, with half the width of its interval, and the truth where it is known."""

    share: str
    half: str
    truth: str
    shade: float
    """From 0 to 1, for the eye."""
    held: bool


def crosstab(subject: Subject) -> Section:
    """The section, with the pair of columns that depend on each other most by what was published."""
    for across, name in _pairs(subject):
        try:
            down = protected_axis(subject, name, MOST_ROWS)
            return Section("crosstab", TITLE, _table(subject, across, down))
        except InputError:
            continue
    return Section(
        "crosstab",
        TITLE,
        why_not="No two columns of this release have few enough values, and can be asked together, to stand in one table.",
    )


def _pairs(subject: Subject) -> list[tuple[Axis, str]]:
    """Columns to lay across, each with one to lay down; those first that depend on each other most."""
    names = (subject.manifest.public or subject.protected)[:MOST_CANDIDATES]
    axes = [axis for name in names if (axis := public_axis(subject, name, MOST_COLUMNS)) is not None]
    pairs = [(axis, name) for axis in axes for name in subject.protected[:3] if name != axis.name]
    return sorted(pairs, key=lambda pair: -_dependence(subject, *pair))[:6]


def _dependence(subject: Subject, across: Axis, name: str) -> float:
    """Pearson's statistic of the published counts over its degrees of freedom; 0 where they cannot be counted."""
    try:
        counts = subject.published([across.number, exp.column(name, quoted=True)], 1 << 16)
    except InputError:
        return 0.0
    if not counts:
        return 0.0
    a, b = ({key: i for i, key in enumerate(dict.fromkeys(k[side] for k in counts))} for side in (0, 1))
    table = np.zeros((len(a), len(b)))
    for (x, y), n in counts.items():
        table[a[x], b[y]] += n
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    freedom = max(1, (len(a) - 1) * (len(b) - 1))
    return float(((table - expected) ** 2 / expected).sum() / freedom)


def _table(subject: Subject, across: Axis, down: Axis) -> dict[str, object]:
    size = _counts(subject, across, None)
    value, low, high = (np.zeros((len(down.parts), len(across.parts))) for _ in range(3))
    for i, part in enumerate(down.parts):
        value[i], low[i], high[i] = _counts(subject, across, part.where)
    total = np.maximum(size[0], 1.0)
    truth = _truth(subject, across, down)
    most = float(np.max(value / total, initial=0.01))
    cells = [
        [
            _cell(
                value[i, j] / total[j],
                (high[i, j] - low[i, j]) / 2 / total[j],
                None if truth is None else truth[0][i, j] / truth[1][j],
                most,
            )
            for j in range(len(across.parts))
        ]
        for i in range(len(down.parts))
    ]
    return {
        "down": text(down.name),
        "across": text(across.name),
        "headings": [(part.label, whole(n)) for part, n in zip(across.parts, size[0], strict=True)],
        "rows": [(part.label, line) for part, line in zip(down.parts, cells, strict=True)],
        "left_out": down.left_out,
        "left_across": across.left_out,
        "internal": truth is not None,
        "suppressed": subject.suppressed,
        "held": sum(cell.held for line in cells for cell in line),
        "cells": value.size,
    }


def _counts(subject: Subject, across: Axis, where: exp.Expression | None) -> tuple[Numbers, Numbers, Numbers]:
    """Estimate and interval in each part of a public column."""
    estimates = subject.ask([across.number], where)
    (e,) = estimates.estimates
    places = [int(place) for place in estimates.groups.column(0).to_pylist()]
    numbers = np.zeros((3, len(across.parts) + 1))
    for row, number in enumerate((e.value, e.low, e.high)):
        numbers[row, places] = np.where(np.isfinite(number), number, e.value)
    return numbers[0, :-1], numbers[1, :-1], numbers[2, :-1]


def _truth(subject: Subject, across: Axis, down: Axis) -> tuple[Numbers, Numbers] | None:
    counts, size = subject.true_counts([down.number, across.number]), subject.true_counts([across.number])
    if counts is None or size is None:
        return None
    table = np.array([[counts.get((i, j), 0) for j in range(len(across.parts))] for i in range(len(down.parts))])
    return table.astype(np.float64), np.maximum([size.get((j,), 0) for j in range(len(across.parts))], 1.0)


def _cell(estimate: float, half: float, truth: float | None, most: float) -> Cell:
    held = truth is not None and abs(truth - estimate) <= half
    shade = round(min(1.0, max(0.0, estimate / most)), 3)
    return Cell(_percent(estimate), _percent(half), "" if truth is None else _percent(truth), shade, held)


def _percent(value: float) -> str:
    """A share in a narrow cell: a decimal where it is small."""
    return f"{100 * value:.1f}".replace("-0.0", "0.0") if abs(value) < 0.0995 else f"{100 * value:.0f}"
