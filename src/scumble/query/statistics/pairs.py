"""COVAR, CORR and REGR: functions of the sums of x, y, their squares and their product over rows that have both."""

from dataclasses import dataclass

from sqlglot import exp

from scumble.query.statistics import formula
from scumble.query.statistics.formula import beside, minus, over, square, times, total


@dataclass(frozen=True)
class Pairs:
    """The two values of a function of y and x, y first as in SQL."""

    y: exp.Expression
    x: exp.Expression

    @property
    def n(self) -> exp.Expression:
        """The rows that have both."""
        return formula.count(times(self.y, self.x))

    @property
    def sum_x(self) -> exp.Expression:
        """That of x over these."""
        return total(beside(self.x, self.y))

    @property
    def sum_y(self) -> exp.Expression:
        """That of y over these."""
        return total(beside(self.y, self.x))

    @property
    def sxy(self) -> exp.Expression:
        """sum of (x - mean)(y - mean)."""
        return minus(total(times(self.y, self.x)), over(times(self.sum_x, self.sum_y), self.n))

    @property
    def sxx(self) -> exp.Expression:
        """sum of (x - mean)^2."""
        return minus(total(beside(square(self.x), self.y)), over(square(self.sum_x), self.n))

    @property
    def syy(self) -> exp.Expression:
        """sum of (y - mean)^2."""
        return minus(total(beside(square(self.y), self.x)), over(square(self.sum_y), self.n))


def _pairs(function: exp.Expression) -> Pairs:
    return Pairs(function.this, function.expression)


def covariance_of_all(function: exp.Expression) -> exp.Expression:
    """Sxy / n."""
    return over(_pairs(function).sxy, _pairs(function).n)


def covariance(function: exp.Expression) -> exp.Expression:
    """Sxy / (n - 1)."""
    return over(_pairs(function).sxy, minus(_pairs(function).n, exp.Literal.number(1)))


def correlation(function: exp.Expression) -> exp.Expression:
    """Sxy / sqrt(Sxx Syy)."""
    pairs = _pairs(function)
    return over(pairs.sxy, exp.Sqrt(this=times(pairs.sxx, pairs.syy)))


def determination(function: exp.Expression) -> exp.Expression:
    """Sxy^2 / (Sxx Syy)."""
    pairs = _pairs(function)
    return over(square(pairs.sxy), times(pairs.sxx, pairs.syy))


def slope(function: exp.Expression) -> exp.Expression:
    """Sxy / Sxx."""
    return over(_pairs(function).sxy, _pairs(function).sxx)


def intercept(function: exp.Expression) -> exp.Expression:
    """(Sy - slope Sx) / n."""
    pairs = _pairs(function)
    return over(minus(pairs.sum_y, times(slope(function), pairs.sum_x)), pairs.n)


def count(function: exp.Expression) -> exp.Expression:
    """n."""
    return _pairs(function).n


def mean_x(function: exp.Expression) -> exp.Expression:
    """Sx / n."""
    return over(_pairs(function).sum_x, _pairs(function).n)


def mean_y(function: exp.Expression) -> exp.Expression:
    """Sy / n."""
    return over(_pairs(function).sum_y, _pairs(function).n)
