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
    digits: int | None = None
    """To how many decimals it is rounded."""

    @property
    def constant(self) -> bool:
        """Whether it depends on no aggregate."""
        return not np.any(self.gradient)

    def scaled(self, factor: Numbers) -> "Figure":
        """Times a number for each line."""
        ratio = None if self.ratio is None else (self.ratio[0].scaled(factor), self.ratio[1])
        return Figure(self.value * factor, self.gradient * factor, self.linear, ratio)

    def __add__(self, other: "Figure") -> "Figure":
        return Figure(self.value + other.value, self.gradient + other.gradient, self.linear and other.linear)

    def __sub__(self, other: "Figure") -> "Figure":
        return self + other.scaled(-np.ones(1))

    def __mul__(self, other: "Figure") -> "Figure":
        if other.constant:
            return self.scaled(other.value)
        if self.constant:
            return other.scaled(self.value)
        gradient = self.gradient * other.value + other.gradient * self.value
        return Figure(self.value * other.value, gradient, False)

    def __truediv__(self, other: "Figure") -> "Figure":
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(other.value == 0, np.nan, self.value / other.value)
            if other.constant:
                return self.scaled(np.where(other.value == 0, np.nan, 1 / other.value))
            gradient = (self.gradient - value * other.gradient) / other.value
        return Figure(value, gradient, False, (self, other) if self.linear and other.linear else None)

    def through(self, function: Callable[[Numbers], Numbers], slope: Callable[[Numbers], Numbers]) -> "Figure":
        """A smooth function of it."""
        with np.errstate(all="ignore"):
            value = np.asarray(function(self.value))
            return Figure(value, self.gradient * slope(self.value), False)


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
            return self.figure(e.this).scaled(-np.ones(1))
        if isinstance(e, exp.Literal) and e.is_number:
            return self._constant(float(e.name))
        if type(e) in MIXED:
            return MIXED[type(e)](self.figure(e.left), self.figure(e.right))
        if type(e) in SMOOTH:
            return self.figure(e.this).through(*SMOOTH[type(e)])
        return self._function(e)

    def _constant(self, value: float) -> Figure:
        count = len(next(iter(self.known.values())).gradient)
        return Figure(np.full(self.lines, value), np.zeros((count, self.lines)))

    def _function(self, e: exp.Expression) -> Figure:
        if isinstance(e, exp.Cast) and e.to.this in exp.DataType.NUMERIC_TYPES - exp.DataType.INTEGER_TYPES:
            return self.figure(e.this)
        if isinstance(e, exp.Round) and (e.args.get("decimals") is None or e.args["decimals"].is_int):
            digits = int(e.args["decimals"].name) if e.args.get("decimals") is not None else 0
            return replace(self.figure(e.this), digits=digits)
        if isinstance(e, exp.Nullif) and e.expression.is_number and float(e.expression.name) == 0:
            inner = self.figure(e.this)
            return replace(inner, value=np.where(inner.value == 0, np.nan, inner.value))
        if isinstance(e, exp.Coalesce) and len(e.expressions) == 1 and e.expressions[0].is_number:
            inner = self.figure(e.this)
            return replace(inner, value=np.where(np.isnan(inner.value), float(e.expressions[0].name), inner.value))
        if isinstance(e, exp.Pow) and e.expression.is_number:
            power = float(e.expression.name)
            return self.figure(e.this).through(lambda x: x**power, lambda x: power * x ** (power - 1))
        raise QueryError(
            f"{written(e)} cannot be answered; of aggregates there are +, -, *, /, ROUND, ABS, SQRT, LN, EXP, POWER, NULLIF(x, 0), COALESCE(x, 0), and a cast to DOUBLE"
        )
