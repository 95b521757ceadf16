"""Totals with their joint covariance, from the sums by cell (query/totals.py), added up over strata.

Rows of a sampled release count W = n/s; sampling adds at most the sum over sampled rows of W^2 phi[h_j h_k] (query/sampled.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.core.channel import IndistinguishableValues
from scumble.core.channel_base import BaseChannel
from scumble.query.cells import Cells
from scumble.query.compile import Question
from scumble.query.joined import alike, together
from scumble.query.model import Window
from scumble.query.stratum import Stratum
from scumble.query.terms import Tensor, Terms
from scumble.query.totals import Totals

AT_ONCE = 4_000_000
"""Cells times lines that are weighted together, which bounds the memory."""

Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Linear:
    """A sum over rows; where it is taken over several lines, which lines and which public groups go together."""

    terms: Terms
    lines: Codes | None = None
    groups: Codes | None = None

    def table(self, totals: Totals, some: Codes) -> dict[str, Tensor]:
        """What a row of each combination of cells adds to some lines, by public factor: lines along the last axis."""
        own, _ = totals.lines
        part = own if self.lines is None else np.where(own < 0, -1, self.lines[own])
        asked = some if self.lines is None else self.lines[some]
        chosen = (part[..., None] == asked) * totals.truth[..., None]
        return {totals.factors[factor]: chosen * table[..., None] for factor, table in self.terms.items()}


@dataclass(frozen=True)
class Joint:
    """Estimates of sums over rows and their covariances: public groups, then lines, along the last axes."""

    values: Tensor
    covariance: Tensor


def joint(totals: Totals, cells: Cells, sums: Sequence[Linear]) -> Joint:
    """All of them, with what each pair has in common."""
    lines, groups = totals.lines[1].shape[1], len(cells.groups)
    values = np.zeros((len(sums), groups, lines))
    covariance = np.zeros((len(sums), len(sums), groups, lines))
    states = int(np.prod(cells.rest, dtype=np.int64))
    step = max(1, AT_ONCE // max(1, states))
    for part in strata(totals, cells):
        for start in range(0, lines, step):
            some = np.arange(start, min(lines, start + step))
            added = _of_lines(part, totals, sums, some)
            values[..., some] += added[0]
            covariance[..., some] += added[1]
    return Joint(*_over_groups(values, covariance, sums))


def strata(totals: Totals, cells: Cells) -> Iterator[Stratum]:
    """The rows of each stratum."""
    question = totals.question
    channels: Sequence[Mapping[str, BaseChannel]] = question.published.strata if not question.exact else [{}]
    for place, own in enumerate(channels):
        yield Stratum(question, cells.of(place), own)


def _of_lines(part: Stratum, totals: Totals, sums: Sequence[Linear], some: Codes) -> tuple[Tensor, Tensor]:
    tables = [linear.table(totals, some) for linear in sums]
    weights = [{name: weigh(part, table) for name, table in tables_of_sum.items()} for tables_of_sum in tables]
    values = np.stack(
        [
            sum((over(part, w, name) for name, w in weights_of_sum.items()), start=_none(part, some))
            for weights_of_sum in weights
        ]
    )
    covariance = np.zeros((len(sums), *values.shape))
    for j in range(len(sums)):
        for k in range(j + 1):
            covariance[j, k] = covariance[k, j] = _pair(part, totals, tables, weights, j, k, some)
    return values, covariance


def _none(part: Stratum, some: Codes) -> Tensor:
    return np.zeros((len(part.cells.groups), len(some)))


def _pair(
    part: Stratum,
    totals: Totals,
    tables: Sequence[dict[str, Tensor]],
    weights: Sequence[dict[str, Tensor]],
    j: int,
    k: int,
    some: Codes,
) -> Tensor:
    """The covariance of two sums in one stratum."""
    named = {name: factor for factor, name in totals.factors.items()}
    covariance = _none(part, some)
    for one, first in tables[j].items():
        for other, second in tables[k].items():
            name = totals.factors[named[one] * named[other]]
            both = weigh(part, first * second)
            covariance += over(part, weights[j][one] * weights[k][other] - both, name, 2)
            if part.cells.sampled is not None:
                covariance += over(part, both, name, 2, sampled=True)
    return covariance


def weigh(part: Stratum, table: Tensor) -> Tensor:
    """The weights of a table over the cells."""
    try:
        return part.rest_weights(np.broadcast_to(table, (*true_cells(part.question), table.shape[-1])))
    except IndistinguishableValues as error:
        raise IndistinguishableValues(error.values, part.lost()) from None


def true_cells(question: Question) -> tuple[int, ...]:
    """The shape of the true cells; that of the published ones is another where codes are published."""
    return (*(axis.count for axis in question.others), *(3,) * len(question.conditions.public_atoms))


def over(part: Stratum, weights: Tensor, name: str, order: int = 1, *, sampled: bool = False) -> Tensor:
    """The sum over rows of a public factor times a weight of their cells: public groups by lines."""
    sums = part.dense(name, order, sampled=sampled)
    flat = weights.reshape(-1, weights.shape[-1])
    return np.asarray(sums.reshape(len(sums), len(flat)) @ flat)  # there may be no group at all


def _over_groups(values: Tensor, covariance: Tensor, sums: Sequence[Linear]) -> tuple[Tensor, Tensor]:
    """Sums over several public groups: rows of different ones have independent coins."""
    for j, one in enumerate(sums):
        if one.groups is not None:
            values[j] = _spread(values[j], one.groups)
        for k, other in enumerate(sums):
            if one.groups is not None and other.groups is not None:
                both = np.unique(np.stack([one.groups, other.groups]), axis=1, return_inverse=True)[1]
                covariance[j, k] = _spread(covariance[j, k], np.asarray(both).reshape(-1))
    return values, covariance


def _spread(numbers: Tensor, groups: Codes) -> Tensor:
    """Each line as the sum over the public groups that go together with its own."""
    total = np.zeros((int(groups.max(initial=0)) + 1, numbers.shape[1]))
    np.add.at(total, groups, numbers)
    return np.asarray(total[groups])


def windowed(totals: Totals, cells: Cells, window: Window, terms: Terms) -> Linear:
    """The sum of a total over all lines that have the same values of some groups."""
    names = [key.group.name for key in totals.keys]
    keys = [places for name, places in zip(names, totals.lines[1], strict=True) if name in window.by]
    publics = [f"g{i}" for i, group in enumerate(totals.question.publics) if group.name in window.by]
    return Linear(terms, alike(keys, totals.lines[1].shape[1]), together(cells.groups, publics, len(cells.groups)))


def counted(part: Stratum, weights: Tensor) -> Tensor:
    """Published rows that look as if they counted, for each line; a sampled row is one, whatever its weight."""
    return over(part, weights, "n_rows" if part.question.published.weighted else "n")
