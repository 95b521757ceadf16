"""A question into ONE statement over the published table.

The statement counts, for each public group and each combination of cells, the published rows and the sums that the aggregates
need. Weights depend on nothing but the cells, so the sums over rows of MATHS are sums over these few lines, whatever the number of
rows; and the same lines are what the likelihood needs.

    SELECT groups, published values of grouped perturbed columns, cells of the others, COUNT(*), SUM(v), SUM(v * v)
    FROM release WHERE public conditions GROUP BY all of these

Where nothing but cells of perturbed columns is counted, an engine may count these without a statement (engines/duckdb/tally.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.core.arrow_types import is_number
from scumble.core.channel_base import BaseChannel
from scumble.core.domain import Domain, Grid
from scumble.core.errors import QueryError
from scumble.engines.engine import TABLE, Engine
from scumble.engines.expressions import cast, double, select
from scumble.query.model import Aggregate, Group, Query, sql_of
from scumble.query.normalize import Conditions, Perturbed, SetAtom, cut, take_apart
from scumble.query.packing import grouped_raw, packed


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
    values: bool = False
    """Whether the rows are those of the table, before their values got codes."""

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
    """Perturbed columns that are grouped by."""
    others: Sequence[Perturbed]
    """Perturbed columns of conditions and of aggregates."""
    values: Sequence[exp.Expression]
    """What SUM and AVG are taken of, apart from grouped columns."""
    statement: exp.Select

    @property
    def exact(self) -> bool:
        """Whether no perturbed column is asked about."""
        return not self.grouped and not self.others

    @property
    def axes(self) -> list[Perturbed] | None:
        """The columns whose cells are all that is to be counted, sub-tables first; None where the question is about more than that."""
        rows, asked = self.published, self.conditions
        others = self.publics or asked.filter or asked.public_atoms or rows.weighted or rows.sample is not None
        counted = all(a.kind == "count" and self._is_perturbed(a.value) for a in self.query.aggregates)
        if self.exact or others or not counted:
            return None
        dealt = [_sub_tables(rows.stratum, len(rows.strata))] if rows.stratum and len(rows.strata) > 1 else []
        return [*dealt, *(self.seen(axis) for axis in [*self.grouped, *self.others])]

    def seen(self, axis: Perturbed) -> Perturbed:
        """A perturbed column as the rows that are asked have it."""
        return axis if self.published.values else axis.shown

    def _is_perturbed(self, value: exp.Expression | None) -> bool:
        return value is None or perturbed_column(value, self.published.domains) is not None

    def counted(self, value: exp.Expression | None) -> tuple[int | None, str | None]:
        """The public value, or the perturbed column, that is not missing in rows that are counted by a value."""
        if value is None:
            return None, None
        column = perturbed_column(value, {axis.name: axis.domain for axis in [*self.grouped, *self.others]})
        return (self.place(value), None) if column is None else (None, column)

    def place(self, value: exp.Expression) -> int:
        """Where the sums of a value stand."""
        return next(i for i, known in enumerate(self.values) if known == value)


def compile_query(
    query: Query, published: Published, engine: Engine, *, by_value: bool = False, every: bool = False
) -> Question:
    """The question, with every perturbed column cut into the cells that it needs.

    by_value   whether each value of a summed perturbed column is a cell, although one retention would allow to sum its numbers
    every      whether each value of every perturbed column is a cell
    """
    domains = published.domains
    conditions = take_apart(query.where, domains, engine)
    names = [g.expression.name for g in query.groups if perturbed_column(g.expression, domains)]
    values = [name for a in query.aggregates if a.value is not None and (name := perturbed_column(a.value, domains))]
    _refuse_functions(query, domains)
    inner = [n for n in dict.fromkeys([*conditions.columns, *values]) if n not in names]

    def axis(name: str, by_value: bool) -> Perturbed:
        atoms = conditions.atoms(name) + _null_atoms(name, domains[name], name in values)
        return cut(name, domains[name], published.channels(name), atoms, by_value=by_value)

    grouped = [axis(name, True) for name in names]
    by_value = by_value or published.weighted
    others = [axis(name, every or (name in values and (by_value or not published.constant(name)))) for name in inner]
    sums = list(
        dict.fromkeys(
            a.value for a in query.aggregates if a.value is not None and perturbed_column(a.value, domains) not in names
        )
    )
    publics = [g for g in query.groups if not perturbed_column(g.expression, domains)]
    alone = not publics and not grouped and not conditions.public_atoms
    others = grouped_raw(others, alone, published.values)
    summed = [a.value for a in query.aggregates if a.kind != "count" and a.value is not None]
    seen = others if published.values else [axis.shown for axis in others]
    keys = told_apart(conditions, publics, grouped, seen, published)
    totals = [a.value for a in query.aggregates if a.kind == "sum" and a.value is not None]
    cubed = [value for value in totals if (grouped or others) and not perturbed_column(value, domains)]
    statement = select(dict([*keys, *_sums(sums, summed, cubed, published)]), TABLE, conditions.filter, len(keys))
    return Question(query, published, conditions, publics, grouped, others, sums, statement)


def _sub_tables(name: str, count: int) -> Perturbed:
    """The column of sub-tables, which are numbered."""
    return Perturbed(name, Grid("0", str(count - 1), "1", pa.int64()), np.arange(count), count)


def perturbed_column(expression: exp.Expression, domains: dict[str, Domain]) -> str | None:
    """The perturbed column that an expression is, if it is one."""
    if isinstance(expression, exp.Paren):
        return perturbed_column(expression.this, domains)
    return expression.name if isinstance(expression, exp.Column) and expression.name in domains else None


def null_states(domain: Domain) -> npt.NDArray[np.int8]:
    """Which values are not missing."""
    return np.asarray(domain.values.is_valid().to_numpy(zero_copy_only=False)).astype(np.int8)


def _null_atoms(name: str, domain: Domain, needed: bool) -> list[SetAtom]:
    return (
        [SetAtom(name, null_states(domain))]
        if needed and not isinstance(domain, Grid) and domain.values.null_count
        else []
    )


def _refuse_functions(query: Query, domains: dict[str, Domain]) -> None:
    expressions = [g.expression for g in query.groups] + [a.value for a in query.aggregates if a.value is not None]
    for expression in expressions:
        inside = [c.name for c in expression.find_all(exp.Column) if c.name in domains]
        if inside and not perturbed_column(expression, domains):
            raise QueryError(
                f"{sql_of(expression)} is a function of the perturbed column {inside[0]!r}; "
                "group by, sum and average the column itself, and use functions of it in WHERE only "
                "(a share is one COUNT(*) with the condition in WHERE over another without it)"
            )
    _refuse_text(query.aggregates, domains)


def _refuse_text(aggregates: Sequence[Aggregate], domains: dict[str, Domain]) -> None:
    for aggregate in aggregates:
        name = perturbed_column(aggregate.value, domains) if aggregate.value is not None else None
        if name and aggregate.kind != "count" and not is_number(domains[name].type):
            raise QueryError(
                f"{aggregate.kind.upper()}({name}) needs numbers, but {name!r} has values of type {domains[name].type}"
            )


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
    return keys


def _sums(
    values: Sequence[exp.Expression],
    summed: Sequence[exp.Expression],
    cubed: Sequence[exp.Expression],
    rows: Published,
) -> list[Named]:
    """Counts and sums of a line, of first order, and where rows have weights of second and third order too.

    n, n2, n3: sums of W, W^2 and W^3.  v_n, v_n2, v_n3: the same where the value is not missing.  v_s, v_s2: of W v and W^2 v.
    v_q: of W^2 v^2.  v_c: of W^3 v^3, where a value is summed, not averaged.  n_rows: the rows themselves, each once. (With copies
    W is 1, W^2 the number of copies and W^3 its square, in sums over all of them.)
    """
    sums = row_counts(rows)
    for i, value in enumerate(values):
        sums += counts_of(f"v{i}_n", value, rows)
        if value in summed:
            sums += of_orders(f"v{i}_s", _power(value, 1), rows, (1, 2))
            sums += of_orders(f"v{i}_q", _power(value, 2), rows, (2,))
        if value in cubed:
            sums += of_orders(f"v{i}_c", _power(value, 3), rows, (3,))
    return sums


def row_counts(rows: Published) -> list[Named]:
    """How many rows a line has, and where they have weights how many rows these are."""
    sums = counts_of("n", None, rows)
    if rows.weighted:
        once = exp.Literal.number("1.0")
        alone = exp.Div(this=once, expression=exp.column(rows.copies, quoted=True)) if rows.copies else once
        sums.append(("n_rows", exp.Sum(this=alone)))
    return sums


def _power(value: exp.Expression, power: int) -> exp.Expression:
    number: exp.Expression = double(value)
    for _ in range(power - 1):
        number = exp.Mul(this=number, expression=double(value))
    return number


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
