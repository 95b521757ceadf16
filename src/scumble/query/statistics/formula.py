"""Formulas of statistics, built as expressions."""

from sqlglot import exp


def square(x: exp.Expression) -> exp.Expression:
    """x x."""
    return times(x, x)


def times(x: exp.Expression, y: exp.Expression) -> exp.Expression:
    """x y."""
    return exp.Mul(this=exp.paren(x), expression=exp.paren(y))


def over(x: exp.Expression, y: exp.Expression) -> exp.Expression:
    """x / y."""
    return exp.Div(this=exp.paren(x), expression=exp.paren(y), typed=False, safe=True)


def minus(x: exp.Expression, y: exp.Expression) -> exp.Expression:
    """x - y."""
    return exp.Sub(this=exp.paren(x), expression=exp.paren(y))


def total(x: exp.Expression) -> exp.Expression:
    """SUM(x)."""
    return exp.Sum(this=x.copy())


def count(x: exp.Expression) -> exp.Expression:
    """COUNT(x)."""
    return exp.Count(this=x.copy(), big_int=True)


def beside(x: exp.Expression, y: exp.Expression) -> exp.Expression:
    """x, where y is not missing: x + 0 y."""
    return exp.Add(this=exp.paren(x), expression=times(exp.Literal.number(0), y))
