"""What a question may be made of; everything else is refused by name, with what to ask instead.

The parser knows far more SQL than the estimator. A part that nobody looks at would reach the engine as it stands, and be answered as if the published
values were the true ones: so the parsed question is walked, and only what stands in these lists passes.
"""

from collections.abc import Mapping
from difflib import get_close_matches

from sqlglot import exp

from scumble.core.errors import QueryError
from scumble.engines.engine import TABLE
from scumble.query.aggregates.order import RANKS
from scumble.query.functions import FUNCTIONS, NAMED, TYPES, VOLATILE, known
from scumble.query.statistics import STATISTICS

Node = type[exp.Expression]

MOST_LETTERS = 10_000
"""How often a text is repeated, and how far it is padded, at most."""

PARTS: Mapping[Node, frozenset[str]] = {
    exp.Select: frozenset(
        {"expressions", "from_", "from", "where", "group", "having", "qualify", "order", "limit", "offset"}
    ),
    exp.From: frozenset({"this"}),
    exp.Table: frozenset({"this", "alias"}),
    exp.TableAlias: frozenset({"this"}),
    exp.Where: frozenset({"this"}),
    exp.Having: frozenset({"this"}),
    exp.Qualify: frozenset({"this"}),
    exp.Filter: frozenset({"this", "expression"}),
    exp.Window: frozenset({"this", "partition_by", "order", "over"}),
    exp.Rollup: frozenset({"expressions"}),
    exp.Cube: frozenset({"expressions"}),
    exp.GroupingSets: frozenset({"expressions"}),
    exp.Group: frozenset({"expressions", "all"}),
    exp.Order: frozenset({"expressions"}),
    exp.Ordered: frozenset({"this", "desc"}),
    exp.Limit: frozenset({"expression"}),
    exp.Offset: frozenset({"expression"}),
    exp.Alias: frozenset({"this", "alias"}),
    exp.Column: frozenset({"this", "table"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Star: frozenset(),
    exp.Var: frozenset({"this"}),
    exp.In: frozenset({"this", "expressions"}),
    exp.DataType: frozenset({"this", "expressions", "nested"}),
    exp.Count: frozenset({"this", "big_int"}),
    exp.Sum: frozenset({"this"}),
    exp.Avg: frozenset({"this"}),
    exp.Min: frozenset({"this"}),
    exp.Max: frozenset({"this"}),
    exp.Median: frozenset({"this"}),
    exp.Quantile: frozenset({"this", "quantile"}),
    exp.PercentileCont: frozenset({"this", "expression"}),
    exp.PercentileDisc: frozenset({"this", "expression"}),
    exp.WithinGroup: frozenset({"this", "expression"}),
    exp.Distinct: frozenset({"expressions"}),
    **{kind: frozenset({"this", "expression"}) for kind in STATISTICS},
    **dict.fromkeys(RANKS, frozenset[str]()),
}
"""The parts that a question is read by, and what of each is looked at."""

OPERATORS: frozenset[Node] = frozenset(
    {
        *(exp.And, exp.Or, exp.Not, exp.Paren, exp.Is, exp.Null, exp.Boolean, exp.Literal, exp.Interval, exp.Tuple),
        *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Between),
        *(exp.Like, exp.ILike, exp.Escape, exp.Glob, exp.SimilarTo, exp.DPipe),
        *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg),
        *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot, exp.BitwiseLeftShift, exp.BitwiseRightShift),
        exp.DataTypeParam,
    }
)

ONE_TABLE = "a release is one table"
ONE_GROUPING = "ask for each grouping apart"
LATER = "filter the answer (to_pandas(), to_polars())"
WORK = "work on the answer (to_pandas(), to_polars())"
ONE_STEP = "ask one question at a time"

CLAUSES: Mapping[str, tuple[str, str]] = {
    "with_": ("WITH", ONE_STEP),
    "with": ("WITH", ONE_STEP),
    "joins": ("JOIN", ONE_TABLE),
    "laterals": ("LATERAL", ONE_TABLE),
    "pivots": ("PIVOT", "use GROUP BY, and turn the answer (to_pandas(), to_polars())"),
    "distinct": ("DISTINCT", "use GROUP BY"),
    "windows": ("WINDOW", WORK),
    "sample": ("TABLESAMPLE", "ask the whole table"),
    "rollup": ("GROUP BY ... WITH ROLLUP", "write GROUP BY ROLLUP (...)"),
    "cube": ("GROUP BY ... WITH CUBE", "write GROUP BY CUBE (...)"),
    "totals": ("GROUP BY WITH TOTALS", ONE_GROUPING),
    "nulls_first": ("NULLS FIRST", "missing values stand last in an answer"),
    "limit_options": ("a LIMIT in percent", "give a number of rows"),
    "columns": ("a table with new names for its columns", "name the columns of the answer with AS"),
    "expressions": ("a second argument of COUNT or LIMIT", "give one"),
    "except_": ("* EXCLUDE", "name the columns"),
    "locks": ("FOR UPDATE", "a release does not change"),
    "when": ("AT", "a release has one version"),
    "into": ("INTO", "keep the answer (to_arrow(), to_pandas(), to_polars())"),
    "field": ("IN without a list", "write the values in brackets"),
    "db": ("a name of three parts", "write the column's name alone"),
}
"""What the parser calls clauses, what people call them, and what to do instead."""

EXPRESSIONS: Mapping[Node, tuple[str, str]] = {
    exp.PositionalColumn: ("a column by its number", "name it"),
    exp.Columns: ("COLUMNS", "name each column"),
    exp.Placeholder: ("a question with a gap (?)", "write the value"),
    exp.Parameter: ("a question with a variable", "write the value"),
    exp.Join: ("JOIN", ONE_TABLE),
    exp.Fetch: ("FETCH", "use LIMIT"),
    exp.ByteString: ("a text with escapes (E'...')", "write its letters in single quotes"),
    exp.RawString: ("a text between dollars ($$...$$)", "write it in single quotes"),
}

SOME = "there are ROUND, LOWER, SUBSTRING, COALESCE, CASE, YEAR, DATE_TRUNC and other plain functions of a row"
NO_SUBQUERY = "a sub-query cannot be answered; ask it first and use its answer"
NO_DISTINCT = "DISTINCT cannot be answered: how many different values there were is not a sum over rows"


def demand_allowed(select: exp.Select) -> None:
    """Refuses whatever in a question is not in the lists, beginning with what stands outermost."""
    for node in select.walk(bfs=True):
        if isinstance(node, exp.Query) and node is not select:
            raise QueryError(NO_SUBQUERY)
        if isinstance(node, exp.AggFunc):
            _demand_outermost(node)
        if isinstance(node, exp.Concat) and all(isinstance(e, exp.Literal) for e in node.expressions):
            _refuse("texts side by side", "put a comma between them, or write them as one text")
        if isinstance(node, exp.Repeat | exp.Pad):
            _demand_short(node)
        if isinstance(node, exp.Tuple) and node.expressions and not isinstance(node.parent, exp.Predicate | exp.Tuple):
            _refuse(node.sql(), "name each column by itself; tuples are compared, as in (a, b) IN ((1, 2), (3, 4))")
        if type(node) in PARTS:
            _demand_parts(node)
        elif type(node) not in OPERATORS and type(node) not in FUNCTIONS:
            _demand_known(node)
        if isinstance(node, exp.Select):
            _demand_release(node)


def _demand_short(node: exp.Expression) -> None:
    """A text that is made longer has a length that is seen: the engine makes one of gigabytes before it can be interrupted."""
    length = node.args.get("times") or node.args.get("expression")
    if not (isinstance(length, exp.Literal) and length.is_int and int(length.name) <= MOST_LETTERS):
        _refuse(node.sql(), f"give the length as a number up to {MOST_LETTERS:,}")


def _demand_parts(node: exp.Expression) -> None:
    """Nothing of it goes unseen, and it stands where it is looked for."""
    if isinstance(node, exp.Order) and not isinstance(node.parent, exp.Select | exp.Window | exp.WithinGroup):
        _refuse("ORDER BY inside of an aggregate", "a sum has no order")
    for key, value in node.args.items():
        if value and key not in PARTS[type(node)]:
            if key == "query":
                raise QueryError(NO_SUBQUERY)
            _refuse(*CLAUSES.get(key, (key.strip("_").replace("_", " ").upper(), "leave it out")))
    if isinstance(node, exp.Distinct) and not isinstance(node.parent, exp.AggFunc):
        raise QueryError(NO_DISTINCT)
    if isinstance(node, exp.Var) and not isinstance(node.parent, exp.Func | exp.Interval):
        _refuse(node.sql(), "name the columns")
    if isinstance(node, exp.DataType) and node.this.value not in TYPES:
        _refuse(f"a cast to {node.sql()}", "cast to a number, a text, a date or a time")
    if isinstance(node, exp.Column) and node.table:
        _demand_qualifier(node)


def _demand_release(select: exp.Select) -> None:
    """One table, the published one."""
    source = select.args.get("from_") or select.args.get("from")
    table = source.this if source is not None else None
    if isinstance(table, exp.Query):
        raise QueryError(NO_SUBQUERY)
    plain = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier) and not table.args.get("db")
    if table is None or not plain or table.name.lower() != TABLE:
        raise QueryError(f"a question reads FROM {TABLE}, the published table, and nothing else")


def _demand_qualifier(column: exp.Column) -> None:
    """Before the point stands the published table, by the name that the question gave it."""
    table = column.root().find(exp.Table)
    name = table.alias_or_name if table is not None else TABLE
    if column.table.lower() != name.lower():
        raise QueryError(
            f"there is no table {column.table!r} in the question; write {column.name} or {name}.{column.name}"
        )


def _demand_known(node: exp.Expression) -> None:
    """A function by its name; an aggregate that nobody estimates is refused with the column that it makes."""
    if isinstance(node, exp.SubqueryPredicate):
        raise QueryError(NO_SUBQUERY)
    elif type(node) in EXPRESSIONS:
        _refuse(*EXPRESSIONS[type(node)])
    elif isinstance(node, exp.Func) and not isinstance(node, exp.AggFunc):
        _demand_function((node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower())
    elif not isinstance(node, exp.AggFunc):
        _refuse(node.sql(), "a question is made of columns, values, comparisons, arithmetic and plain functions")


def _demand_outermost(aggregate: exp.Expression) -> None:
    """Aggregates stand in the answer, and not in each other."""
    where = aggregate.find_ancestor(exp.Where, exp.Group)
    if where is not None:
        _refuse(f"{aggregate.sql()} in a condition or a group", LATER)
    outer = aggregate.find_ancestor(exp.AggFunc, exp.WithinGroup)
    over = outer is not None and isinstance(outer.parent, exp.Window) and outer.find_ancestor(exp.AggFunc) is None
    if outer is not None and not over and not isinstance(outer, exp.WithinGroup):
        _refuse(f"{aggregate.sql()} within another aggregate", ONE_STEP)


def _demand_function(name: str) -> None:
    if name in VOLATILE:
        _refuse(f"{name}()", "it does not give the same value each time; write the value that you mean")
    if name not in NAMED:
        close = get_close_matches(name, known(), n=1, cutoff=0.8)
        _refuse(f"the function {name}()", f"did you mean {close[0]}()?" if close else SOME)


def _refuse(what: str, instead: str) -> None:
    raise QueryError(f"{what} cannot be answered; {instead}")
