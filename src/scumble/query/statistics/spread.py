"""VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP: functions of n, the sum and the sum of squares."""

from sqlglot import exp

from scumble.query.statistics.formula import count, minus, over, square, total


def variance_of_all(function: exp.Expression) -> exp.Expression:
    """S2 / n - (S1 / n)^2."""
    x = function.this
    return minus(over(total(square(x)), count(x)), square(over(total(x), count(x))))


def variance(function: exp.Expression) -> exp.Expression:
    """(S2 - S1^2 / n) / (n - 1)."""
    x = function.this
    return over(minus(total(square(x)), over(square(total(x)), count(x))), minus(count(x), exp.Literal.number(1)))


def deviation(function: exp.Expression) -> exp.Expression:
    """The root of the variance."""
    return exp.Sqrt(this=variance(function))


def deviation_of_all(function: exp.Expression) -> exp.Expression:
    """The root of the variance of all rows."""
    return exp.Sqrt(this=variance_of_all(function))
