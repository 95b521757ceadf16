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
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.core.channel import Channel
from scumble.core.errors import QueryError
from scumble.core.parameters import confidence
from scumble.engines.engine import Engine, registered
from scumble.engines.expressions import column
from scumble.forms.boxes.opened import Boxes, boxes_of, prepared
from scumble.forms.boxes.statement import BoxFactor, box_sums
from scumble.forms.form import Opened, demand_unbiased
from scumble.query.estimates import Estimate, Estimates
from scumble.query.form_answer import Answer
from scumble.query.groups import Cell, Keys, cell_columns, cell_counts, demand_counts, keys_of, named, parts_of
from scumble.query.model import Query, sql_of
from scumble.query.normalize import conjuncts

DOMAIN = "scumble_domain"
"""The table of the values of the sensitive column."""

NOTE = "the rows of a group are taken as lying evenly in its box, whatever their sensitive value; where they do not, the estimate is off by what the interval does not cover"

Vector = npt.NDArray[np.float64]


def columns(release: Opened) -> list[str]:
    """The columns of the table, whatever is published in their place."""
    return boxes_of(release).columns


def answer(release: Opened, query: Query, level: Any, method: str) -> Answer:
    """The answer to COUNT(*) with WHERE and GROUP BY."""
    demand_unbiased(method, release.manifest.mechanism)
    share, boxes = confidence(level), boxes_of(release)
    demand_counts(query, release.manifest.mechanism)
    _demand_apart(query, boxes.name)
    hidden, public = _split(query, boxes)
    phis = _weights(boxes, release.engine, *hidden)
    lines = box_sums(release.engine, *prepared(release, boxes), public)
    keys = [name for part in public for name in part.keys]
    sums = _by_cell(lines, keys, boxes)
    least = {b: _least_variance(boxes.channel, phi) for b, phi in phis.items()}
    cells = [(a, b) for a in sums for b in phis]
    value, variance = np.array([sums[a].moments(phis[b], least[b]) for a, b in cells]).reshape(-1, 2).T
    se = np.sqrt(variance)
    reach = NormalDist().inv_cdf(0.5 + share / 2) * se
    estimates = [Estimate(a.name, value, se, value - reach, value + reach, "boxes") for a in query.aggregates]
    names = [output.name for output in query.outputs]
    result = Estimates(names, cell_columns(query, [a + b for a, b in cells]), estimates, share, [])
    every = np.array([sums[a].t.sum() for a, _ in cells])
    limits = {a.name: (np.zeros_like(every), every) for a in query.aggregates}
    return Answer(result, lambda shown: [NOTE] if public else [], limits=lambda: limits)


def _demand_apart(query: Query, name: str) -> None:
    for part in parts_of(query):
        if len(named([part])) > 1 and name in named([part]):
            raise QueryError(
                f"{sql_of(part)} mixes {name!r}, which is perturbed, with public columns, which are boxes; ask for them by AND"
            )


def _split(query: Query, boxes: Boxes) -> tuple[tuple[Keys, list[Any]], list[BoxFactor]]:
    """Keys and conditions of the sensitive column, and those of public columns in parts that share none."""
    keys, conditions = keys_of(query), conjuncts(query.where)

    def about(names: set[str]) -> tuple[Keys, list[Any]]:
        own = {key: e for key, e in keys.items() if named([e]) <= names}
        return own, [c for c in conditions if named([c]) <= names]

    public = [named([expression]) for expression in [*keys.values(), *conditions] if named([expression]) - {boxes.name}]
    parts = []
    for names in _connected(public):
        own, conditions_of = about(names)
        parts.append(BoxFactor([side for side in boxes.sides if side.name in names], own, conditions_of))
    return about({boxes.name}), parts


def _connected(sets: Sequence[set[str]]) -> list[set[str]]:
    """Sets that share a member, put together.

    >>> [sorted(each) for each in _connected([{"a"}, {"b", "c"}, {"c", "a"}, {"d"}])]
    [['a', 'b', 'c'], ['d']]
    """
    parts: list[set[str]] = []
    for names in sets:
        touched = [other for other in parts if other & names]
        parts = [set().union(names, *touched), *(other for other in parts if other not in touched)]
    return parts[::-1]


def _weights(boxes: Boxes, engine: Engine, keys: Keys, conditions: Sequence[Any]) -> dict[Cell, Vector]:
    """The debias weights of each group of the sensitive column, by published value."""
    if not keys and not conditions:
        return {(): np.ones(boxes.domain.size)}
    values, place = boxes.domain.values, "scumble place"
    domain = pa.table({boxes.name: values, place: np.arange(len(values))})
    with registered(engine, {DOMAIN: domain}):
        counts = cell_counts(engine, {**keys, place: column(place)}, conditions, DOMAIN)
    weights: dict[Cell, Vector] = {}
    for (*cell, (_, code)), count in counts.items():
        weights.setdefault(tuple(cell), np.zeros(len(values)))[code] = count
    if not keys:
        weights.setdefault((), np.zeros(len(values)))
    return {cell: boxes.channel.weights(h) for cell, h in weights.items()}


def _least_variance(channel: Channel, phi: Vector) -> float:
    """The variance of the weight of one published value over its coins, for the true value that has the least."""
    mean, square = (channel.retention * f + (1 - channel.retention) * float(channel.replace @ f) for f in (phi, phi**2))
    return float(np.maximum(0.0, square - mean**2).min())


class BoxSums:
    """What the boxes of a public group come to, by published value: see `box_sums`."""

    def __init__(self, size: int) -> None:
        self.w, self.q, self.u, self.t, self.n = np.zeros((5, size))

    def add(self, code: int, line: dict[str, Any]) -> None:
        """The boxes with one published value."""
        for name in ("w", "q", "u", "t", "n"):
            getattr(self, name)[code] = line[name]

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


def _by_cell(lines: pa.Table, keys: Sequence[str], boxes: Boxes) -> dict[Cell, BoxSums]:
    """The sums of each public group."""
    sums: dict[Cell, BoxSums] = {}
    codes = boxes.domain.encode(lines.column("y").combine_chunks(), boxes.name)
    for code, line in zip(codes.tolist(), lines.to_pylist(), strict=True):
        cell = tuple((name, line[name]) for name in keys)
        sums.setdefault(cell, BoxSums(boxes.domain.size)).add(code, line)
    if not keys:
        sums.setdefault((), BoxSums(boxes.domain.size))
    return sums
