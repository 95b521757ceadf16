"""Totals: what is added up over rows for a question, and jointly how uncertain it is, from ONE statement that counts cells.

Every aggregate of rows is a function of totals T_j = sum over rows of h_j, with h_j a sum of products u_t(z) f_t(cells) (query/terms.py). With
phi[f] the weights of a table f over the cells,

    T_j = sum over rows of u_t phi[f_t],        Cov(T_j, T_k) = sum over rows of u_s u_t (phi[f_s] phi[f_t] - phi[f_s f_t])

so that the statement counts, for each public group and each combination of cells, the sums of u_t and of u_s u_t. A line of the answer is a public
group and a combination of keys: those are functions of perturbed columns, and f_t is 0 where they have other values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from scumble.core.errors import QueryError
from scumble.engines.engine import TABLE, Engine
from scumble.engines.expressions import double, either, product, select
from scumble.query.compile import Named, Published, Question, of_orders, row_counts, told_apart
from scumble.query.model import Aggregate, Query
from scumble.query.normalize import (
    Asked,
    Conditions,
    Node,
    Perturbed,
    PublicAtom,
    SetAtom,
    cut_by,
    leaves,
    take_apart,
)
from scumble.query.on_domains import Key, fill, hidden, key_of
from scumble.query.packing import grouped_raw
from scumble.query.terms import ONE, Factor, Grid, OfColumns, Reader, Tensor, Terms

MOST_CELLS = 20_000_000
"""Combinations of cells of a question, at most."""

MOST_POINTS = 1000
"""Values among which a quantile is looked for, at most."""

MOST_WORK = 1 << 25
"""Values of a column times those among which a quantile is looked for, at most: of very many numbers fewer are tried."""


@dataclass(frozen=True)
class Total:
    """One aggregate: the sums of its value, and of the rows that have one."""

    aggregate: Aggregate
    number: Terms
    present: Terms


@dataclass(frozen=True)
class Totals:
    """A question about totals."""

    question: Question
    grid: Grid
    truth: Tensor
    """1 where the WHERE holds."""
    keys: Sequence[Key]
    totals: Sequence[Total]
    factors: dict[Factor, str]
    """The names of the sums of public factors in the statement."""

    @cached_property
    def lines(self) -> tuple[Tensor, npt.NDArray[np.intp]]:
        """The line that each combination of cells belongs to, and for each line the values of the keys."""
        shape = [axis.count for axis in self.grid.axes] + [3] * len(self.grid.publics)
        whole, sizes = np.zeros(shape, dtype=np.intp), [len(key.values) for key in self.keys]
        for key, size in zip(self.keys, sizes, strict=True):
            whole = whole * size + self.grid.table(key.columns, key.codes.astype(np.float64)).astype(np.intp)
        some = np.unique(whole[np.broadcast_to(self.truth > 0, shape)]) if self.keys else np.zeros(1, dtype=np.intp)
        places = np.full(int(np.prod(sizes, dtype=np.int64)), -1)
        places[some] = np.arange(len(some))
        return places[whole], np.stack(np.unravel_index(some, sizes)) if self.keys else np.zeros((0, 1), dtype=np.intp)


def compile_totals(query: Query, published: Published, engine: Engine, *, every: bool = False) -> Totals:
    """The question, with every perturbed column cut into the cells that it needs.

    every   whether each value of every perturbed column is a cell
    """
    domains = published.domains
    conditions, asked = take_apart(query.where, domains, engine), Asked()
    readers = {
        kind: Reader(domains, asked, conditions.notes, numeric=kind != "count") for kind in ("count", "sum", "quantile")
    }
    values = [None if a.value is None else _reader(readers, a).value(a.value) for a in query.aggregates]
    asked.fill(engine)
    functions = [function for reader in readers.values() for function in reader.functions]
    fill(functions, domains, engine)
    for function in readers["quantile"].functions:
        function.values = in_steps(function.values)
    keys = [key_of(g, domains, engine) for g in query.groups if hidden(g.expression, domains)]
    nodes = [*conditions.trees, *(node for reader in readers.values() for node in reader.conditions)]
    grid = Grid(_axes(published, nodes, functions, keys, every=every), _public_atoms(nodes))
    _demand_few(grid)
    truth = np.ones((1,) * grid.rank)
    for tree in conditions.trees:
        truth = truth * grid.truth(tree)
    one: Terms = {ONE: np.ones((1,) * grid.rank)}
    totals = [
        _total(a, *((one, one) if value is None else value.terms(grid)))
        for a, value in zip(query.aggregates, values, strict=True)
    ]
    return _stated(query, published, conditions, grid, truth, keys, totals)


def _total(aggregate: Aggregate, number: Terms, present: Terms) -> Total:
    """Without the sums that nothing is made of."""
    return Total(aggregate, number if aggregate.kind in ("sum", "avg", "quantile") else {}, present)


def _reader(readers: Mapping[str, Reader], aggregate: Aggregate) -> Reader:
    """Numbers are read by one, what is only to be there by another, and numbers whose order counts by a third."""
    if aggregate.kind in ("count", "extreme", "distinct"):
        return readers["count"]
    return readers["quantile" if aggregate.kind == "quantile" else "sum"]


def in_steps(values: Tensor) -> Tensor:
    """Numbers as the largest of their step, where there are more than a quantile is looked for among."""
    different = np.unique(values[~np.isnan(values)])
    most = min(MOST_POINTS, MOST_WORK // max(values.size, 1))
    if len(different) <= most:
        return values
    if most < 100:
        raise QueryError(
            f"a quantile of {values.size:,} numbers takes too long; ask for COUNT(*) of ranges, or give the column a wider step"
        )
    ends = different[np.linspace(0, len(different) - 1, most).astype(np.intp)]
    return np.where(np.isnan(values), values, ends[np.minimum(np.searchsorted(ends, values), len(ends) - 1)])


def _demand_few(grid: Grid) -> None:
    if np.prod([axis.count for axis in grid.axes] + [3] * len(grid.publics), dtype=float) > MOST_CELLS:
        names = ", ".join(axis.name for axis in grid.axes)
        raise QueryError(
            f"{names} together have more than {MOST_CELLS:,} combinations of values; ask about fewer at once, or in ranges"
        )


def _stated(
    query: Query,
    published: Published,
    conditions: Conditions,
    grid: Grid,
    truth: Tensor,
    keys: Sequence[Key],
    totals: Sequence[Total],
) -> Totals:
    """The question with its statement."""
    names = _factors(totals)
    groups = [g for g in query.groups if not hidden(g.expression, published.domains)]
    axes = grouped_raw(grid.axes, not groups and not grid.publics, published.values)
    shared = replace(conditions, listed=list(grid.publics))
    columns = told_apart(shared, groups, [], axes if published.values else [axis.shown for axis in axes], published)
    sums = [part for factor, name in names.items() for part in _sums(factor, name, published)]
    statement = select(dict([*columns, *sums]), TABLE, shared.filter, len(columns))
    question = Question(query, published, shared, groups, [], axes, [], statement)
    return Totals(question, Grid(axes, grid.publics), truth, keys, totals, names)


def _factors(totals: Sequence[Total]) -> dict[Factor, str]:
    """The public factors of all terms, and of all products of two, each with the name of its sums."""
    single = dict.fromkeys([ONE, *(f for total in totals for f in [*total.number, *total.present])])
    every = dict.fromkeys([*single, *(one * other for one in single for other in single)])
    return {factor: "n" if factor == ONE else f"v{place}_s" for place, factor in enumerate(every)}


def _sums(factor: Factor, name: str, rows: Published) -> list[Named]:
    """The sums of a factor over the rows of a line, of first and where rows have weights of second order."""
    if factor == ONE:
        return row_counts(rows)
    value = product([double(number) for number in factor.numbers])
    if factor.present:
        there = [exp.Not(this=exp.Is(this=exp.paren(value), expression=exp.Null())) for value in factor.present]
        value = either(exp.and_(*there), value)
    return of_orders(name, value, rows, (1, 2))


def _axes(
    published: Published,
    conditions: Sequence[Node],
    functions: Sequence[OfColumns],
    keys: Sequence[Key],
    *,
    every: bool,
) -> list[Perturbed]:
    """Every perturbed column that is asked about, cut into values that are alike in all that is asked."""
    features: dict[str, list[npt.NDArray[np.generic]]] = {}
    for atom in (leaf for node in conditions for leaf in leaves(node) if isinstance(leaf, SetAtom)):
        features.setdefault(atom.column, []).append(atom.states)
    tables = [(f.columns, f.values) for f in functions] + [(key.columns, key.codes) for key in keys]
    for columns, values in tables:
        shape = [published.domains[name].size for name in columns]
        for place, name in enumerate(columns):
            features.setdefault(name, []).append(_alike(values.reshape(shape), place))
    names = [name for name in published.domains if name in features]
    for name in names if every else ():
        features[name].append(np.arange(published.domains[name].size))
    return [cut_by(name, published.domains[name], published.channels(name), features[name]) for name in names]


def _alike(table: npt.NDArray[Any], place: int) -> npt.NDArray[np.generic]:
    """Labels of the values of one column: the same where a function of several does not tell them apart."""
    if table.ndim == 1:
        return table
    rows = np.moveaxis(table, place, 0).reshape(table.shape[place], -1)
    return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1]).reshape(-1)


def _public_atoms(conditions: Sequence[Node]) -> list[PublicAtom]:
    """The public conditions that perturbed ones are mixed with, each once."""
    atoms = [leaf for node in conditions for leaf in leaves(node) if isinstance(leaf, PublicAtom)]
    return list({atom.condition: atom for atom in atoms}.values())
