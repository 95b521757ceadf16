"""What a question knows of a release, and the parts of its ONE statement over the published table.

The statement counts, for each public group and each combination of cells, the published rows and the sums that the aggregates
need. Weights depend on nothing but the cells, so that sums over rows are sums over these few lines, whatever the number of
rows; and the same lines are what the likelihood needs.

    SELECT groups, published values of grouped perturbed columns, cells of the others, COUNT(*), SUM(u), SUM(u * u)
    FROM release WHERE public conditions GROUP BY all of these

Where nothing but cells of perturbed columns is counted, an engine may count these without a statement (engines/duckdb/tally.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from scumble.core.channel_base import BaseChannel
from scumble.core.domain import Domain, Grid
from scumble.engines.expressions import cast
from scumble.query.model import Group, Query
from scumble.query.normalize import Conditions, Perturbed
from scumble.query.packing import packed


@dataclass(frozen=True)
class Published:
    """What the query layer knows of a release."""

    columns: Sequence[str]
    domains: dict[str, Domain]
    """The perturbed columns."""
    strata: Sequence[Mapping[str, BaseChannel]]
    """Their channels, for each stratum."""
    stratum: str | None = None
    """The column that says which stratum a row belongs to, where there are several."""
    weight: str | None = None
    """The column that says how many rows a published row stands for, where it is not 1."""
    copies: str | None = None
    """The column that says how often a published row stands in the table, where that stands for a weight."""
    sample: int | None = None
    """Where groups were sampled, the rows that a sampled one has at least; such rows have a weight, or copies, above 1."""
    whole: int = 0
    """The rows of the table, where values are replaced by others of the same column; else 0."""
    permuted: bool = False
    """Whether they are permuted, and not drawn anew."""
    joint: Sequence[str] = ()
    """Perturbed columns that are kept together or replaced together."""
    values: bool = False
    """Whether the rows are those of the table, before their values got codes."""
    drawn: exp.Expression | None = None
    """Where rows of persons were drawn and have weights: which rows were drawn among others, whatever columns are asked about."""

    def factors(self, order: int) -> list[exp.Expression]:
        """What a row is multiplied by in sums of an order: W, W^2 and W^3, or 1, its copies and their square."""
        if self.weight is not None:
            return [exp.column(self.weight, quoted=True)] * order
        return [exp.column(self.copies, quoted=True)] * (order - 1) if self.copies is not None else []

    @property
    def weighted(self) -> bool:
        """Whether sums of second order are others than those of first order."""
        return self.weight is not None or self.copies is not None

    def channels(self, name: str) -> list[BaseChannel]:
        """The channels of a column in all strata."""
        return [stratum[name] for stratum in self.strata]

    def constant(self, name: str) -> bool:
        """Whether each stratum has one retention for all values of the column."""
        return all(channel.constant for channel in self.channels(name))


@dataclass(frozen=True)
class Question:
    """A query against the columns of a release, and the statement that fetches what it needs."""

    query: Query
    published: Published
    conditions: Conditions
    publics: Sequence[Group]
    """Grouping expressions over public columns."""
    grouped: Sequence[Perturbed]
    """Perturbed columns that are grouped by as they are: each value is a line."""
    others: Sequence[Perturbed]
    """Perturbed columns of conditions, of aggregates and of groups that are functions of them."""
    statement: exp.Select
    counted: bool = False
    """Whether nothing but rows is counted."""

    @property
    def exact(self) -> bool:
        """Whether no coin has a say in the answer: no perturbed column is asked about, and no row was drawn."""
        return not self.grouped and not self.others and self.published.drawn is None

    @property
    def axes(self) -> list[Perturbed] | None:
        """The columns whose cells are all that is to be counted, sub-tables first; None where the question is about more than that."""
        rows, asked = self.published, self.conditions
        others = self.publics or asked.filter or asked.public_atoms or rows.weighted or rows.sample is not None
        if self.exact or others or not self.counted:
            return None
        dealt = [_sub_tables(rows.stratum, len(rows.strata))] if rows.stratum and len(rows.strata) > 1 else []
        return [*dealt, *(self.seen(axis) for axis in [*self.grouped, *self.others])]

    def seen(self, axis: Perturbed) -> Perturbed:
        """A perturbed column as the rows that are asked have it."""
        return axis if self.published.values else axis.shown


def _sub_tables(name: str, count: int) -> Perturbed:
    """The column of sub-tables, which are numbered."""
    return Perturbed(name, Grid("0", str(count - 1), "1", pa.int64()), np.arange(count), count)


Named = tuple[str, exp.Expression]


def told_apart(
    conditions: Conditions,
    publics: Sequence[Group],
    grouped: Sequence[Perturbed],
    others: Sequence[Perturbed],
    published: Published,
) -> list[Named]:
    """What the lines of the statement are told apart by."""
    keys: list[Named] = [(f"g{i}", g.expression) for i, g in enumerate(publics)]
    keys += [(f"y{i}", exp.column(axis.name, quoted=True)) for i, axis in enumerate(grouped)]
    keys += [(f"c{i}", exp.column(axis.name, quoted=True)) for i, axis in enumerate(others) if axis.raw]
    key = packed(others, conditions.public_atoms)
    keys += [("c", key)] if key is not None else []
    if published.stratum is not None and (grouped or others):
        keys.append(("z", exp.column(published.stratum, quoted=True)))
    if published.sample is not None and (grouped or others):
        (factor,) = published.factors(1) or published.factors(2)
        keys.append(("w", cast(exp.GT(this=factor, expression=exp.Literal.number(1)), exp.DataType.Type.INT)))
    if published.drawn is not None:
        keys.append(("w", cast(published.drawn.copy(), exp.DataType.Type.INT)))
    return keys


LEAST, MOST = "least {}", "most {}"
"""The names of the least and the most of a public number, beside that of its sums."""


def ends_of(name: str, value: exp.Expression) -> list[Named]:
    """The least and the most of a number in the rows of a line."""
    return [(LEAST.format(name), exp.Min(this=value.copy())), (MOST.format(name), exp.Max(this=value.copy()))]


def row_counts(rows: Published) -> list[Named]:
    """How many rows a line has, and where they have weights how many rows these are."""
    sums = counts_of("n", None, rows)
    if rows.weighted:
        once = exp.Literal.number("1.0")
        alone = exp.Div(this=once, expression=exp.column(rows.copies, quoted=True)) if rows.copies else once
        sums.append(("n_rows", exp.Sum(this=alone)))
    return sums


def counts_of(name: str, value: exp.Expression | None, rows: Published) -> list[Named]:
    """How many rows there are, or have a value, in the orders that there are."""
    if not rows.weighted:
        return [(name, exp.Count(this=exp.Star() if value is None else value.copy()))]
    one: exp.Expression = exp.Literal.number(1)
    if value is not None:
        present = exp.Not(this=exp.Is(this=exp.Paren(this=value.copy()), expression=exp.Null()))
        one = exp.Case(ifs=[exp.If(this=present, true=one)], default=exp.Literal.number(0))
    return of_orders(name, one, rows, (1, 2, 3))


def of_orders(name: str, value: exp.Expression, rows: Published, orders: Sequence[int]) -> list[Named]:
    """The sums of a value of some orders; of the first of them only, where rows have no weights and all are the same."""
    first, *more = orders
    ordered = [(name, _weighted(value, rows, first))]
    return ordered + [(f"{name}{order}", _weighted(value, rows, order)) for order in more if rows.weighted]


def _weighted(value: exp.Expression, rows: Published, order: int) -> exp.Expression:
    product = value.copy()
    for factor in rows.factors(order):
        product = exp.Mul(this=product, expression=factor.copy())
    return exp.Sum(this=product)
