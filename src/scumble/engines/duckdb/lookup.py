"""Words looked up in a list: DuckDB does that once for each word of a file, where it compares a CASE once for each row."""

from sqlglot import exp

from scumble.engines.engine import LOOKUP


def with_lookups(statement: exp.Query) -> exp.Query:
    """The statement with every CASE that is marked for it as the place of a word in one list and the number there in another."""
    if not _marked(statement):
        return statement
    changed: exp.Query = statement.copy()
    for case in _marked(changed):
        case.replace(_looked_up(case))
    return changed


def _marked(statement: exp.Expression) -> list[exp.Case]:
    return [case for case in statement.find_all(exp.Case) if case.meta.get(LOOKUP)]


def _looked_up(case: exp.Case) -> exp.Expression:
    words = exp.Array(expressions=[arg.this.copy() for arg in case.args["ifs"]])
    numbers = exp.Array(expressions=[arg.args["true"].copy() for arg in case.args["ifs"]])
    number = exp.func("LIST_EXTRACT", numbers, exp.func("LIST_POSITION", words, case.this.copy()))
    default = case.args.get("default")
    return exp.Coalesce(this=number, expressions=[default.copy()]) if default is not None else number
