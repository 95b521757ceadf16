"""Totals: what is added up over rows for a question, from ONE statement that counts cells.

Every aggregate of rows is a function of totals T_j = sum over rows of h_j, with h_j a sum of products u_t(z) f_t(cells) (query/terms.py). With
phi[f] the weights of a table f over the cells,

    T_j = sum over rows of u_t phi[f_t],        Cov(T_j, T_k) = sum over rows of u_s u_t (phi[f_s] phi[f_t] - phi[f_s f_t])

so that the statement counts, for each public group and each combination of cells, the sums of u_t and of u_s u_t (query/factors.py). A line of the answer
is a public group, a value of each perturbed column that is grouped by as it is, and a combination of keys: those are other functions of perturbed columns,
and f_t is 0 where they have other values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from scumble.core.domain import Domain
from scumble.core.errors import QueryError
from scumble.core.once import once
from scumble.engines.engine import TABLE, Engine
from scumble.engines.expressions import select
from scumble.query.compile import Published, Question, told_apart
from scumble.query.factors import Factors, Total, factors_of
from scumble.query.model import Aggregate, Group, Query
from scumble.query.normalize import (
    Asked,
    Conditions,
    Node,
    Perturbed,
    PublicAtom,
    SetAtom,
    cut,
    cut_by,
    leaves,
    take_apart,
)
from scumble.query.on_domains import Key, fill, hidden, key_of
from scumble.query.packing import grouped_raw
from scumble.query.terms import ONE, Grid, OfColumns, Reader, Tensor, Terms

MOST_CELLS = 20_000_000
"""Combinations of cells of a question, at most."""

MOST_POINTS = 1000
"""Values among which a quantile is looked for, at most."""

MOST_WORK = 1 << 25
"""Values of a column times those among which a quantile is looked for, at most: of very many numbers fewer are tried."""

FEW_VALUES = 256
"""Values of a column up to which each is a cell where it is summed; of more, the statement sums their numbers, where one retention allows that."""


@dataclass(frozen=True)
class Totals:
    """A question about totals."""

    question: Question
    grid: Grid
    """The cells: of the grouped columns first, then of the others, then of public conditions."""
    truth: Tensor
    """1 where the WHERE holds."""
    keys: Sequence[Key]
    totals: Sequence[Total]
    factors: Factors

    @property
    def ahead(self) -> int:
        """How many columns are grouped by as they are."""
        return len(self.question.grouped)

    @once
    def lines(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The key that each combination of cells of the other columns has, by number, and what the keys are: a line for each group."""
        shape = [axis.count for axis in self.question.others] + [3] * len(self.grid.publics)
        whole, sizes = np.zeros(shape, dtype=np.intp), [len(key.values) for key in self.keys]
        for key, size in zip(self.keys, sizes, strict=True):
            table = self.grid.table(key.columns, key.codes.astype(np.float64)).astype(np.intp)
            whole = whole * size + table.reshape(table.shape[self.ahead :])
        if not self.keys:
            return whole, np.zeros((0, 1), dtype=np.intp)
        left = np.broadcast_to(self.truth > 0, (*self.truth.shape[: self.ahead], *shape))
        some = np.unique(whole[left.any(axis=tuple(range(self.ahead)))])
        places = np.full(int(np.prod(sizes, dtype=np.int64)), -1)
        places[some] = np.arange(len(some))
        return places[whole], np.stack(np.unravel_index(some, sizes))

    @property
    def width(self) -> int:
        """Keys of a line."""
        return int(self.lines[1].shape[1])

    def of_key(self, table: Tensor, key: int) -> Tensor:
        """A table where the WHERE holds and a line has a key; 0 elsewhere."""
        chosen = table * self.truth
        return chosen if self.width == 1 and not self.keys else chosen * (self.lines[0] == key)

    @once
    def possible(self) -> npt.NDArray[np.bool_]:
        """The lines of a public group that the WHERE leaves possible: grouped values by keys."""
        sizes = tuple(axis.domain.size for axis in self.question.grouped)
        listed = [self.of_key(np.ones((1,) * self.grid.rank), key) > 0 for key in range(self.width)]
        rest = tuple(range(self.ahead, self.grid.rank))
        return np.stack([np.broadcast_to(table.any(axis=rest), sizes) for table in listed], axis=-1)


def compile_totals(
    query: Query,
    published: Published,
    engine: Engine,
    *,
    every: bool = False,
    summing: bool = True,
    keyed: bool = False,
) -> Totals:
    """The question, with every perturbed column cut into the cells that it needs.

    every     whether each value of every perturbed column is a cell
    summing   whether the statement may sum the numbers of a perturbed column, instead of counting each of its values
    keyed     whether groups that are perturbed columns are keys, as functions of these are
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
    nodes = [*conditions.trees, *(node for reader in readers.values() for node in reader.conditions)]
    listed = [] if keyed else _as_they_are(query, published, nodes, functions)
    keys = [key_of(g, domains, engine) for g in query.groups if hidden(g.expression, domains) and g not in listed]
    grouped = [_axis(g.expression.unnest().name, published) for g in listed]
    summed = [] if every or not summing else _summed(query, published, functions, keys, [axis.name for axis in grouped])
    others = _axes(published, nodes, functions, keys, summed, {axis.name for axis in grouped}, every=every)
    grid = Grid([*grouped, *others], _public_atoms(nodes))
    _demand_few(grid)
    truth = np.ones((1,) * grid.rank)
    for tree in conditions.trees:
        truth = truth * grid.truth(tree)
    one: Terms = {ONE: np.ones((1,) * grid.rank)}
    for function in functions:
        function.column = function.expression if function in summed else None
    totals = [
        _total(a, *((one, one) if value is None else value.terms(grid)))
        for a, value in zip(query.aggregates, values, strict=True)
    ]
    return _stated(query, published, conditions, grid, truth, keys, totals, len(grouped))


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


def _as_they_are(
    query: Query, published: Published, nodes: Sequence[Node], functions: Sequence[OfColumns]
) -> list[Group]:
    """The groups that are perturbed columns, each value of which is a line, found for all of them at once.

    Not those that other groups are functions of; nor those that a sum over lines goes over, where something else depends on them; nor columns that were
    perturbed as one, unless all of them that are asked about are such groups.
    """
    domains = published.domains
    plain = [g for g in query.groups if perturbed_column(g.expression, domains)]
    others = [name for g in query.groups if g not in plain for name in hidden(g.expression, domains)]
    atoms = [leaf.column for node in nodes for leaf in leaves(node) if isinstance(leaf, SetAtom)]
    asked = {*atoms, *(name for function in functions for name in function.columns)}
    windows = query.derived.windows if query.derived is not None else ()

    def fits(group: Group) -> bool:
        name = group.expression.unnest().name
        summed = any(group.name not in window.by for window in windows)
        return name not in others and not (summed and name in asked)

    kept = [group for group in plain if fits(group)]
    names = {group.expression.unnest().name for group in kept}
    together = {name for name in published.joint if name in {*asked, *others, *names}}
    return (
        kept
        if len(together) < 2 or together <= names - asked
        else [group for group in kept if group.expression.unnest().name not in together]
    )


def perturbed_column(expression: exp.Expression, domains: Mapping[str, Domain]) -> str | None:
    """The perturbed column that an expression is, if it is one."""
    inner = expression.unnest()
    return inner.name if isinstance(inner, exp.Column) and inner.name in domains else None


def _summed(
    query: Query, published: Published, functions: Sequence[OfColumns], keys: Sequence[Key], grouped: Sequence[str]
) -> list[OfColumns]:
    """Columns with many values of which nothing but the sum is asked, so that the statement may sum their numbers."""
    taken = {*grouped, *(name for key in keys for name in key.columns), *published.joint}
    chosen = []
    for function in functions:
        name = perturbed_column(function.expression, published.domains)
        alone = name is not None and not any(
            name in f.columns and f.expression != function.expression for f in functions
        )
        sums = [a for a in query.aggregates if a.value is not None and a.value.unnest() == function.expression.unnest()]
        linear = bool(sums) and all(a.kind in ("sum", "avg") for a in sums)
        drawn = name is not None and name not in taken and published.constant(name)
        many = name is not None and published.domains[name].size > FEW_VALUES
        if alone and linear and drawn and many and not published.weighted and not published.whole:
            chosen.append(function)
    return chosen


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
    ahead: int,
) -> Totals:
    """The question with its statement."""
    factors = factors_of(totals, query, published.domains)
    groups = [g for g in query.groups if not hidden(g.expression, published.domains)]
    grouped, others = grid.axes[:ahead], grid.axes[ahead:]
    others = grouped_raw(others, not groups and not grouped and not grid.publics, published.values)
    shared = replace(conditions, listed=list(grid.publics))
    seen = others if published.values else [axis.shown for axis in others]
    columns = told_apart(shared, groups, grouped, seen, published)
    sums = factors.sums(published, perturbed=bool(grid.axes))
    statement = select(dict([*columns, *sums]), TABLE, shared.filter, len(columns))
    counted = set(factors.names) == {ONE}
    question = Question(query, published, shared, groups, grouped, others, statement, counted)
    return Totals(question, Grid([*grouped, *others], grid.publics), truth, keys, totals, factors)


def _axis(name: str, published: Published) -> Perturbed:
    """A column of which each value is a cell."""
    return cut(name, published.domains[name], published.channels(name), (), by_value=True)


def _axes(
    published: Published,
    conditions: Sequence[Node],
    functions: Sequence[OfColumns],
    keys: Sequence[Key],
    summed: Sequence[OfColumns],
    grouped: set[str],
    *,
    every: bool,
) -> list[Perturbed]:
    """Every other perturbed column that is asked about, cut into values that are alike in all that is asked."""
    features: dict[str, list[npt.NDArray[np.generic]]] = {}
    for atom in (leaf for node in conditions for leaf in leaves(node) if isinstance(leaf, SetAtom)):
        features.setdefault(atom.column, []).append(atom.states)
    tables = [(f.columns, np.isnan(f.values) if f in summed else f.values) for f in functions]
    for columns, values in [*tables, *((key.columns, key.codes) for key in keys)]:
        shape = [published.domains[name].size for name in columns]
        for place, name in enumerate(columns):
            features.setdefault(name, []).append(_alike(values.reshape(shape), place))
    names = [name for name in published.domains if name in features and name not in grouped]
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
