"""What other systems compute as DuckDB does, to the row: conditions, cases, sums and counts.

Functions of texts, times and fractions differ between systems in what nobody sees: locales, rounding, division by nothing. A statement with any
part that is not listed here is left to DuckDB, on a copy of the rows.
"""

from collections.abc import Container

from sqlglot import exp

from scumble.engines.sql import rows_drawn

PARTS: frozenset[type[exp.Expression]] = frozenset(
    {
        *(exp.Select, exp.From, exp.Table, exp.TableAlias, exp.Identifier, exp.Column, exp.Alias, exp.Star),
        *(exp.Where, exp.Group, exp.Having, exp.Subquery, exp.Union, exp.Paren),
        *(exp.And, exp.Or, exp.Not, exp.Is, exp.Null, exp.Boolean, exp.Literal, exp.Case, exp.If, exp.In, exp.Between),
        *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ),
        *(exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.BitwiseOr, exp.Coalesce, exp.Nullif),
        *(exp.Count, exp.Sum, exp.Min, exp.Max, exp.DataType),
    }
)

NUMBERS = exp.DataType.Type
CASTS = frozenset({NUMBERS.DOUBLE, NUMBERS.BIGINT, NUMBERS.SMALLINT, NUMBERS.INT})


def is_spoken(statement: exp.Expression, whole: Container[str]) -> bool:
    """Whether a statement has such parts alone. Casts to whole numbers are of whole numbers, whose columns are given: the rest rounds otherwise."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        if _is_rows_drawn(node):
            continue
        if isinstance(node, exp.Cast):
            if node.to.this not in CASTS or (node.to.this is not NUMBERS.DOUBLE and not _is_whole(node.this, whole)):
                return False
        elif type(node) not in PARTS:
            return False
        waiting += list(node.iter_expressions())
    return True


def _is_rows_drawn(node: exp.Expression) -> bool:
    """A sum of shares that comes to a whole number but for its last digits, and is rounded to it."""
    if not isinstance(node, exp.Cast):
        return False
    names = [column.name for column in node.find_all(exp.Column)]
    return len(names) == 1 and node == rows_drawn(names[0])


def _is_whole(node: exp.Expression, whole: Container[str]) -> bool:
    """Whether a value is a whole number, as far as one can see: a count, a case of whole numbers, a column of them."""
    if isinstance(node, exp.Case):
        ends = [each.args["true"] for each in node.args["ifs"]] + [node.args.get("default") or exp.Null()]
        return all(isinstance(end, exp.Null) or _is_whole(end, whole) for end in ends)
    if isinstance(node, exp.Paren | exp.Sum | exp.Neg):
        return _is_whole(node.this, whole)
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.BitwiseOr):
        return _is_whole(node.this, whole) and _is_whole(node.expression, whole)
    if isinstance(node, exp.Column):
        return node.name in whole
    return isinstance(node, exp.Count) or (isinstance(node, exp.Literal) and node.is_int)
