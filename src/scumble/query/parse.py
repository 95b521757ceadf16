"""SQL text into a Query; what cannot be answered is refused by name, with what to do instead."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from logging import NullHandler, getLogger
from typing import Any

import sqlglot
from sqlglot import exp

from scumble.core.errors import QueryError, closest, did_you_mean
from scumble.engines.engine import TABLE
from scumble.query.aggregates import AGGREGATES
from scumble.query.aggregates.aggregation import Aggregation, Kind
from scumble.query.allowed import demand_allowed
from scumble.query.chains import shortened

getLogger("sqlglot").addHandler(NullHandler())  # its warnings are for programmers

LANGUAGE = "duckdb"
"""What sqlglot calls the SQL that questions are written in, whatever engine answers them."""


@dataclass(frozen=True)
class Aggregate:
    """COUNT(*), COUNT(value), SUM(value) or AVG(value), under the name of its column in the answer."""

    name: str
    how: Aggregation
    value: exp.Expression | None

    @property
    def kind(self) -> Kind:
        """What forms add up for it."""
        return self.how.kind


@dataclass(frozen=True)
class Group:
    """An expression that the answer has a row for each value of."""

    name: str
    expression: exp.Expression


@dataclass(frozen=True)
class Order:
    """One key of ORDER BY: a column of the answer."""

    name: str
    descending: bool


@dataclass(frozen=True)
class Query:
    """A question, with columns resolved."""

    outputs: Sequence[Aggregate | Group]
    groups: Sequence[Group]
    where: exp.Expression | None
    order: Sequence[Order]
    limit: int | None
    offset: int

    @property
    def aggregates(self) -> list[Aggregate]:
        """The aggregates, in the order of the answer's columns."""
        return [output for output in self.outputs if isinstance(output, Aggregate)]


BESIDE = ("_se", "_low", "_high")
"""What the names of the columns that an answer has beside each aggregate end in."""

REFUSED: list[tuple[str, str, str]] = [
    ("with_", "WITH", "ask one question at a time"),
    ("with", "WITH", "ask one question at a time"),
    ("joins", "JOIN", "a release is one table"),
    ("laterals", "LATERAL", "a release is one table"),
    ("distinct", "DISTINCT", "use GROUP BY"),
    ("having", "HAVING", "filter the answer (to_pandas(), to_polars())"),
    ("qualify", "QUALIFY", "filter the answer (to_pandas(), to_polars())"),
    ("windows", "WINDOW", "work on the answer (to_pandas(), to_polars())"),
    ("sample", "TABLESAMPLE", "ask the whole table"),
]


def parse(sql: str, columns: Sequence[str], beside: Sequence[str] = BESIDE) -> Query:
    """The question that the text asks of a release with these columns.

    beside   what the names of the columns that an answer has beside each aggregate end in
    """
    select = _select(sql)
    shortened(select)
    demand_allowed(select)
    _resolve(select, columns)
    aliases = {e.alias: e.this for e in select.expressions if isinstance(e, exp.Alias)}
    groups = [_group(e, select, aliases) for e in _group_expressions(select)]
    outputs = [_output(e, groups) for e in select.expressions]
    names = [output.name for output in outputs]
    if not any(isinstance(output, Aggregate) for output in outputs):
        raise QueryError(
            "a question asks for at least one of COUNT(*), SUM(x), AVG(x); rows of a release are in its data file"
        )
    if len(set(names)) != len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise QueryError(f"two columns of the answer are called {twice!r}; name them apart with AS")
    _refuse_clashes(outputs, beside)
    where = select.args.get("where")
    return Query(
        outputs,
        groups,
        where.this if where else None,
        list(_order(select, outputs)),
        _whole(select.args.get("limit"), "LIMIT"),
        _whole(select.args.get("offset"), "OFFSET") or 0,
    )


def _refuse_clashes(outputs: Sequence[Aggregate | Group], beside: Sequence[str]) -> None:
    """An aggregate a comes with a_se, a_low and so on; nothing else may have these names."""
    names = {output.name for output in outputs}
    for output in outputs:
        for suffix in beside:
            if isinstance(output, Aggregate) and output.name + suffix in names:
                raise QueryError(
                    f"the answer has a column {output.name + suffix!r} of its own, beside {output.name!r}; choose another name with AS"
                )


def _select(sql: str) -> exp.Select:
    try:
        statements = [s for s in sqlglot.parse(sql, read=LANGUAGE) if s is not None]
    except sqlglot.errors.SqlglotError as error:
        errors = getattr(error, "errors", None) or [{}]
        near = errors[0].get("highlight") or ""
        what = errors[0].get("description") or str(error).splitlines()[0]
        raise QueryError(f"the question is not valid SQL: {what}" + (f", near {near!r}" if near else "")) from None
    if not statements:
        raise QueryError(f"the question is empty; ask SELECT ... FROM {TABLE} ...")
    if len(statements) != 1:
        raise QueryError(f"ask one statement at a time, not {len(statements)}")
    if not isinstance(statements[0], exp.Select):
        raise QueryError(f"{statements[0].key.upper()} cannot be answered; a question is one SELECT ... FROM {TABLE}")
    return statements[0]


def _resolve(select: exp.Select, columns: Sequence[str]) -> None:
    """Columns get the spelling that the release has; aliases of the SELECT list stay for ORDER BY and GROUP BY."""
    aliases = {e.alias.lower() for e in select.expressions if isinstance(e, exp.Alias)}
    known = {name.lower(): name for name in columns}
    for column in list(select.find_all(exp.Column)):
        late = column.find_ancestor(exp.Order, exp.Group) is not None
        name = column.name if column.name in columns else known.get(column.name.lower())
        if name is None and late and column.name.lower() in aliases:
            continue
        if name is None:
            raise QueryError(f"column {column.name!r} is not in the release{_instead(column, columns)}")
        column.replace(exp.column(name, quoted=True))


def _instead(column: exp.Column, columns: Sequence[str]) -> str:
    """The column that was meant; or, where something in double quotes is compared, that a text stands in single ones."""
    compared = column.find_ancestor(exp.Predicate) is not None and column.this.args.get("quoted")
    if compared and columns and closest(column.name, columns) is None:
        return f"; a text stands in single quotes: '{column.name}'"
    return did_you_mean(column.name, columns)


def _group_expressions(select: exp.Select) -> list[exp.Expression]:
    group = select.args.get("group")
    if group is None:
        return []
    several = group.find(exp.Rollup, exp.Cube, exp.GroupingSets)
    if several is not None:
        raise QueryError(f"GROUP BY {several.key.upper()} cannot be answered; ask for each grouping apart")
    if group.args.get("all"):
        return [e for e in select.expressions if not e.find(exp.AggFunc)]
    if not group.expressions or any(isinstance(e, exp.Tuple) and not e.expressions for e in group.expressions):
        raise QueryError("GROUP BY names no column; say by what, or leave it out")
    return list(group.expressions)


def _group(expression: exp.Expression, select: exp.Select, aliases: dict[str, exp.Expression]) -> Group:
    if isinstance(expression, exp.Alias):
        return Group(expression.alias, expression.this)
    if expression.is_int:
        place = int(expression.name)
        if not 1 <= place <= len(select.expressions):
            raise QueryError(f"GROUP BY {place} points outside of the SELECT list")
        return _group(select.expressions[place - 1], select, aliases)
    if (
        isinstance(expression, exp.Column)
        and expression.name in aliases
        and not aliases[expression.name].find(exp.AggFunc)
    ):
        return Group(expression.name, aliases[expression.name])
    named = next((alias for alias, inner in aliases.items() if inner == expression), None)
    return Group(named or _plain_name(expression), expression)


def _plain_name(expression: exp.Expression) -> str:
    return str(expression.name if isinstance(expression, exp.Column) else sql_of(expression))


def _output(expression: exp.Expression, groups: Sequence[Group]) -> Aggregate | Group:
    inner = expression.this if isinstance(expression, exp.Alias) else expression
    if type(inner) in AGGREGATES:
        return _aggregate(expression.alias or _default_name(inner), inner)
    if isinstance(inner, exp.Star):
        raise QueryError(
            "SELECT * cannot be answered; ask for COUNT(*), SUM(x) or AVG(x); rows of a release are in its data file"
        )
    if inner.find(exp.AggFunc):
        raise QueryError(
            f"{written(inner)} cannot be answered; each column is one of COUNT(*), SUM(x), AVG(x), without arithmetic around it"
        )
    for group in groups:
        if inner == group.expression:
            return Group(expression.alias or group.name, inner)
    raise QueryError(f"{written(inner)} is neither an aggregate nor in GROUP BY; add it to GROUP BY")


def _aggregate(name: str, function: exp.Expression) -> Aggregate:
    if function.find(exp.Distinct):
        raise QueryError("DISTINCT cannot be answered: how many different values there were is not a sum over rows")
    how = AGGREGATES[type(function)]
    return Aggregate(name, how, how.read(function))


def _default_name(function: exp.Expression) -> str:
    inside = [column.name for column in function.find_all(exp.Column)]
    return "_".join([AGGREGATES[type(function)].name, *inside])


def _order(select: exp.Select, outputs: Sequence[Aggregate | Group]) -> Iterator[Order]:
    order = select.args.get("order")
    for key in order.expressions if order else ():
        yield Order(_ordered_column(key.this, select, outputs), bool(key.args.get("desc")))


def _ordered_column(key: exp.Expression, select: exp.Select, outputs: Sequence[Aggregate | Group]) -> str:
    if key.is_int and 1 <= int(key.name) <= len(outputs):
        return outputs[int(key.name) - 1].name
    for expression, output in zip(select.expressions, outputs, strict=True):
        inner = expression.this if isinstance(expression, exp.Alias) else expression
        if key == inner or (isinstance(key, exp.Column) and key.name.lower() == output.name.lower()):
            return output.name
    raise QueryError(
        f"ORDER BY {written(key)}: order by a column of the answer{did_you_mean(key.name, [o.name for o in outputs])}"
    )


def _whole(clause: Any, name: str) -> int | None:
    if clause is None:
        return None
    count = clause.expression
    if not isinstance(count, exp.Literal) or not count.is_int:
        raise QueryError(f"{name} takes a whole number that is not negative")
    return int(count.name)


def written(expression: exp.Expression) -> str:
    """An expression as its writer would know it: names without the quotes that they do not need."""
    plain = expression.copy()
    for identifier in plain.find_all(exp.Identifier):
        identifier.set("quoted", not identifier.name.isidentifier())
    return sql_of(plain)


def sql_of(expression: exp.Expression) -> str:
    """An expression in the language of questions."""
    return str(expression.sql(dialect=LANGUAGE))
