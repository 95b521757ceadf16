"""Questions to columns that were published coarser: what an answer is of, where that is not what was asked.

A bound that falls inside a step takes the step whole or leaves it out whole, a value inside of it is found nowhere, and an average is of middles
(middle.py). Such answers are computed from public columns alone and still not what the table would say: a note tells so, and what to ask instead.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from scumble.core.errors import did_you_mean
from scumble.engines.expressions import amount, last_moment
from scumble.engines.sql import named
from scumble.query.middle import monotone
from scumble.query.model import Aggregate, Query, written
from scumble.query.settled import Around, Named
from scumble.spec.spec import Coarsen
from scumble.spec.steps import Steps, label_of, labels, shown, steps, words

ORDER: dict[type[exp.Expression], tuple[bool, bool]] = {
    exp.GTE: (True, False),
    exp.GT: (True, True),
    exp.LT: (False, False),
    exp.LTE: (False, True),
}
"""Whether a comparison asks for what lies above, and whether the bound itself belongs to what lies below."""

TURNED: dict[type[exp.Expression], type[exp.Expression]] = {
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
}
COMPARISONS = (*ORDER, exp.EQ, exp.NEQ, exp.In, exp.Between, exp.Like, exp.ILike)


@dataclass(frozen=True)
class Coarse:
    """A coarsened column: its rule, and its type as published."""

    name: str
    how: Coarsen
    type: str

    @property
    def sentence(self) -> str:
        """How it is published."""
        few = words(self.how, self.type) if self.how.groups is None else f"in {len(self.how.groups)} groups"
        return f"{self.name} is published {few}"

    @property
    def steps(self) -> Steps | None:
        """Its steps, where it has some."""
        return steps(self.how, self.type)


def unknown_of(column: Coarse) -> Around | Named | None:
    """What the published values of a column stand for; None where each is one."""
    own, how = column.steps, column.how
    if own is not None and own.dated:
        return Around(lambda c: c, lambda c: last_moment(c, str(how.date), whole=own.whole))
    if own is not None:
        return Around(lambda c: c, lambda c: exp.Add(this=c, expression=amount(own.reach)), own.whole)
    if how.bins is not None or how.date is not None:
        return None
    names = set(labels(how) or ())
    held = {name: set(map(str, values)) for name, values in (how.groups or {}).items()}

    def published(value: Any) -> Any:
        return value if str(value) in names else label_of(how, value) or value

    def whole(values: Collection[Any], name: Any) -> bool:
        return name in values or held.get(name, {None}) <= set(map(str, values))

    def as_it_is(kind: type[exp.Expression], text: str) -> bool:
        return _published(how, kind, text)

    return Named(published, whole, as_it_is, how.groups is not None, how.prefix)


def numbers_in_steps(columns: Mapping[str, Coarse]) -> dict[str, Steps]:
    """The steps of the columns that have numbers in them."""
    return {name: own for name, column in columns.items() if (own := column.steps) is not None and not own.dated}


def notes_of(query: Query, columns: Mapping[str, Coarse]) -> list[str]:
    """What to know of an answer about coarsened columns, each thing once."""
    complaints_of: dict[str, list[str]] = {}
    for name, complaint in _complaints(query, columns):
        if complaint not in complaints_of.setdefault(name, []):
            complaints_of[name].append(complaint)
    return [
        ": ".join(
            [
                columns[name].sentence,
                *(["; ".join(complaints)] if (complaints := list(filter(None, complaints_of_column))) else []),
            ]
        )
        for name, complaints_of_column in complaints_of.items()
    ]


def _complaints(query: Query, columns: Mapping[str, Coarse]) -> Iterator[tuple[str, str]]:
    """Columns that are asked about with what is wrong about it; nothing where it is enough to know how they are published."""
    parts = [query.where, *(o.value if isinstance(o, Aggregate) else o.expression for o in query.outputs)]
    for comparison in [one for part in parts if part is not None for one in part.find_all(*COMPARISONS)]:
        for name in _names(comparison, columns):
            yield from ((name, complaint) for complaint in _compared(comparison, columns[name]))
    steps = numbers_in_steps(columns)
    summed: dict[tuple[str, str], tuple[exp.Expression, list[str]]] = {}
    for aggregate in query.aggregates:
        if aggregate.kind in ("count", "distinct") or aggregate.value is None:
            continue
        for name in (name for name in _names(aggregate.value, columns) if name in steps):
            kinds = summed.setdefault((name, written(aggregate.value)), (aggregate.value, []))[1]
            kinds += [aggregate.how.name] if aggregate.how.name not in kinds else []
    for (name, _), (value, kinds) in summed.items():
        yield name, _summed(kinds, value, steps[name], together=query.derived is not None)
    for group in query.groups:
        yield from ((name, "") for name in _names(group.expression, columns) if columns[name].steps is not None)


def _names(expression: exp.Expression, columns: Mapping[str, Coarse]) -> list[str]:
    return list(dict.fromkeys(c.name for c in expression.find_all(exp.Column) if c.name in columns))


def _summed(kinds: list[str], value: exp.Expression, own: Steps, *, together: bool) -> str:
    """What to know of the sum of a value, of its average, or of both at once."""
    asked, one = " and ".join(f"{kind.upper()}({written(value)})" for kind in kinds), len(kinds) == 1
    if monotone(value) is None and together:
        return f"{asked} {'takes' if one else 'take'} each value as the middle of its step; the interval does not count where in it values lie"
    if monotone(value) is None:
        return f"{asked} {'is' if one else 'are'} of the lower ends"
    half = own.reach / 2
    unit = "" if "sum" not in kinds else " a row"
    wide = f"{shown(half)}{unit} either way" if isinstance(value.unnest(), exp.Column) else "wherever that is"
    return (
        f"{asked} {'takes' if one else 'take'} each value as the middle of its step, {shown(half)} above the lower end; "
        f"the interval covers every place in it, {wide}, which ± se does not count"
    )


def _compared(comparison: exp.Expression, column: Coarse) -> Iterator[str]:
    """What is wrong with a comparison; one of anything but the column and constants is not looked into."""
    kind, sides = type(comparison), [comparison.this, comparison.args.get("expression")]
    if kind in TURNED and not _is(sides[0], column.name):
        kind, sides = TURNED[kind], sides[::-1]
    elif not _is(sides[0], column.name):
        sides = sides[::-1]
    if not _is(sides[0], column.name):
        yield ""
        return
    asked: list[tuple[type[exp.Expression], Any]] = [(kind, sides[1])]
    if isinstance(comparison, exp.Between):
        asked = [(exp.GTE, comparison.args["low"]), (exp.LTE, comparison.args["high"])]
    elif isinstance(comparison, exp.In):
        asked = [(exp.EQ, expression) for expression in comparison.expressions]
    own = column.steps
    for way, side in asked:
        constant = _constant(side)
        if constant is None:
            yield ""
        elif own is None:
            yield from _label(comparison, column, way, constant)
        elif (value := own.value(constant)) is None:
            yield ""
        elif way in ORDER:
            yield from _bound(comparison, column.name, own, way, value)
        else:
            yield _inside(comparison, column.name, own, value)


def _bound(comparison: exp.Expression, name: str, own: Steps, way: Any, value: Any) -> Iterator[str]:
    """A bound that is no lower end of a step, or that leaves out the lower end of one."""
    above, beyond = ORDER[way]
    first = own.bound(value, beyond=beyond)
    if first is not None and own.low(first) == first:
        return
    inside = value if first is None else first
    sign = ">=" if above else "<"
    ends = [own.low(inside), own.after(inside)]
    instead = " or ".join(f"{named(name)} {sign} {_literal(own, end)}" for end in (ends[::-1] if above else ends))
    yield f"the bound {shown(value)} in {written(comparison)} falls inside {own.span(inside)}; {instead} would be right"


def _inside(comparison: exp.Expression, name: str, own: Steps, value: Any) -> str:
    low = own.low(value)
    if low == value:
        return ""
    return (
        f"no row has the {shown(value)} of {written(comparison)}, which lies inside {own.span(value)}; "
        f"{named(name)} = {_literal(own, low)} asks for all of these"
    )


def _label(comparison: exp.Expression, column: Coarse, way: Any, constant: Any) -> Iterator[str]:
    """A constant that is no published name, or names compared by what comes before what."""
    how, text = column.how, str(constant)
    if _published(how, way, text):
        return
    if way not in (exp.EQ, exp.NEQ):
        yield f"{written(comparison)} is asked of these and not of the values that they stand for"
    elif label := label_of(how, constant):
        yield f"no row has the {text!r} of {written(comparison)}; {named(column.name)} = '{label}' asks for all that are published alike"
    else:
        yield f"no row has the {text!r} of {written(comparison)}{did_you_mean(text, labels(how) or ())}"


def _published(how: Coarsen, way: Any, text: str) -> bool:
    """Whether the published names tell what a comparison with a text asks for."""
    if how.prefix is None:
        return way in (exp.EQ, exp.NEQ) and text in (labels(how) or ())
    if way in (exp.Like, exp.ILike):
        start = text.removesuffix("%")
        return start != text and len(start) <= how.prefix and not set(start) & {"%", "_"}
    return len(text) < how.prefix if way in (exp.GT, exp.LTE) else len(text) <= how.prefix


def _is(side: Any, name: str) -> bool:
    inner = side.unnest() if isinstance(side, exp.Expression) else None
    return isinstance(inner, exp.Column) and inner.name == name


def _constant(side: Any) -> Any:
    """The value of a literal, of one with a sign, or of one that is cast; None for anything else."""
    inner = side.unnest() if isinstance(side, exp.Expression) else None
    if isinstance(inner, exp.Cast):
        return _constant(inner.this)
    if isinstance(inner, exp.Neg):
        value = _constant(inner.this)
        return -value if isinstance(value, int | float) else None
    if not isinstance(inner, exp.Literal):
        return None
    if inner.is_string:
        return inner.this
    return int(inner.this) if inner.is_int else float(inner.this)


def _literal(own: Steps, value: Any) -> str:
    return f"'{shown(value)}'" if own.dated else shown(value)
