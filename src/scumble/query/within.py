"""What surely holds an expression of aggregates, each of which surely lies between two ends: interval arithmetic, line by line.

The ends are what is possible, or what suppressed rows may add: these have no law, so that nothing but ends can be put together. With x in [a, b], y in [c, d]

    x + y  in  [a + c, b + d],        x y  in  hull of a c, a d, b c, b d,        1 / y  in  [1 / d, 1 / c]  where y has one sign

and a monotone function goes from end to end. An end may be infinite: nothing is known on that side. Of a quotient of totals more is known than of its
parts (query/limits.py), and of a statistic what it can be at all: no variance is negative.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from sqlglot import exp

from scumble.query.possible import Ends


def _sum(x: Ends, y: Ends) -> Ends:
    return x[0] + y[0], x[1] + y[1]


def _negative(x: Ends) -> Ends:
    return -x[1], -x[0]


def _product(x: Ends, y: Ends) -> Ends:
    """An end that is infinite stands for numbers as large as you like, of which 0 times is 0."""
    corners = [np.where((a == 0) | (b == 0), 0.0, a * b) for a in x for b in y]
    return np.minimum.reduce(corners), np.maximum.reduce(corners)


def _inverse(x: Ends) -> Ends:
    """Of numbers that may have either sign the inverse can be anything."""
    low, high = x
    least = np.where((low >= 0) | (high < 0), 1 / high, -np.inf)
    most = np.where((low > 0) | (high <= 0), 1 / low, np.inf)
    none = (low == 0) & (high == 0)
    return np.where(none, np.nan, least), np.where(none, np.nan, most)


def _absolute(x: Ends) -> Ends:
    most = np.maximum(np.abs(x[0]), np.abs(x[1]))
    return np.where((x[0] <= 0) & (x[1] >= 0), 0.0, np.minimum(np.abs(x[0]), np.abs(x[1]))), most


def _power(x: Ends, power: float) -> Ends:
    if power < 0:
        return _inverse(_power(x, -power))
    if power == 0:
        return np.ones_like(x[0]), np.ones_like(x[1])
    if power % 2 == 0:
        x = _absolute(x)
    elif power % 1:  # of negative numbers there is none
        x = np.maximum(x[0], 0), np.maximum(x[1], 0)
    return x[0] ** power, x[1] ** power


MIXED: Mapping[type[exp.Expression], Callable[[Ends, Ends], Ends]] = {
    exp.Add: _sum,
    exp.Sub: lambda x, y: _sum(x, _negative(y)),
    exp.Mul: _product,
    exp.Div: lambda x, y: _product(x, _inverse(y)),
}
OF_ONE: Mapping[type[exp.Expression], Callable[[Ends], Ends]] = {
    exp.Neg: _negative,
    exp.Abs: _absolute,
    exp.Sqrt: lambda x: _power(x, 0.5),
    exp.Ln: lambda x: (np.log(np.maximum(x[0], 0)), np.log(np.maximum(x[1], 0))),
    exp.Exp: lambda x: (np.exp(x[0]), np.exp(x[1])),
}


SPAN = "scumble span"
"""What the meta of an expression says of the least and the most that it can be."""


def _nothing(top: exp.Expression, bottom: exp.Expression) -> Ends | None:
    return None


@dataclass(frozen=True)
class Within:
    """Reads what figures.py reads, and gives ends for it."""

    known: Mapping[str, Ends]
    lines: int
    quotient: Callable[[exp.Expression, exp.Expression], Ends | None] = _nothing
    """What is known of a quotient besides."""

    def ends(self, e: exp.Expression) -> Ends:
        """The least and the most that an expression can be, line by line."""
        with np.errstate(all="ignore"):
            return self._ends(e)

    def _ends(self, e: exp.Expression) -> Ends:
        parts = [self._of_parts(e)]
        if (span := e.meta.get(SPAN)) is not None:
            parts.append((np.full(self.lines, span[0]), np.full(self.lines, span[1])))
        if isinstance(e, exp.Div) and (known := self.quotient(e.left, e.right)) is not None:
            parts.append(known)
        return np.fmax.reduce([low for low, _ in parts]), np.fmin.reduce([high for _, high in parts])

    def _of_parts(self, e: exp.Expression) -> Ends:
        if isinstance(e, exp.Var) and e.name in self.known:
            return self.known[e.name]
        if isinstance(e, exp.Literal) and e.is_number:
            return np.full(self.lines, float(e.name)), np.full(self.lines, float(e.name))
        if type(e) in MIXED:
            return MIXED[type(e)](self._ends(e.left), self._ends(e.right))
        if type(e) in OF_ONE:
            return OF_ONE[type(e)](self._ends(e.this))
        if isinstance(e, exp.Pow):
            return _power(self._ends(e.this), float(e.expression.to_py()))
        if isinstance(e, exp.Coalesce):
            low, high = self._ends(e.this)
            other = float(e.expressions[0].to_py())
            return np.fmin(low, other), np.fmax(high, other)
        return self._ends(e.this)  # brackets, casts, NULLIF, and ROUND, which is done last
