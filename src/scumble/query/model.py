"""What a question is, once it is read: groups, aggregates, conditions, and what is made of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from scumble.core.errors import QueryError
from scumble.query.aggregates import AGGREGATES
from scumble.query.aggregates.aggregation import LINEAR, Aggregation, Kind

LANGUAGE = "duckdb"
"""What sqlglot calls the SQL that questions are written in, whatever engine answers them."""


@dataclass(frozen=True)
class Aggregate:
    """COUNT(*), COUNT(value), SUM(value) or AVG(value), under the name of its column in the answer."""

    name: str
    how: Aggregation
    value: exp.Expression | None
    function: exp.Expression | None = None
    """As it was written, where it is more than counts and sums of the value."""

    @property
    def kind(self) -> Kind:
        """What forms add up for it."""
        return self.how.kind


@dataclass(frozen=True)
class Group:
    """An expression that the answer has a row for each value of."""

    name: str
    expression: exp.Expression


@dataclass(frozen=True)
class Window:
    """The sum of a count or a sum over all lines of the answer that have the same values of some groups."""

    name: str
    of: str
    """The aggregate."""
    by: frozenset[str] = frozenset()
    """The names of the groups; without one it is the sum over all lines."""


@dataclass(frozen=True)
class Order:
    """One key of ORDER BY: a column of the answer."""

    name: str
    descending: bool


@dataclass(frozen=True)
class Column:
    """A column of the answer: an expression in which an aggregate, a group or a window is a Var of its name."""

    name: str
    expression: exp.Expression


@dataclass(frozen=True)
class Derived:
    """What is made of aggregates: columns of the answer, and which lines are shown."""

    columns: Sequence[Column]
    windows: Sequence[Window] = ()
    having: exp.Expression | None = None
    qualify: exp.Expression | None = None
    distinct: bool = False
    """Whether only the different values of the groups are asked for."""

    @property
    def direct(self) -> frozenset[str]:
        """The names that are columns as they are."""
        return frozenset(c.expression.name for c in self.columns if isinstance(c.expression, exp.Var))


@dataclass(frozen=True)
class Query:
    """A question, with columns resolved."""

    outputs: Sequence[Aggregate | Group]
    groups: Sequence[Group]
    where: exp.Expression | None
    order: Sequence[Order]
    limit: int | None
    offset: int
    derived: "Derived | None" = None
    """What is made of the aggregates before it is shown; nothing, where they are shown themselves."""
    sets: tuple[frozenset[int], ...] | None = None
    """Where there are several groupings, the places of the groups of each."""

    @property
    def shown(self) -> list[tuple[str, bool]]:
        """The columns of the answer, and whether they are groups."""
        if self.derived is None:
            return [(output.name, isinstance(output, Group)) for output in self.outputs]
        groups = {group.name for group in self.groups}
        columns = [column for column in self.derived.columns if not column.name.startswith(HIDDEN)]
        return [(c.name, isinstance(c.expression, exp.Var) and c.expression.name in groups) for c in columns]

    @property
    def direct(self) -> frozenset[str]:
        """The aggregates that are shown themselves, so that their intervals are to be the best that there are."""
        return frozenset(a.name for a in self.aggregates) if self.derived is None else self.derived.direct

    @property
    def aggregates(self) -> list[Aggregate]:
        """The aggregates, in the order of the answer's columns."""
        return [output for output in self.outputs if isinstance(output, Aggregate)]


HIDDEN = "scumble order "
"""What the names of columns begin with that are ordered by and not shown."""

BESIDE = ("_se", "_low", "_high")
"""What the names of the columns that an answer has beside each aggregate end in."""


def aggregate_of(name: str, function: exp.Expression) -> Aggregate | None:
    """An aggregate under a name; None for what is none."""
    kind = (
        exp.Distinct if isinstance(function, exp.Count) and isinstance(function.this, exp.Distinct) else type(function)
    )
    how = AGGREGATES.get(kind)
    if how is None:
        return None
    if kind is not exp.Distinct and function.find(exp.Distinct):
        raise QueryError(
            "SUM(DISTINCT x) and the like cannot be answered: which values there were is not a sum over rows"
        )
    value = how.read(function.this if kind is exp.Distinct else function)
    return Aggregate(name, how, value, None if how.kind in LINEAR else function)


def demand_names(names: Sequence[str], aggregated: Sequence[bool], beside: Sequence[str]) -> None:
    """No two columns have one name, and nothing is called as what an aggregate a comes with: a_se, a_low and so on."""
    if len(set(names)) != len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise QueryError(f"two columns of the answer are called {twice!r}; name them apart with AS")
    for name in (name for name, estimated in zip(names, aggregated, strict=True) if estimated):
        for suffix in beside:
            if name + suffix in names:
                raise QueryError(
                    f"the answer has a column {name + suffix!r} of its own, beside {name!r}; choose another name with AS"
                )


def written(expression: exp.Expression) -> str:
    """An expression as its writer would know it: names without the quotes that they do not need."""
    plain = expression.copy()
    for identifier in plain.find_all(exp.Identifier):
        identifier.set("quoted", not identifier.name.isidentifier())
    return sql_of(plain)


def sql_of(expression: exp.Expression) -> str:
    """An expression in the language of questions."""
    return str(expression.sql(dialect=LANGUAGE))
