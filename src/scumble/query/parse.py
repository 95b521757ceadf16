"""SQL text into a Query; what cannot be answered is refused by name, with what to do instead."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from logging import NullHandler, getLogger
from typing import Any

import sqlglot
from sqlglot import exp

from scumble.core.errors import QueryError, closest, did_you_mean
from scumble.engines.engine import TABLE
from scumble.query.aggregates.order import RANKS
from scumble.query.allowed import demand_allowed
from scumble.query.chains import shortened
from scumble.query.code_lists import Tables
from scumble.query.columns import derived
from scumble.query.grouping import grouped
from scumble.query.model import (
    BESIDE,
    LANGUAGE,
    Aggregate,
    Group,
    Order,
    Query,
    aggregate_of,
    demand_names,
    sql_of,
    written,
)
from scumble.query.sources import Sources
from scumble.query.statistics.spelt import spell_out

getLogger("sqlglot").addHandler(NullHandler())  # its warnings are for programmers


def parse(sql: str, columns: Sequence[str], beside: Sequence[str] = BESIDE) -> Query:
    """The question that the text asks of a release with these columns.

    beside   what the names of the columns that an answer has beside each aggregate end in
    """
    (query,), _ = parse_all(sql, columns, beside)
    if query.sets is not None:
        raise QueryError("GROUP BY with several groupings cannot be answered here; ask for each grouping apart")
    return query


Ends = tuple[list[Order], int | None, int]
"""ORDER BY, LIMIT and OFFSET of lines of several questions."""


def parse_all(
    sql: str, columns: Sequence[str], beside: Sequence[str] = BESIDE, name: str = TABLE, tables: Tables | None = None
) -> tuple[list[Query], Ends | None]:
    """The questions that a text asks, several where it has UNION ALL, and what is done to their lines together.

    name     what the published table is called besides `release`
    tables   code lists that it may be joined with
    """
    statement = _statement(sql)
    shortened(statement)
    sources = Sources(columns, frozenset({TABLE, name.lower()}), tables or {})
    if isinstance(statement, exp.Select):
        return [read(sources.flat(statement), columns, beside)], None
    sources.take(statement)
    queries = [
        read(Sources(columns, sources.names, sources.tables, dict(sources.parts)).flat(part), columns, beside)
        for part in _united(statement)
    ]
    titles = [title for title, _ in queries[0].shown]
    if any(len(query.shown) != len(titles) for query in queries):
        raise QueryError("the parts of UNION ALL have different numbers of columns; give all the same")
    order = [Order(_united_column(key.this, titles), bool(key.args.get("desc"))) for key in _keys(statement)]
    return queries, (
        order,
        _whole(statement.args.get("limit"), "LIMIT"),
        _whole(statement.args.get("offset"), "OFFSET") or 0,
    )


def _united(statement: exp.Expression) -> list[exp.Select]:
    """The SELECTs between UNION ALL."""
    if isinstance(statement, exp.Select):
        return [statement]
    if isinstance(statement, exp.Subquery) and isinstance(statement.this, exp.Query):
        return _united(statement.this)
    if not isinstance(statement, exp.Union) or statement.args.get("distinct") or statement.args.get("by_name"):
        raise QueryError(
            f"{statement.key.upper()} cannot be answered but UNION ALL, which puts answers below each other"
        )
    return [*_united(statement.this), *_united(statement.expression)]


def _keys(statement: exp.Expression) -> list[exp.Expression]:
    order = statement.args.get("order")
    return list(order.expressions) if order else []


def _united_column(key: exp.Expression, titles: Sequence[str]) -> str:
    if key.is_int and 1 <= int(key.name) <= len(titles):
        return titles[int(key.name) - 1]
    named = next((title for title in titles if title.lower() == key.name.lower()), None)
    if named is None:
        raise QueryError(f"ORDER BY {written(key)}: order by a column of the answer{did_you_mean(key.name, titles)}")
    return named


def read(select: exp.Select, columns: Sequence[str], beside: Sequence[str] = BESIDE) -> Query:
    """A SELECT as a question."""
    chosen = _distinct(select)
    demand_allowed(select)
    _resolve(select, columns)
    titles = [e.alias or _title(e) for e in select.expressions]
    spell_out(select)
    _demand_registered(select)
    aliases = {e.alias: e.this for e in select.expressions if isinstance(e, exp.Alias)}
    expressions, sets = grouped(select)
    groups = [_group(e, select, aliases, columns) for e in expressions]
    groups += _constants(select, titles)
    plain = [_output(e, title, groups) for e, title in zip(select.expressions, titles, strict=True)]
    ends = (_whole(select.args.get("limit"), "LIMIT"), _whole(select.args.get("offset"), "OFFSET") or 0)
    where = select.args.get("where")
    condition = where.this if where else None
    if (
        any(select.args.get(part) for part in ("having", "qualify"))
        or None in plain
        or _ordered_apart(select)
        or chosen
    ):
        query = replace(derived(select, titles, groups, condition, ends, beside, chosen=chosen), sets=sets)
        _demand_one_grouping(select, query)
        return query
    outputs = [output for output in plain if output is not None]
    demand_names(titles, [isinstance(output, Aggregate) for output in outputs], beside)
    if not any(isinstance(output, Aggregate) for output in outputs):
        raise QueryError(
            "a question asks for at least one of COUNT(*), SUM(x), AVG(x); rows of a release are in its data file"
        )
    return Query(outputs, groups, condition, list(_order(select, outputs)), *ends, sets=sets)


def _demand_one_grouping(select: exp.Select, query: Query) -> None:
    """A window of SQL is over the lines of all groupings together, so that each row counts in it several times."""
    if query.sets is not None and (window := select.find(exp.Window)) is not None:
        raise QueryError(
            f"{written(window)} with CUBE, ROLLUP or GROUPING SETS cannot be answered: a window would count each row once "
            "for every grouping; ask for each grouping apart"
        )


def _demand_registered(select: exp.Select) -> None:
    """Aggregates that nobody estimates are refused by name, and so are windows that number lines outside of QUALIFY."""
    for function in select.find_all(exp.AggFunc, exp.Window):
        ranked = isinstance(function, exp.Window) and isinstance(function.this, RANKS)
        if ranked and function.find_ancestor(exp.Qualify) is None:
            raise QueryError(f"{written(function)} cannot be answered but in QUALIFY, which says which lines are shown")
        known = ranked or isinstance(function, exp.Window | exp.RowNumber) or aggregate_of("", function) is not None
        if not known and not isinstance(function.parent, exp.Window):
            raise QueryError(
                f"{written(function)} cannot be answered; there are COUNT, SUM, AVG, VAR, STDDEV, CORR, COVAR, REGR, MEDIAN and QUANTILE, and MIN, MAX, COUNT(DISTINCT x) of public columns"
            )


def _statement(sql: str) -> exp.Query:
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
    if not isinstance(statements[0], exp.Select | exp.SetOperation):
        raise QueryError(f"{statements[0].key.upper()} cannot be answered; a question is one SELECT ... FROM {TABLE}")
    return statements[0]


def _distinct(select: exp.Select) -> bool:
    """Whether only the different values of columns are asked for, which are groups then."""
    distinct = select.args.get("distinct")
    if distinct is None or distinct.args.get("on") or select.args.get("group") or select.find(exp.AggFunc):
        return False
    select.set("distinct", None)
    select.set("group", exp.Group(expressions=[exp.Literal.number(i + 1) for i in range(len(select.expressions))]))
    return True


def _resolve(select: exp.Select, columns: Sequence[str]) -> None:
    """Columns get the spelling that the release has; aliases of the SELECT list stay for what comes after it."""
    aliases = {e.alias.lower() for e in select.expressions if isinstance(e, exp.Alias)}
    known = {name.lower(): name for name in columns}
    for column in list(select.find_all(exp.Column)):
        late = column.find_ancestor(exp.Order, exp.Group, exp.Having, exp.Qualify) is not None
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


def _group(
    expression: exp.Expression, select: exp.Select, aliases: dict[str, exp.Expression], columns: Sequence[str]
) -> Group:
    """What a part of GROUP BY means: a column of the release, before what the SELECT list calls so."""
    if isinstance(expression, exp.Alias):
        return Group(expression.alias, expression.this)
    if expression.is_int:
        place = int(expression.name)
        if not 1 <= place <= len(select.expressions):
            raise QueryError(f"GROUP BY {place} points outside of the SELECT list")
        return _group(select.expressions[place - 1], select, aliases, columns)
    if isinstance(expression, exp.Column):
        called = {alias.lower(): inner for alias, inner in aliases.items() if not inner.find(exp.AggFunc)}
        inner = called.get(expression.name.lower(), expression)
        if expression.name not in columns:
            return Group(expression.name, inner)
        if inner != expression:
            raise QueryError(
                f"GROUP BY {written(expression)} is by the column of that name, as in SQL, and {written(inner)} is called so "
                "too; give that another name with AS"
            )
    named = next((alias for alias, inner in aliases.items() if inner == expression), None)
    return Group(named or _plain_name(expression), expression)


def _constants(select: exp.Select, titles: Sequence[str]) -> list[Group]:
    """Columns that are the same in every line: parts of UNION ALL are told apart by them."""
    bare = [e.this if isinstance(e, exp.Alias) else e for e in select.expressions]
    named = zip(titles, bare, strict=True)
    return [Group(title, e) for title, e in named if isinstance(e.unnest(), exp.Literal | exp.Boolean)]


def _plain_name(expression: exp.Expression) -> str:
    return str(expression.name if isinstance(expression, exp.Column) else sql_of(expression))


def _output(expression: exp.Expression, title: str, groups: Sequence[Group]) -> Aggregate | Group | None:
    """An aggregate or a group that is shown as it is; None for what is made of aggregates."""
    inner = expression.this if isinstance(expression, exp.Alias) else expression
    if (aggregate := aggregate_of(title, inner)) is not None:
        return aggregate
    if isinstance(inner, exp.Star):
        raise QueryError(
            "SELECT * cannot be answered; ask for COUNT(*), SUM(x) or AVG(x); rows of a release are in its data file"
        )
    if inner.find(exp.AggFunc, exp.Window):
        return None
    for group in groups:
        if inner == group.expression:
            return Group(expression.alias or group.name, inner)
    raise QueryError(f"{written(inner)} is neither an aggregate nor in GROUP BY; add it to GROUP BY")


def _title(expression: exp.Expression) -> str:
    """What a column is called that has no name."""
    inner = expression.this if isinstance(expression, exp.Filter) else expression
    aggregate = aggregate_of("", inner)
    name = aggregate.how.name if aggregate is not None else None
    if name is None and isinstance(inner, exp.AggFunc):
        name = inner.sql_name().lower()
    inside = [column.name for column in expression.find_all(exp.Column)]
    return _plain_name(expression) if name is None else "_".join([name, *inside])


def _ordered_apart(select: exp.Select) -> bool:
    """Whether an answer is ordered by aggregates that it does not show."""
    order = select.args.get("order")
    shown = [e.this if isinstance(e, exp.Alias) else e for e in select.expressions]
    return any(key.this not in shown and key.this.find(exp.AggFunc) for key in (order.expressions if order else ()))


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
