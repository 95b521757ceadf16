"""Questions to a release by perturbed generalization: each group counts by its size, the part of its box that is asked for, and its value's weight.

    estimate = sum over groups of  v phi(y),        v = n_g * overlap

Over the row that was drawn and its coins, phi(y) has the mean s_g, the share of the group's rows that have what is asked of the sensitive column.
One draw a group does not tell its variance; but the sum of v^2 s_g^2 is at least that of equal shares, so that

    sum of v^2 phi^2 - (sum of v^2 phi)^2 / sum of v^2

is on average the variance or more: more where groups differ. Where all of few groups drew the same value it is 0 all the same; but the coins alone make
at least sum of v^2 min_x Var[phi(y) | x], whatever rows were drawn, and no less is taken. To it comes the variance of which rows lie in a part f of the box, if each does with probability f
independently: n_g f (1 - f) s_g.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.core.channel import Channel
from scumble.core.domain import Domain
from scumble.core.errors import QueryError
from scumble.core.parameters import confidence
from scumble.engines.duckdb.boxes import Part, Side, box_sums
from scumble.engines.duckdb.engine import Memory
from scumble.forms.rows.joint import Cell, Keys, cell_columns, cell_counts, named
from scumble.query.answer import arranged
from scumble.query.estimates import Estimate, Estimates
from scumble.query.normalize import conjuncts
from scumble.query.parse import Query, parse

NOTE = "the rows of a group are taken as lying evenly in its box, whatever their sensitive value; where they do not, the estimate is off by what the interval does not cover"

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Boxes:
    """What the query layer has to know of the release."""

    files: Sequence[Path]
    sides: Sequence[Side]
    size: str
    name: str
    domain: Domain
    channel: Channel

    @property
    def columns(self) -> list[str]:
        """The columns of the table that a question may name."""
        return [*(side.name for side in self.sides), self.name]


def ask_generalized(sql: str, boxes: Boxes, level: Any) -> Estimates:
    """The answer to COUNT(*) with WHERE and GROUP BY."""
    share = confidence(level)
    query = parse(sql, boxes.columns)
    _demand_counts(query, boxes.name)
    hidden, public = _split(query, boxes)
    phis = _weights(boxes, *hidden)
    lines = box_sums(boxes.files, boxes.size, boxes.name, public)
    keys = [name for part in public for name in part.keys]
    sums = _by_cell(lines, keys, boxes)
    least = {b: _least_variance(boxes.channel, phi) for b, phi in phis.items()}
    cells = [(a, b) for a in sums for b in phis]
    value, variance = np.array([sums[a].moments(phis[b], least[b]) for a, b in cells]).reshape(-1, 2).T
    se = np.sqrt(variance)
    reach = NormalDist().inv_cdf(0.5 + share / 2) * se
    estimates = [Estimate(a.name, value, se, value - reach, value + reach, "boxes") for a in query.aggregates]
    names = [output.name for output in query.outputs]
    notes = [NOTE] if public else []
    return arranged(Estimates(names, cell_columns(query, [a + b for a, b in cells]), estimates, share, notes), query)


def _demand_counts(query: Query, name: str) -> None:
    for aggregate in query.aggregates:
        if aggregate.kind != "count" or aggregate.value is not None:
            raise QueryError(f"a release of perturbed_generalization answers COUNT(*), and not {aggregate.name!r}")
    for part in [*(group.expression for group in query.groups), *conjuncts(query.where)]:
        if len(named([part])) > 1 and name in named([part]):
            raise QueryError(
                f"{part.sql(dialect='duckdb')} mixes {name!r}, which is perturbed, with public columns, which are boxes; ask for them by AND"
            )


def _split(query: Query, boxes: Boxes) -> tuple[tuple[Keys, list[Any]], list[Part]]:
    """Keys and conditions of the sensitive column, and those of public columns in parts that share none."""
    keys = {f"g{i}": group.expression for i, group in enumerate(query.groups)}
    conditions = conjuncts(query.where)

    def about(names: set[str]) -> tuple[Keys, list[Any]]:
        own = {key: e for key, e in keys.items() if named([e]) <= names}
        return own, [c for c in conditions if named([c]) <= names]

    public = [named([each]) for each in [*keys.values(), *conditions] if named([each]) - {boxes.name}]
    parts = []
    for names in _connected(public):
        own, conditions_of = about(names)
        parts.append(Part([side for side in boxes.sides if side.name in names], own, conditions_of))
    return about({boxes.name}), parts


def _connected(sets: Sequence[set[str]]) -> list[set[str]]:
    """Sets that share a member, put together.

    >>> [sorted(each) for each in _connected([{"a"}, {"b", "c"}, {"c", "a"}, {"d"}])]
    [['a', 'b', 'c'], ['d']]
    """
    found: list[set[str]] = []
    for each in sets:
        touched = [other for other in found if other & each]
        found = [set().union(each, *touched), *(other for other in found if other not in touched)]
    return found[::-1]


def _weights(boxes: Boxes, keys: Keys, conditions: Sequence[Any]) -> dict[Cell, Vector]:
    """The debias weights of each group of the sensitive column, by published value."""
    if not keys and not conditions:
        return {(): np.ones(boxes.domain.size)}
    values, place = boxes.domain.values, "scumble place"
    engine = Memory(pa.table({boxes.name: values, place: np.arange(len(values))}))
    counts = cell_counts(engine, {**keys, place: exp.column(place, quoted=True)}, conditions)
    found: dict[Cell, Vector] = {}
    for (*cell, (_, code)), count in counts.items():
        found.setdefault(tuple(cell), np.zeros(len(values)))[code] = count
    if not keys:
        found.setdefault((), np.zeros(len(values)))
    return {cell: boxes.channel.weights(h) for cell, h in found.items()}


def _least_variance(channel: Channel, phi: Vector) -> float:
    """The variance of the weight of one published value over its coins, for the true value that has the least."""
    mean, square = (channel.retention * f + (1 - channel.retention) * float(channel.replace @ f) for f in (phi, phi**2))
    return float(np.maximum(0.0, square - mean**2).min())


class Sums:
    """What the boxes of a public group come to, by published value: see `box_sums`."""

    def __init__(self, size: int) -> None:
        self.w, self.q, self.u, self.n = np.zeros((4, size))

    def add(self, code: int, line: dict[str, Any]) -> None:
        """The boxes with one published value."""
        self.w[code], self.q[code], self.u[code], self.n[code] = line["w"], line["q"], line["u"], line["n"]

    def moments(self, phi: Vector, least: float) -> tuple[float, float]:
        """The estimate and its variance, which is `least` or more for each row of a group counted once."""
        squares, count = float(self.q @ phi**2), float(self.n.sum())
        if np.ptp(phi) == 0:  # nothing is asked of the sensitive column
            spread = 0.0
        elif count < 2:
            spread = squares
        else:
            spread = max(0.0, squares - float(self.q @ phi) ** 2 / float(self.q.sum())) * count / (count - 1)
        if np.ptp(phi) > 0:
            spread = max(spread, least * float(self.q.sum()))
        placed = max(0.0, float(self.u @ phi))
        return float(self.w @ phi), spread + (placed if placed > 1e-9 * float(self.w.sum()) else 0.0)


def _by_cell(lines: pa.Table, keys: Sequence[str], boxes: Boxes) -> dict[Cell, Sums]:
    """The sums of each public group."""
    found: dict[Cell, Sums] = {}
    codes = boxes.domain.encode(lines.column("y").combine_chunks(), boxes.name)
    for code, line in zip(codes.tolist(), lines.to_pylist(), strict=True):
        cell = tuple((name, line[name]) for name in keys)
        found.setdefault(cell, Sums(boxes.domain.size)).add(code, line)
    if not keys:
        found.setdefault((), Sums(boxes.domain.size))
    return found
