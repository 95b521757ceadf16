"""Counting two halves: how many rows there are, and how many of them satisfy a condition.

A count over one condition on a perturbed column groups rows by whether they satisfy it. DuckDB hashes that for every row; a condition that an
aggregate is filtered by is looked up in the dictionary of the file, and costs a third less, without public groups half.
"""

from sqlglot import exp

from scumble.engines.expressions import number


def with_halves(statement: exp.Query) -> exp.Query:
    """The statement, its CASE of two cells counted by a filter; any other statement as it is.

    >>> import sqlglot
    >>> text = "SELECT sex AS g0, CASE WHEN ill = 'flu' THEN 1 ELSE 0 END AS c, COUNT(*) AS n FROM release GROUP BY 1, 2"
    >>> halves = with_halves(sqlglot.parse_one(text)).sql("duckdb")
    >>> print(halves.replace(" FROM (", "\\nFROM ("))
    SELECT *
    FROM (SELECT g0, UNNEST([0, 1]) AS c, UNNEST([n - m, m]) AS n
    FROM (SELECT sex AS g0, COUNT(*) AS n, COUNT(*) FILTER(WHERE ill = 'flu') AS m FROM release GROUP BY 1) AS counted) AS halves WHERE n > 0
    """
    condition = _condition(statement)
    if condition is None:
        return statement
    inner = statement.copy()
    *groups, _, count = inner.expressions
    satisfied = exp.Filter(this=count.this.copy(), expression=exp.Where(this=condition.copy()))
    inner.set("expressions", [*groups, count, exp.alias_(satisfied, "m")])
    places = [number(place + 1) for place in range(len(groups))]
    inner.set("group", exp.Group(expressions=places) if places else None)
    names = [exp.column(group.alias) for group in groups]
    halves = exp.select(
        *names,
        exp.alias_(exp.Unnest(expressions=[exp.Array(expressions=[number(0), number(1)])]), "c"),
        exp.alias_(exp.Unnest(expressions=[exp.Array(expressions=[_rest(), exp.column("m")])]), "n"),
    ).from_(inner.subquery("counted"))
    return exp.select("*").from_(halves.subquery("halves")).where(exp.column("n") > number(0))


def _rest() -> exp.Expression:
    return exp.Sub(this=exp.column("n"), expression=exp.column("m"))


def _condition(statement: exp.Query) -> exp.Expression | None:
    """That of a statement that has groups, the two cells of one condition, and a count of rows."""
    names = [part.alias for part in statement.expressions] if isinstance(statement, exp.Select) else []
    if (
        names[-2:] != ["c", "n"]
        or not all(name.startswith("g") for name in names[:-2])
        or len(_grouped(statement)) != len(names) - 1
    ):
        return None
    case, count = (part.this for part in statement.expressions[-2:])
    if not (isinstance(count, exp.Count) and isinstance(count.this, exp.Star)):
        return None
    if not isinstance(case, exp.Case) or case.this is not None:
        return None
    (first, *others), default = case.args["ifs"], case.args.get("default")
    if others or first.args["true"] != number(1) or default != number(0):
        return None
    condition: exp.Expression = first.this
    return condition


def _grouped(statement: exp.Expression) -> list[exp.Expression]:
    group = statement.args.get("group")
    return group.expressions if group is not None else []
