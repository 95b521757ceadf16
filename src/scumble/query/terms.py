"""A value of a row as a sum of products: numbers of public columns times functions of the cells of perturbed ones.

SUM, AVG and COUNT of an expression E need h = E where E is not missing, and the indicator of that. Both are written as

    h = sum of u_t(z) f_t(cells),        u_t a product of public numbers, f_t a table over the cells of all axes

An expression of one perturbed column is asked of its domain, whatever functions are in it. Sums, products, quotients by one column and CASE are
taken apart, so that columns may be mixed; with E = a + b, E = a b and E = CASE WHEN c THEN a ELSE b END, and [a] where a is not missing,

    h = a [b] + b [a],    [E] = [a] [b];        h = a b,    [E] = [a] [b];        h = c a + (1 - c) b,    [E] = c [a] + (1 - c) [b]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from scumble.core.domain import Domain
from scumble.core.errors import QueryError
from scumble.engines.expressions import number
from scumble.query.model import sql_of, written
from scumble.query.normalize import Asked, Node, Perturbed, PublicAtom, evaluate, tree_of

Tensor = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Factor:
    """A product of public numbers, of rows in which some public values are not missing."""

    numbers: tuple[exp.Expression, ...] = ()
    present: frozenset[exp.Expression] = frozenset()

    def __mul__(self, other: "Factor") -> "Factor":
        numbers = tuple(sorted([*self.numbers, *other.numbers], key=sql_of))
        return Factor(numbers, (self.present | other.present) - set(numbers))


ONE = Factor()
Terms = dict[Factor, Tensor]


@dataclass(frozen=True)
class Grid:
    """The cells that tables are over."""

    axes: Sequence[Perturbed]
    publics: Sequence[PublicAtom]

    @property
    def rank(self) -> int:
        """How many dimensions tables have."""
        return len(self.axes) + len(self.publics)

    def table(self, columns: Sequence[str], values: Tensor) -> Tensor:
        """A function of values of columns as one of cells, in which it has one value each."""
        places = [next(i for i, axis in enumerate(self.axes) if axis.name == name) for name in columns]
        firsts = [np.unique(self.axes[place].cells, return_index=True)[1] for place in places]
        picked = values.reshape([self.axes[place].domain.size for place in places])[np.ix_(*firsts)]
        ordered = np.transpose(picked, np.argsort(places))
        shape = [self.axes[i].count if i in places else 1 for i in range(len(self.axes))]
        return np.asarray(ordered.reshape(*shape, *(1,) * len(self.publics)))

    def truth(self, condition: Node) -> Tensor:
        """1 where a condition is true."""
        return evaluate(condition, self.axes, self.publics)[0].astype(np.float64)


@dataclass(frozen=True)
class Constant:
    """A number, or nothing."""

    value: float | None

    def terms(self, grid: Grid) -> tuple[Terms, Terms]:
        """Itself, where it is one."""
        if self.value is None:
            return {}, {}
        return {ONE: np.full((1,) * grid.rank, self.value)}, {ONE: np.ones((1,) * grid.rank)}


@dataclass(frozen=True)
class Public:
    """An expression of public columns."""

    expression: exp.Expression

    def terms(self, grid: Grid) -> tuple[Terms, Terms]:
        """The number, and that it is there."""
        one = np.ones((1,) * grid.rank)
        return {Factor((self.expression,)): one}, {Factor((), frozenset([self.expression])): one}


@dataclass(eq=False)
class OfColumns:
    """An expression of perturbed columns; what it is for each combination of their values is filled in."""

    columns: list[str]
    expression: exp.Expression
    values: Tensor = field(default_factory=lambda: np.zeros(0))
    """NaN where it is missing."""
    column: exp.Expression | None = None
    """Itself, where it is a column whose published numbers the statement sums."""

    def terms(self, grid: Grid) -> tuple[Terms, Terms]:
        """Its table; or where its numbers are summed, whether it is there."""
        if self.column is not None:
            there = (~np.isnan(grid.table(self.columns, self.values))).astype(np.float64)
            return {Factor((self.column,)): there}, {ONE: there}
        table = grid.table(self.columns, self.values)
        return {ONE: np.nan_to_num(table)}, {ONE: (~np.isnan(table)).astype(np.float64)}


@dataclass(frozen=True)
class Sum:
    """Two values added."""

    parts: "tuple[Value, Value]"

    def terms(self, grid: Grid) -> tuple[Terms, Terms]:
        """a [b] + b [a]."""
        (a, has_a), (b, has_b) = (part.terms(grid) for part in self.parts)
        return added(times(a, has_b), times(b, has_a)), times(has_a, has_b)


@dataclass(frozen=True)
class Product:
    """Two values multiplied."""

    parts: "tuple[Value, Value]"

    def terms(self, grid: Grid) -> tuple[Terms, Terms]:
        """a b."""
        (a, has_a), (b, has_b) = (part.terms(grid) for part in self.parts)
        return times(a, b), times(has_a, has_b)


@dataclass(frozen=True)
class Choice:
    """One of two values, by a condition."""

    condition: Node
    parts: "tuple[Value, Value]"

    def terms(self, grid: Grid) -> tuple[Terms, Terms]:
        """c a + (1 - c) b."""
        taken = grid.truth(self.condition)
        chosen, other = {ONE: taken}, {ONE: 1 - taken}
        (a, has_a), (b, has_b) = (part.terms(grid) for part in self.parts)
        return added(times(a, chosen), times(b, other)), added(times(has_a, chosen), times(has_b, other))


Value = Constant | Public | OfColumns | Sum | Product | Choice


def added(a: Terms, b: Terms) -> Terms:
    """The sum of two sums of products."""
    total = dict(a)
    for factor, table in b.items():
        total[factor] = total[factor] + table if factor in total else table
    return total


def times(a: Terms, b: Terms) -> Terms:
    """Their product."""
    product: Terms = {}
    for one, left in a.items():
        for other, right in b.items():
            product = added(product, {one * other: left * right})
    return {factor: table for factor, table in product.items() if np.any(table)}


@dataclass
class Reader:
    """Reads values, and keeps what the engine is to be asked about domains."""

    domains: Mapping[str, Domain]
    asked: Asked
    notes: list[str]
    numeric: bool = True
    """Whether values are numbers; else it is only asked whether they are there."""
    functions: list[OfColumns] = field(default_factory=list)
    conditions: list[Node] = field(default_factory=list)

    def value(self, expression: exp.Expression) -> Value:
        """An expression, taken apart as far as need be."""
        names = {column.name for column in expression.find_all(exp.Column)}
        hidden = sorted(names & set(self.domains))
        if not names and (constant := _constant(expression)) is not None:
            return constant
        if not hidden:
            return Public(expression)
        if len(names) > 1 and (parted := self._parted(expression)) is not None:
            return parted
        if len(hidden) == len(names):
            return self._function(hidden, expression)
        others = ", ".join(repr(name) for name in sorted(names - set(hidden)))
        raise QueryError(
            f"{written(expression)} mixes the perturbed column {hidden[0]!r} with {others} in a function; "
            "columns may be mixed by +, -, *, by / and by CASE"
        )

    def _function(self, columns: list[str], expression: exp.Expression) -> Value:
        expression = expression if self.numeric else presence(expression)
        known = next((f for f in self.functions if f.expression == expression), None)
        if known is None:
            known = OfColumns(columns, expression)
            self.functions.append(known)
        return known

    def _parted(self, e: exp.Expression) -> Value | None:
        """A value of several columns by those of its parts; None where they cannot be told apart."""
        if isinstance(e, exp.Paren):
            return self.value(e.this)
        if isinstance(e, exp.Neg):
            return Product((Constant(-1.0), self.value(e.this)))
        if isinstance(e, exp.Add):
            return Sum((self.value(e.left), self.value(e.right)))
        if isinstance(e, exp.Sub):
            return Sum((self.value(e.left), Product((Constant(-1.0), self.value(e.right)))))
        if isinstance(e, exp.Mul):
            return Product((self.value(e.left), self.value(e.right)))
        if isinstance(e, exp.Div) and len({column.name for column in e.right.find_all(exp.Column)}) < 2:
            inverse = exp.Div(this=exp.Literal.number("1.0"), expression=exp.paren(e.right.copy()))
            return Product((self.value(e.left), self.value(inverse)))
        if isinstance(e, exp.Case | exp.If):
            return self._choice(e)
        if isinstance(e, exp.Cast) and e.to.this in exp.DataType.REAL_TYPES:
            return self.value(e.this)
        return self._truth(e)

    def _choice(self, case: exp.Expression) -> Value:
        whole = isinstance(case, exp.Case)
        otherwise = case.args.get("default" if whole else "false")
        choice = self.value(otherwise) if otherwise is not None else Constant(None)
        for branch in reversed(case.args["ifs"] if whole else [case]):
            plain = branch is case or case.this is None
            when = branch.this if plain else exp.EQ(this=case.this.copy(), expression=branch.this.copy())
            choice = Choice(self._condition(when), (self.value(branch.args["true"]), choice))
        return choice

    def _truth(self, e: exp.Expression) -> Value | None:
        """A condition as a number."""
        if not isinstance(e, exp.Predicate | exp.Connector | exp.Not):
            return None
        true, false = self._condition(e), self._condition(exp.Not(this=exp.paren(e.copy())))
        return Choice(true, (Constant(1.0), Choice(false, (Constant(0.0), Constant(None)))))

    def _condition(self, e: exp.Expression) -> Node:
        node = tree_of(e, dict(self.domains), self.asked, self.notes)
        self.conditions.append(node)
        return node


def _constant(expression: exp.Expression) -> Constant | None:
    """A number that is written out, or NULL; None for anything else."""
    inner = expression.unnest()
    if isinstance(inner, exp.Null):
        return Constant(None)
    if isinstance(inner, exp.Neg) and (negated := _constant(inner.this)) is not None and negated.value is not None:
        return Constant(-negated.value)
    if isinstance(inner, exp.Boolean):
        return Constant(float(inner.this))
    return Constant(float(inner.name)) if isinstance(inner, exp.Literal) and inner.is_number else None


def presence(value: exp.Expression) -> exp.Expression:
    """1 where a value is there."""
    there = exp.Not(this=exp.Is(this=exp.Paren(this=value.copy()), expression=exp.Null()))
    return exp.Case(ifs=[exp.If(this=there, true=number(1))])
