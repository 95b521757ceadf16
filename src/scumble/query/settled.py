"""Conditions on values that a release does not tell: published numbers stand for others around them, and published names for several.

A condition on such a column holds for all values that a published one stands for, for some, or for none. So a question is asked twice more: with the
conditions that surely hold, and with those that may. Functions of such numbers, which groups and sums are of, are taken at the lower ends the first
time, and at the upper ends the second time. The answer is the hull of all three (query/hulls.py).

    surely:  c(v) for both ends v,        may:  c(v) for one of them          c a comparison of a line of the column with a constant

A column that is missing stays missing: what may hold in any case is written as x = x, and what never surely does as x <> x.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from sqlglot import exp

from scumble.query.middle import ORDERED, monotone, slope
from scumble.query.model import Aggregate, Group, Query

BOOLEAN = (exp.Predicate, exp.Connector, exp.Not, exp.RegexpLike, exp.Contains, exp.StartsWith, exp.EndsWith)
"""What is true, false or missing."""

JUMPING = (exp.Mod, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.Sin, exp.Cos, exp.Tan)
"""What goes up and down between two ends."""

LIMITS: Mapping[bool, Mapping[type[exp.Expression], type[exp.Expression]]] = {
    True: {exp.GT: exp.GT, exp.GTE: exp.GT, exp.LT: exp.LTE, exp.LTE: exp.LTE},
    False: {exp.GT: exp.GTE, exp.GTE: exp.GTE, exp.LT: exp.LT, exp.LTE: exp.LT},
}
"""What a comparison becomes at an end that is not reached, of a side that rises towards it, or falls."""


@dataclass(frozen=True)
class Around:
    """A column whose published numbers, or dates, stand for all between two ends."""

    lower: Callable[[exp.Expression], exp.Expression]
    upper: Callable[[exp.Expression], exp.Expression]
    reached: bool = True
    """Whether the upper end itself is one of these."""


@dataclass(frozen=True)
class Named:
    """A column whose published names stand for several values."""

    published: Callable[[Any], Any]
    """The name that a value was published under; itself, where it is such a name."""
    whole: Callable[[Collection[Any], Any], bool]
    """Whether some values are all that a name stands for."""
    as_it_is: Callable[[type[exp.Expression], str], bool] = lambda kind, text: False
    """Whether names tell what a comparison with a text asks for."""
    listed: bool = False
    """Whether it is written down which values each name stands for."""
    prefix: int | None = None
    """How many letters names have, where these are the first ones of values."""


Unknown = Mapping[str, Around | Named]
"""The columns of which a release does not tell the values."""


def variants(query: Query, unknown: Unknown) -> list[Query]:
    """The question with conditions that surely hold, and with those that may; none where all that is asked is known."""
    if not unknown:
        return []
    both = [_variant(query, Settling(unknown, may, query.derived is None)) for may in (False, True)]
    return both if any(each != query for each in both) else []


def moves(value: exp.Expression, reaches: Mapping[str, float]) -> float:
    """How far a line of a column may lie from what it is taken for, where it is known how far the column may; else 0."""
    column = monotone(value)
    return 0.0 if column is None else abs(slope(value)) * reaches.get(column.name, 0.0)


def in_names(query: Query, unknown: Unknown) -> Query:
    """The question with lists of values by the names that stand for these and for nothing else."""
    names = {name: own for name, own in unknown.items() if isinstance(own, Named) and own.listed}
    return _variant(query, Settling(names, False)) if names else query


def _variant(query: Query, settling: "Settling") -> Query:
    def group(one: Group) -> Group:
        return replace(one, expression=settling.value(one.expression))

    def output(one: Aggregate | Group) -> Aggregate | Group:
        if isinstance(one, Group):
            return group(one)
        return one if one.value is None else replace(one, value=settling.value(one.value, moved=settling.ends))

    where = None if query.where is None else settling.condition(query.where)
    return replace(
        query, where=where, outputs=[output(o) for o in query.outputs], groups=[group(g) for g in query.groups]
    )


@dataclass(frozen=True)
class Settling:
    """Conditions as they surely hold, or as they may, and values at the ends that go with that."""

    unknown: Unknown
    may: bool
    ends: bool = True
    """Whether what is summed is taken at the ends; not where several sums are put together, of which each has its own."""

    def condition(self, e: exp.Expression) -> exp.Expression:
        """A condition in published values."""
        return self._tree(e, self.may)

    def value(self, e: exp.Expression, *, moved: bool = True) -> exp.Expression:
        """A group, or what is summed, in published values; columns as they are, and lines of one, are looked after elsewhere."""
        if monotone(e) is not None or not self._columns(e):
            return e
        root = exp.Paren(this=_searched(e.copy()))
        self._walk(root, moved)
        changed: exp.Expression = root.this
        return changed.pop()

    def _walk(self, node: exp.Expression, moved: bool) -> None:
        for child in list(node.iter_expressions()):
            if isinstance(child, BOOLEAN):
                child.replace(self._tree(child, self.may))
            elif moved and isinstance(child, exp.Column) and isinstance(own := self.unknown.get(child.name), Around):
                child.replace(exp.paren((own.upper if self.may else own.lower)(child.copy())))
            else:
                self._walk(child, moved)

    def _columns(self, e: exp.Expression) -> list[str]:
        return list(dict.fromkeys(column.name for column in e.find_all(exp.Column) if column.name in self.unknown))

    def _tree(self, e: exp.Expression, may: bool) -> exp.Expression:
        if not self._columns(e):  # as it is, letter by letter: a question that is not changed is not asked again
            return e.copy()
        if isinstance(e, exp.Paren):
            return exp.paren(self._tree(e.this, may))
        if isinstance(e, exp.And | exp.Or):
            sides = [exp.paren(self._tree(side, may)) for side in (e.left, e.right)]
            return type(e)(this=sides[0], expression=sides[1])
        if isinstance(e, exp.Not):
            return exp.not_(exp.paren(self._tree(e.this, not may)))
        if isinstance(e, exp.Is) and isinstance(e.expression, exp.Boolean) and isinstance(e.this.unnest(), BOOLEAN):
            inner = exp.paren(self._tree(e.this, may == bool(e.expression.this)))
            return exp.Is(this=inner, expression=e.expression.copy())
        return self._leaf(e, may)

    def _leaf(self, e: exp.Expression, may: bool) -> exp.Expression:
        names = self._columns(e)
        if isinstance(e, exp.Is) and isinstance(e.expression, exp.Null):
            return e.copy()
        if isinstance(e, exp.Between):
            low = exp.GTE(this=e.this.copy(), expression=e.args["low"].copy())
            high = exp.LTE(this=e.this.copy(), expression=e.args["high"].copy())
            return exp.and_(self._leaf(low, may), self._leaf(high, may))
        if isinstance(e, exp.NEQ):
            return exp.not_(exp.paren(self._leaf(exp.EQ(this=e.this.copy(), expression=e.expression.copy()), not may)))
        kinds = [self.unknown[name] for name in names]
        if all(isinstance(kind, Around) for kind in kinds) and e.find(*JUMPING) is None:
            return self._around(e, names, may)
        if len(names) == 1 and isinstance(kinds[0], Named):
            return _of_names(e, names[0], kinds[0], may)
        return _always(names, may)

    def _around(self, e: exp.Expression, names: list[str], may: bool) -> exp.Expression:
        if isinstance(e, exp.In) and e.expressions:
            equal = [exp.EQ(this=e.this.copy(), expression=value.copy()) for value in e.expressions]
            return exp.or_(*(self._around(one, names, may) for one in equal))
        if isinstance(e, exp.EQ):
            ends = [kind(this=e.this.copy(), expression=e.expression.copy()) for kind in (exp.GTE, exp.LTE)]
            settled = exp.and_(*(self._around(end, names, True) for end in ends))
            return settled if may else exp.and_(exp.paren(settled), self._single(e, names))
        corners = [self._at(e, dict(zip(names, ends, strict=True))) for ends in product((0, 1), repeat=len(names))]
        return exp.or_(*corners) if may else exp.and_(*corners)

    def _single(self, e: exp.Expression, names: list[str]) -> exp.Expression:
        """That nothing but the published value is meant, which an equation surely holds for."""
        kinds = {name: self.unknown[name] for name in names}
        ends = [(kind.lower, kind.upper, name) for name, kind in kinds.items() if isinstance(kind, Around)]
        columns = [(lower, upper, exp.column(name, quoted=True)) for lower, upper, name in ends]
        return exp.and_(*(exp.EQ(this=exp.paren(low(c)), expression=exp.paren(up(c))) for low, up, c in columns))

    def _at(self, e: exp.Expression, ends: Mapping[str, int]) -> exp.Expression:
        """A condition at the lower or the upper end of what columns stand for."""
        moved = e.copy()
        for column in [c for c in moved.find_all(exp.Column) if c.name in ends]:
            own = self.unknown[column.name]
            assert isinstance(own, Around)
            column.replace(exp.paren((own.upper if ends[column.name] else own.lower)(column.copy())))
        beyond = [name for name, end in ends.items() if end and not _reached(self.unknown[name])]
        return _at_limit(moved, e) if beyond else moved


def _reached(own: Around | Named) -> bool:
    return isinstance(own, Named) or own.reached


def _at_limit(moved: exp.Expression, asked: exp.Expression) -> exp.Expression:
    """A comparison at an end that values come near to and do not reach; as if they did, where it is not of a line."""
    sides = [asked.this, asked.args.get("expression")]
    place = next((i for i, side in enumerate(sides) if isinstance(side, exp.Expression) and monotone(side)), None)
    if type(asked) not in ORDERED or place is None:
        return moved
    rises = (slope(sides[place]) > 0) == (place == 0)
    return LIMITS[rises][type(asked)](this=moved.this, expression=moved.expression)


def _of_names(e: exp.Expression, name: str, own: Named, may: bool) -> exp.Expression:
    """A condition on names: as it is, where they tell it; by lists of them; or whatever the values are."""
    texts = [c for c in e.find_all(exp.Literal) if c.is_string]
    bare = isinstance(e.this.unnest(), exp.Column) and all(c.parent is e for c in texts)
    if texts and bare and all(own.as_it_is(type(e), c.this) for c in texts):
        return e.copy()
    if (listed := _listed(e)) is not None:
        return _named(*listed, own, may)
    if may and own.prefix is not None and isinstance(e, exp.Like) and bare:
        start = re.split("[%_]", e.expression.name)[0]
        if len(start) >= own.prefix:
            return exp.EQ(this=e.this.copy(), expression=exp.convert(start[: own.prefix]))
    return _always([name], may)


def _listed(e: exp.Expression) -> tuple[exp.Expression, list[Any]] | None:
    """A column and the constants that it may equal; None for any other condition."""
    if isinstance(e, exp.In) and e.expressions:
        column, constants = e.this, e.expressions
    elif isinstance(e, exp.EQ):
        column, constants = (e.left, [e.right]) if isinstance(e.left.unnest(), exp.Column) else (e.right, [e.left])
    else:
        return None
    values = [_constant(value) for value in constants]
    if not isinstance(column.unnest(), exp.Column) or any(value is None for value in values):
        return None
    return column.unnest(), values


def _constant(e: exp.Expression) -> Any:
    inner = e.unnest()
    if isinstance(inner, exp.Neg):
        value = _constant(inner.this)
        return -value if isinstance(value, int | float) else None
    if not isinstance(inner, exp.Literal):
        return None
    if inner.is_string:
        return inner.this
    return int(inner.this) if inner.is_int else float(inner.this)


def _named(column: exp.Expression, values: list[Any], own: Named, may: bool) -> exp.Expression:
    names = list(dict.fromkeys(own.published(value) for value in values))
    kept = names if may else [name for name in names if own.whole(values, name)]
    if not kept:
        return _always([column.name], False)
    return exp.In(this=column.copy(), expressions=[exp.convert(name) for name in kept])


def _always(names: list[str], may: bool) -> exp.Expression:
    """What holds for every value that is there, or for none."""
    kind = exp.EQ if may else exp.NEQ
    columns = [exp.column(name, quoted=True) for name in names]
    return exp.and_(*(kind(this=column, expression=column.copy()) for column in columns))


def _searched(e: exp.Expression) -> exp.Expression:
    """CASE x WHEN 1 ... as CASE WHEN x = 1 ..., whose conditions are looked for."""
    for case in [e, *e.find_all(exp.Case)]:
        if isinstance(case, exp.Case) and case.this is not None:
            for branch in case.args["ifs"]:
                branch.set("this", exp.EQ(this=case.this.copy(), expression=branch.this.copy()))
            case.set("this", None)
    return e
