"""COUNT_IF, and FILTER of any aggregate: rows that a condition leaves out have no value."""

from sqlglot import exp

from scumble.engines.expressions import either, number


def count_if(function: exp.Expression) -> exp.Expression:
    """COUNT(CASE WHEN condition THEN 1 END)."""
    return exp.Count(this=either(function.this, number(1)), big_int=True)


def filtered(part: exp.Expression) -> exp.Expression:
    """f(CASE WHEN condition THEN value END) for f(value) FILTER (WHERE condition)."""
    function, condition = part.this.copy(), part.expression.this
    if isinstance(function, exp.CountIf):
        function = count_if(function)
    if isinstance(function, exp.WithinGroup):
        ordered = function.expression.expressions[0]
        ordered.set("this", either(condition, ordered.this))
        return function
    value = function.this
    function.set("this", either(condition, number(1) if isinstance(value, exp.Star) else value))
    return function
