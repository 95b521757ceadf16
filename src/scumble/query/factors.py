"""The public factors of totals, and the sums that the statement takes of them.

A total is a sum of terms u f, u a product of public numbers (query/terms.py). Its variance needs the sums of u^2, the covariance of two those of their
products; how a variance follows a sum needs u^3 (query/moments.py), and what a sum can be at all the least and the most u.

A perturbed column x with one retention may be summed like a public number: the weight of a published y is a line of y (query/sums.py), so that the sums of
y and of y^2 by cell are enough, however many values there are. Then x stands among the numbers of a factor too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product as pairs

from sqlglot import exp

from scumble.core.domain import Domain
from scumble.engines.expressions import double, either, product
from scumble.query.compile import Named, Published, ends_of, of_orders, row_counts
from scumble.query.model import Aggregate, Query
from scumble.query.terms import ONE, Factor, Terms


@dataclass(frozen=True)
class Total:
    """One aggregate: the sums of its value, and of the rows that have one."""

    aggregate: Aggregate
    number: Terms
    present: Terms

    @property
    def factors(self) -> list[Factor]:
        """Those of all its terms, each once."""
        return list(dict.fromkeys([*self.number, *self.present]))

    @property
    def terms(self) -> Terms:
        """What a count, or a sum, adds up."""
        return self.present if self.aggregate.kind == "count" else self.number


@dataclass(frozen=True)
class Factors:
    """All factors, each with the name of its sums in the statement."""

    names: Mapping[Factor, str]
    single: Sequence[Factor]
    """Those of single terms."""
    cubed: Sequence[Factor]
    """Those whose third powers are summed too."""
    drawn: frozenset[exp.Expression]
    """The perturbed columns among the numbers."""

    def public(self, factor: Factor) -> Factor:
        """A factor without perturbed columns."""
        return Factor(tuple(n for n in factor.numbers if n not in self.drawn), factor.present)

    def power(self, factor: Factor) -> tuple[str, int] | None:
        """The perturbed column among the numbers of a factor, and how often it is."""
        names = [n.name for n in factor.numbers if n in self.drawn]
        return (names[0], len(names)) if names else None

    def sums(self, rows: Published, *, perturbed: bool) -> list[Named]:
        """What the statement sums."""
        named = [part for factor, name in self.names.items() for part in _sums(factor, name, rows)]
        if perturbed:
            named += [part for factor in self.cubed for part in _cube(factor, self.names[factor], rows)]
        asked = [factor for factor in self.single if factor.numbers and self.power(factor) is None]
        return named + [end for factor in asked for end in ends_of(self.names[factor], _value(factor))]


CUBE = "{}_c"
"""The name of the sums of third powers."""


def factors_of(totals: Sequence[Total], query: Query, domains: Mapping[str, Domain]) -> Factors:
    """The factors of all terms, and of the products that variances and covariances need.

    Where aggregates are shown as they are, no covariance of two with public numbers is needed.
    """
    single = list(dict.fromkeys([ONE, *(factor for total in totals for factor in total.factors)]))
    drawn = frozenset(
        n for f in single for n in f.numbers if isinstance(n.unnest(), exp.Column) and n.unnest().name in domains
    )
    bare = Factors({}, single, (), drawn)

    def parts(factors: Sequence[Factor]) -> list[Factor]:
        return list(dict.fromkeys([*(bare.public(factor) for factor in factors), *factors]))

    groups = [parts(single)] if query.derived is not None else [parts([ONE, *total.factors]) for total in totals]
    products = [one * other for group in groups for one, other in pairs(group, group)]
    every = dict.fromkeys([ONE, *parts(single), *products])
    names = {factor: "n" if factor == ONE else f"v{place}_s" for place, factor in enumerate(every)}
    cubed = [
        total.factors[0]
        for total in totals
        if total.aggregate.kind == "sum" and len(total.number) == 1 and next(iter(total.number)).numbers
    ]
    cubed = [factor for factor in dict.fromkeys(cubed) if bare.power(factor) is None]
    return Factors(names, single, cubed, drawn)


def _sums(factor: Factor, name: str, rows: Published) -> list[Named]:
    """The sums of a factor over the rows of a line, of first and where rows have weights of second and third order."""
    if factor == ONE:
        return row_counts(rows)
    if not factor.numbers and len(factor.present) == 1 and not rows.weighted:
        return [(name, exp.Count(this=next(iter(factor.present)).copy()))]
    return of_orders(name, _value(factor), rows, (1, 2, 3))


def _cube(factor: Factor, name: str, rows: Published) -> list[Named]:
    cube = Factor(factor.numbers * 3, factor.present)
    return [(CUBE.format(name), of_orders(name, _value(cube), rows, (3,))[0][1])]


def _value(factor: Factor) -> exp.Expression:
    """A factor in the rows in which it is there."""
    value = product([double(number) for number in factor.numbers])
    if not factor.present:
        return value
    there = [exp.Not(this=exp.Is(this=exp.paren(part), expression=exp.Null())) for part in factor.present]
    return either(exp.and_(*there), value)
