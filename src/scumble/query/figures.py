"""Numbers of an answer with how they change with the aggregates that they are made of: values and gradients, for every line.

With F a function of aggregates T and g = dF/dT its influence, Var(F) = g' Cov(T) g. A quotient of two linear figures remembers both, for Fieller's interval.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from scumble.core.errors import QueryError
from scumble.query.model import written

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """A number for each line."""

    value: Numbers
    gradient: Numbers
    """How it changes with each aggregate: aggregates by lines."""
    linear: bool = True
    """Whether the gradient is the same whatever the aggregates are."""
    ratio: "tuple[Figure, Figure] | None" = None
    """The linear figures that it is the quotient of."""
    divisors: "tuple[Figure, ...]" = ()
    """What was divided by on the way: where it may be 0, the figure may be anything."""
    digits: int | None = None
    """To how many decimals it is rounded, where that is the last that is done to it."""

    @property
    def shown(self) -> Numbers:
        """Its value, rounded."""
        return self.value if self.digits is None else rounded(self.value, self.digits)

    @property
    def constant(self) -> bool:
        """Whether it depends on no aggregate."""
        return not np.any(self.gradient)

    def scaled(self, factor: Numbers) -> "Figure":
        """Times a number for each line."""
        ratio = None if self.ratio is None else (self.ratio[0].scaled(factor), self.ratio[1])
        return Figure(self.value * factor, self.gradient * factor, self.linear, ratio, self.divisors)

    def __add__(self, other: "Figure") -> "Figure":
        value, gradient = self.value + other.value, self.gradient + other.gradient
        return Figure(value, gradient, self.linear and other.linear, None, self.divisors + other.divisors)

    def __sub__(self, other: "Figure") -> "Figure":
        return self + other.scaled(-np.ones(1))

    def __mul__(self, other: "Figure") -> "Figure":
        if other.constant:
            return self.scaled(other.value)
        if self.constant:
            return other.scaled(self.value)
        gradient = self.gradient * other.value + other.gradient * self.value
        return Figure(self.value * other.value, gradient, False, None, self.divisors + other.divisors)

    def __truediv__(self, other: "Figure") -> "Figure":
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(other.value == 0, np.nan, self.value / other.value)
            if other.constant:
                return self.scaled(np.where(other.value == 0, np.nan, 1 / other.value))
            gradient = (self.gradient - value * other.gradient) / other.value
        ratio = (self, other) if self.linear and other.linear else None
        return Figure(value, gradient, False, ratio, (*self.divisors, *other.divisors, other))

    def through(self, function: Callable[[Numbers], Numbers], slope: Callable[[Numbers], Numbers]) -> "Figure":
        """A smooth function of it."""
        with np.errstate(all="ignore"):
            value = np.asarray(function(self.value))
            return Figure(value, self.gradient * slope(self.value), False, None, self.divisors)


def rounded(value: Numbers, digits: int, how: Callable[[Numbers], Numbers] | None = None) -> Numbers:
    """As SQL rounds: halves away from zero. Or up or down, by what is done to numbers of steps.

    >>> rounded(np.array([2.5, -2.5, 1145]), 0), rounded(np.array([1145.0, 1150]), -2)
    (array([   3.,   -3., 1145.]), array([1100., 1200.]))
    """
    steps = value * 10.0**digits if digits >= 0 else value / 10.0**-digits
    whole = np.sign(steps) * np.floor(np.abs(steps) + 0.5) if how is None else how(steps)
    return np.asarray(whole / 10.0**digits if digits >= 0 else whole * 10.0**-digits)


SMOOTH: Mapping[type[exp.Expression], tuple[Callable[[Numbers], Numbers], Callable[[Numbers], Numbers]]] = {
    exp.Sqrt: (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    exp.Ln: (np.log, lambda x: 1 / x),
    exp.Exp: (np.exp, np.exp),
    exp.Abs: (np.abs, np.sign),
}
MIXED: Mapping[type[exp.Expression], Callable[[Figure, Figure], Figure]] = {
    exp.Add: Figure.__add__,
    exp.Sub: Figure.__sub__,
    exp.Mul: Figure.__mul__,
    exp.Div: Figure.__truediv__,
}


@dataclass(frozen=True)
class Reading:
    """Reads expressions of aggregates."""

    known: Mapping[str, Figure]
    lines: int

    def figure(self, e: exp.Expression) -> Figure:
        """The number that an expression is, line by line."""
        if isinstance(e, exp.Var) and e.name in self.known:
            return self.known[e.name]
        if isinstance(e, exp.Paren):
            return self.figure(e.this)
        if isinstance(e, exp.Neg):
            return self._part(e.this).scaled(-np.ones(1))
        if isinstance(e, exp.Literal) and e.is_number:
            return self._constant(float(e.name))
        if type(e) in MIXED:
            return MIXED[type(e)](self._part(e.left), self._part(e.right))
        if type(e) in SMOOTH:
            return self._part(e.this).through(*SMOOTH[type(e)])
        return self._function(e)

    def _part(self, e: exp.Expression) -> Figure:
        """What goes into something else: of a rounded number it is not known how it changes with the aggregates."""
        figure = self.figure(e)
        if figure.digits is not None:
            raise QueryError(
                f"{written(e)} within something else cannot be answered: what is rounded moves in jumps; "
                "round last, as in ROUND(100.0 * a / b, 1), or cast to DOUBLE"
            )
        return figure

    def _constant(self, value: float) -> Figure:
        count = len(next(iter(self.known.values())).gradient)
        return Figure(np.full(self.lines, value), np.zeros((count, self.lines)))

    def _function(self, e: exp.Expression) -> Figure:
        if (digits := _digits(e)) is not None:
            return replace(self._part(e.this), digits=digits)
        if isinstance(e, exp.Cast) and e.to.this in exp.DataType.REAL_TYPES - {exp.DataType.Type.DECIMAL}:
            return self.figure(e.this)
        if isinstance(e, exp.Nullif) and e.expression.is_number and float(e.expression.to_py()) == 0:
            inner = self._part(e.this)
            return replace(inner, value=np.where(inner.value == 0, np.nan, inner.value))
        if isinstance(e, exp.Coalesce) and len(e.expressions) == 1 and e.expressions[0].is_number:
            inner = self._part(e.this)
            other = float(e.expressions[0].to_py())
            return replace(inner, value=np.where(np.isnan(inner.value), other, inner.value))
        if isinstance(e, exp.Pow) and e.expression.is_number:
            power = float(e.expression.to_py())
            return self._part(e.this).through(lambda x: x**power, lambda x: power * x ** (power - 1))
        raise QueryError(
            f"{written(e)} cannot be answered; of aggregates there are +, -, *, /, ROUND, ABS, SQRT, LN, EXP, POWER, NULLIF(x, 0), COALESCE(x, 0), and a cast to DOUBLE"
        )


def _digits(e: exp.Expression) -> int | None:
    """To how many decimals ROUND or a cast to DECIMAL rounds; None for what rounds to no number of them."""
    if isinstance(e, exp.Round):
        digits = e.args.get("decimals")
        return 0 if digits is None else int(digits.to_py()) if digits.is_int else None
    if isinstance(e, exp.Cast) and e.to.this == exp.DataType.Type.DECIMAL:
        sizes = [int(size.name) for size in e.to.expressions]
        return sizes[1] if len(sizes) == 2 else 0
    return None
