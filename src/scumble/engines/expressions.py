"""Parts of statements, built and never parsed, so that any engine writes them in its own SQL."""

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

Type = exp.DataType.Type


def column(name: str, table: str | None = None) -> exp.Column:
    """A column, whatever stands in its name."""
    return exp.column(name, table=table, quoted=True)


def table(name: str, alias: str | None = None) -> exp.Table:
    """A table, whatever stands in its name."""
    named = exp.Table(this=exp.to_identifier(name))
    return exp.alias_(named, exp.to_identifier(alias), table=True) if alias else named


def number(value: float) -> exp.Expression:
    """A number; one below 0 has its sign in brackets."""
    return exp.convert(value) if value >= 0 else exp.paren(exp.convert(value))


def cast(expression: exp.Expression, kind: exp.DataType.Type) -> exp.Expression:
    """An expression as another type."""
    return exp.cast(expression.copy(), exp.DataType.build(kind))


def double(expression: exp.Expression) -> exp.Expression:
    """An expression as a floating-point number."""
    return cast(expression, Type.DOUBLE)


def amount(value: float) -> exp.Expression:
    """What is added to a number: a whole one leaves it what it is."""
    return number(int(value)) if value == int(value) else double(number(value))


PERIODS = {"year": (1, "YEAR"), "quarter": (3, "MONTH"), "month": (1, "MONTH"), "week": (7, "DAY"), "day": (1, "DAY")}


def last_moment(first: exp.Expression, period: str, *, whole: bool) -> exp.Expression:
    """The last day of a period, of which the first is given; or its last moment, to a millionth of a second."""
    length, unit = PERIODS[period]
    end = exp.Add(this=first.copy(), expression=_interval(length, unit))
    last = exp.Sub(this=end, expression=_interval(1, "DAY" if whole else "MICROSECOND"))
    return cast(last, Type.DATE if whole else Type.TIMESTAMP)


def _interval(length: int, unit: str) -> exp.Expression:
    return exp.Interval(this=exp.Literal.string(str(length)), unit=exp.Var(this=unit))


def product(factors: Iterable[exp.Expression]) -> exp.Expression:
    """All of them multiplied; 1 where there is none."""
    first, *others = [*factors] or [double(number(1))]
    whole = first.copy()
    for factor in others:
        whole = exp.Mul(this=whole, expression=factor.copy())
    return whole


def count() -> exp.Expression:
    """COUNT(*)."""
    return exp.Count(this=exp.Star())


def total(expression: exp.Expression) -> exp.Expression:
    """The sum of an expression."""
    return exp.Sum(this=expression.copy())


def either(condition: exp.Expression, true: exp.Expression, false: exp.Expression | None = None) -> exp.Expression:
    """One of two, by a condition; null where it does not hold and there is no other."""
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=true.copy())], default=false.copy() if false else None)


def same(pairs: Iterable[tuple[exp.Expression, exp.Expression]]) -> exp.Expression:
    """That both sides of each pair are equal, or both missing."""
    return exp.and_(*(exp.NullSafeEQ(this=left.copy(), expression=right.copy()) for left, right in pairs))


def select(
    columns: Mapping[str, exp.Expression],
    source: str | exp.Expression,
    where: Sequence[exp.Expression] = (),
    grouped: int = 0,
) -> exp.Select:
    """A SELECT of named columns, of which the first few are grouped by: by their places, because a column of the table may have any name."""
    named = [exp.alias_(e.copy(), exp.to_identifier(name), copy=False) for name, e in columns.items()]
    statement = exp.select(*named).from_(table(source) if isinstance(source, str) else source.copy(), copy=False)
    if where:
        statement = statement.where(*(part.copy() for part in where), copy=False)
    places = [exp.Literal.number(i + 1) for i in range(grouped)]
    return statement.group_by(*places, copy=False) if grouped else statement
