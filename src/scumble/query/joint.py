"""Totals with their joint covariance, from the sums by cell (query/totals.py), added up over strata.

    Cov(T_j, T_k) = sum over rows of u_s u_t (phi[f_s] phi[f_t] - phi[f_s f_t])

Rows of a sampled release count W = n/s; sampling adds at most the sum over sampled rows of W^2 phi[h_j h_k] (query/sampled.py). Where values are replaced by
others of the same column, the distribution of those is itself an estimate (query/own.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from scumble.core.channel_base import BaseChannel
from scumble.core.once import once
from scumble.query import own
from scumble.query.cells import Cells
from scumble.query.joined import alike, together
from scumble.query.model import Window
from scumble.query.stratum import Stratum
from scumble.query.sums import number_weights
from scumble.query.terms import Factor, Tensor, Terms
from scumble.query.totals import Totals

AT_ONCE = 4_000_000
"""Cells times keys that are weighted together, which bounds the memory."""

Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Linear:
    """A sum over rows; where it is taken over several lines, over which: grouped columns, keys and public groups that go together."""

    terms: Terms
    over: frozenset[int] = frozenset()
    """The places of the grouped columns that it is summed over."""
    keys: Codes | None = None
    groups: Codes | None = None

    def chosen(self, totals: Totals, some: Codes) -> Tensor:
        """1 where a combination of cells belongs to a key of some lines: keys along the last dimension."""
        numbers = totals.lines[0]
        if not totals.keys:
            return np.ones((*numbers.shape, 1))
        part = numbers if self.keys is None else np.where(numbers < 0, -1, self.keys[numbers])
        asked = some if self.keys is None else self.keys[some]
        return np.asarray(part[..., None] == asked, dtype=np.float64)


@dataclass(frozen=True)
class Joint:
    """Estimates of sums over rows and their covariances: public groups, grouped values and keys along the last dimensions."""

    values: Tensor
    covariance: Tensor


def strata(totals: Totals, cells: Cells) -> list[Stratum]:
    """The rows of each stratum."""
    question = totals.question
    channels: Sequence[Mapping[str, BaseChannel]] = question.published.strata if not question.exact else [{}]
    return [Stratum(question, cells.of(place), own) for place, own in enumerate(channels)]


def joint(
    totals: Totals, cells: Cells, parts: Sequence[Stratum], sums: Sequence[Linear], *, sampling: bool = True
) -> Joint:
    """All of them, with what each pair has in common.

    sampling   whether the most that sampling adds is counted
    """
    shape = (len(cells.groups), *cells.lines, totals.width)
    values, covariance = np.zeros((len(sums), *shape)), np.zeros((len(sums), len(sums), *shape))
    step = max(1, AT_ONCE // max(1, int(np.prod(cells.rest, dtype=np.int64))))
    for part in parts:
        for start in range(0, totals.width, step):
            some = np.arange(start, min(totals.width, start + step))
            for members, weighed in classes(part, totals, sums, some):
                _add(values, covariance, weighed, members, some, sampling)
    return Joint(*_over_groups(values, covariance, sums))


def _add(
    values: Tensor,
    covariance: Tensor,
    weighed: "Weighed",
    members: npt.NDArray[np.bool_],
    some: Codes,
    sampling: bool,
) -> None:
    """Puts what is found for some grouped values and keys where it belongs."""
    lines = np.ix_(np.flatnonzero(members.reshape(-1)), some)

    def put(into: Tensor, numbers: Tensor) -> None:
        flat, found = (t.reshape(len(t), prod(t.shape[1:-1]), t.shape[-1]) for t in (into, numbers))
        flat[:, lines[0], lines[1]] += found[:, lines[0], np.arange(len(some))]

    some_terms = [j for j, tables in enumerate(weighed.tables) if tables]
    for j in some_terms:
        put(values[j], weighed.value(j))
        for k in (k for k in some_terms if k <= j):
            before = covariance[j, k].copy()
            put(covariance[j, k], weighed.covariance(j, k, sampling=sampling))
            if j != k:
                covariance[k, j] += covariance[j, k] - before


def classes(
    part: Stratum, totals: Totals, sums: Sequence[Linear], some: Codes
) -> Iterator[tuple[npt.NDArray[np.bool_], "Weighed"]]:
    """The grouped values that leave the same tables on the other columns, with these, weighed."""
    named = [(j, factor) for j, linear in enumerate(sums) for factor in linear.terms]
    tables = [sums[j].terms[factor] * totals.truth for j, factor in named]
    for members, slices in part.classes(*tables) if tables else ():
        found: list[dict[Factor, Tensor]] = [{} for _ in sums]
        for (j, factor), table in zip(named, slices, strict=True):
            found[j][factor] = table[..., None] * sums[j].chosen(totals, some)
        yield members, Weighed(part, totals, sums, found)


@dataclass(frozen=True)
class Weighed:
    """Tables of sums in one stratum, for some lines, and the weights of published rows that follow."""

    part: Stratum
    totals: Totals
    sums: Sequence[Linear]
    tables: Sequence[Mapping[Factor, Tensor]]
    """By sum and public factor, over the cells of the other columns; keys along the last dimension."""

    @once
    def weights(self) -> list[dict[Factor, Tensor]]:
        """The weights of published cells, by sum and by what the statement sums."""
        return [self._of(table) for table in self.tables]

    def _of(self, tables: Mapping[Factor, Tensor]) -> dict[Factor, Tensor]:
        factors, found = self.totals.factors, dict[Factor, Tensor]()
        for factor, table in tables.items():
            power = factors.power(factor)
            parts = {factor: self.part.weights(table)}
            if power is not None:
                constant, slope = number_weights(self.part, table, *power)
                parts = {factors.public(factor): constant, factor: slope}
            for name, weights in parts.items():
                found[name] = found[name] + weights if name in found else weights
        return found

    def value(self, j: int) -> Tensor:
        """The estimate of a sum, for every line."""
        total = sum(self._gathered(w, factor, 1) for factor, w in self.weights[j].items())
        return self.part.solve(np.asarray(total), self.sums[j].over)

    def _gathered(self, weights: Tensor, factor: Factor, order: int, *, sampled: bool = False) -> Tensor:
        return self.part.gather(weights, self.totals.factors.names[factor], order, sampled=sampled)

    def covariance(self, j: int, k: int, *, sampling: bool = True) -> Tensor:
        """That of two sums, for every line."""
        sampled = self.sampled(j, k) if sampling else np.zeros(())
        return self.drawn(j, k) + sampled + self.replaced(j, k)

    def drawn(self, j: int, k: int) -> Tensor:
        """What coins make of it, if it is known what they draw from."""
        squares = np.zeros(())
        for one, first in self.weights[j].items():
            for other, second in self.weights[k].items():
                squares = squares + self._gathered(first * second, one * other, 2)
        over = [self.sums[i].over for i in (j, k)]
        return self._pair(squares, over[0] & over[1], over[0] | over[1]) - self.common(j, k)

    def common(self, j: int, k: int, *, sampled: bool = False) -> Tensor:
        """The sum of the product of both, of rows of second order; or of those that were sampled."""
        total = np.zeros(())
        for one, first in self.tables[j].items():
            for other, second in self.tables[k].items():
                for factor, weights in self._of({one * other: first * second}).items():
                    total = total + self._gathered(weights, factor, 2, sampled=sampled)
        return self.part.solve(total, self.sums[j].over & self.sums[k].over)

    def sampled(self, j: int, k: int) -> Tensor:
        """What sampling adds at most."""
        return self.common(j, k, sampled=True) if self.part.cells.sampled is not None else np.zeros(())

    def replaced(self, j: int, k: int) -> Tensor:
        """What is added where coins draw from the column itself."""
        rows = self.part.question
        return own.change(self, j, k) if rows.published.whole and not rows.exact else np.zeros(())

    def _pair(self, squares: Tensor, both: frozenset[int], either: frozenset[int]) -> Tensor:
        """sum of B^2 along columns that both sums are split by, of B along those that one is, and the sum over all others."""
        for block in self.part.listed:
            places = set(block.places)
            if places <= both:
                squares = self.part.summed(squares, block)
            else:
                step = block.channel.solve if places <= either else block.channel.solve_squares
                squares = block.along(squares, step, 1)
        return squares


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
    total = np.zeros((int(groups.max(initial=0)) + 1, *numbers.shape[1:]))
    np.add.at(total, groups, numbers)
    return np.asarray(total[groups])


def windowed(totals: Totals, cells: Cells, window: Window, terms: Terms) -> Linear:
    """The sum of a total over all lines that have the same values of some groups."""
    question = totals.question
    named = {group.expression.unnest().name: group.name for group in question.query.groups}
    over = frozenset(i for i, axis in enumerate(question.grouped) if named[axis.name] not in window.by)
    names = [key.group.name for key in totals.keys]
    keys = [places for name, places in zip(names, totals.lines[1], strict=True) if name in window.by]
    publics = [f"g{i}" for i, group in enumerate(question.publics) if group.name in window.by]
    return Linear(terms, over, alike(keys, totals.width), together(cells.groups, publics, len(cells.groups)))
