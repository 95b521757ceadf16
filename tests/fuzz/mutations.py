"""Random edits of valid questions: no traceback, no hang, and what is answered is what DuckDB answers to the same text."""

import re
from random import Random

from fuzz.asked import compared
from fuzz.questions import condition, question

TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\w+|<>|!=|<=|>=|\|\||::|//|<<|>>|\S")

HOSTILE = [
    "NULL",
    "DISTINCT",
    "ALL",
    "ANY",
    "SOME",
    "EXISTS",
    "(",
    ")",
    "((",
    "))",
    ",",
    ";",
    "--",
    "/*",
    "*/",
    "''",
    "'",
    '"',
    '""',
    "\\",
    "$$",
    "$1",
    "?",
    ":x",
    "@",
    "#",
    "#1",
    "!",
    "~",
    "^",
    "**",
    "&",
    "|",
    "<<",
    ">>",
    "::",
    ".",
    "..",
    "...",
    "*",
    "%",
    "[",
    "]",
    "{",
    "}",
    "=",
    "==",
    "<>",
    "!=",
    "<=>",
    "<=",
    ">=",
    "->",
    "->>",
    ":=",
    "||",
    "COLLATE",
    "ESCAPE",
    "OVER",
    "WINDOW",
    "QUALIFY",
    "HAVING",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "JOIN",
    "CROSS",
    "NATURAL",
    "LATERAL",
    "USING",
    "ON",
    "WITH",
    "RECURSIVE",
    "AS",
    "FROM",
    "SELECT",
    "WHERE",
    "GROUP",
    "BY",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "FETCH",
    "FIRST",
    "TABLESAMPLE",
    "REPEATABLE",
    "PIVOT",
    "UNPIVOT",
    "FILTER",
    "WITHIN",
    "ROLLUP",
    "CUBE",
    "SETS",
    "VALUES",
    "TABLE",
    "release",
    "release.age",
    "other.age",
    "COUNT",
    "SUM",
    "AVG",
    "MIN",
    "MAX",
    "median(",
    "count_if(",
    "age",
    "town",
    "kind",
    "grade",
    "smoker",
    "level",
    "paid",
    "cost",
    "rowid",
    "COLUMNS(*)",
    "EXCLUDE",
    "REPLACE",
    "SIMILAR",
    "TO",
    "GLOB",
    "LIKE",
    "ILIKE",
    "IN",
    "NOT",
    "IN",
    "BETWEEN",
    "AND",
    "OR",
    "XOR",
    "IS",
    "ISNULL",
    "NOTNULL",
    "UNKNOWN",
    "TRUE",
    "FALSE",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST",
    "TRY_CAST",
    "EXTRACT",
    "INTERVAL",
    "DATE",
    "TIMESTAMP",
    "AT",
    "TIME",
    "ZONE",
    "'UTC'",
    "'Asia/Tokyo'",
    "1e400",
    "1e-400",
    "0x1F",
    "1_000",
    ".5",
    "5.",
    "1.e3",
    "9223372036854775808",
    "-9223372036854775808",
    "1e308",
    "NaN",
    "'NaN'",
    "'infinity'",
    "'ß'",
    "'\u202e'",
    "'\x00'",
    "é",
    "\ufeff",
    "random()",
    "now()",
    "current_date",
    "uuid()",
    "getenv('HOME')",
    "read_csv('/etc/passwd')",
    "'a''b'",
    "E'\\n'",
    "X'00'",
    "$$x$$",
    "INSERT",
    "UPDATE",
    "DELETE",
    "DROP",
    "ATTACH",
    "COPY",
    "PRAGMA",
    "SET",
    "EXPLAIN",
    "DESCRIBE",
    "SUMMARIZE",
    "INSTALL",
    "CALL",
]
"""Tokens that mean something somewhere, and some that never do."""

ALIKE = [
    ["=", "<>", "!=", "<", ">", "<=", ">=", "==", "IS NOT DISTINCT FROM", "LIKE", "GLOB"],
    ["+", "-", "*", "/", "%", "//", "&", "|", "||", "^", "**", "<<", ">>"],
    ["AND", "OR", "= NOT", "AND NOT"],
    ["age", "n", "cost", "price", "town", "day", "seen", "paid", "kind", "grade", "smoker", "level", "release.age"],
    ["SUM", "AVG", "COUNT", "MIN", "STDDEV"],
    ["lower", "upper", "abs", "round", "floor", "ceil", "trim", "length", "sqrt", "ln", "isnan", "reverse"],
    ["TRUE", "FALSE", "NULL", "0", "1", "-1", "3.5", "1e3", "'1'", "'flu'", "'2024-05-01'", "1 - -1", "- 2 ^ 2"],
    ["", "NOT", "-", "+", "NOT NOT", "- -"],
]
"""Tokens that stand in the same places."""


def case(draw: Random) -> str:
    """One question, edited."""
    return compared(mutated(draw, question(draw)))


def mutated(draw: Random, sql: str) -> str:
    """The text after a few edits."""
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        sql = draw.choice([*GENTLE, *GENTLE, *RUDE])(draw, sql)
    return sql


def _split(draw: Random, sql: str) -> tuple[list[str], int]:
    tokens = TOKEN.findall(sql) or [""]
    return tokens, draw.randrange(len(tokens))


def _inserted(draw: Random, sql: str) -> str:
    tokens, place = _split(draw, sql)
    return " ".join([*tokens[:place], draw.choice(HOSTILE), *tokens[place:]])


def _dropped(draw: Random, sql: str) -> str:
    tokens, place = _split(draw, sql)
    return " ".join([*tokens[:place], *tokens[place + 1 :]])


def _swapped(draw: Random, sql: str) -> str:
    tokens, place = _split(draw, sql)
    other = draw.randrange(len(tokens))
    tokens[place], tokens[other] = tokens[other], tokens[place]
    return " ".join(tokens)


def _replaced(draw: Random, sql: str) -> str:
    tokens, place = _split(draw, sql)
    return " ".join([*tokens[:place], draw.choice(HOSTILE), *tokens[place + 1 :]])


def _doubled(draw: Random, sql: str) -> str:
    tokens, place = _split(draw, sql)
    end = place + draw.randint(1, 6)
    return " ".join([*tokens[:end], *tokens[place:]])


def _typed(draw: Random, sql: str) -> str:
    """A slip of a finger."""
    place = draw.randrange(len(sql) + 1)
    return sql[:place] + draw.choice(list("'\"();,.-+*/%=<> \n\tx0")) + sql[place + draw.randint(0, 1) :]


def _nested(draw: Random, sql: str) -> str:
    """A condition many levels deep, or many conditions."""
    inner = condition(draw, 1)
    deep = draw.choice([2, 10, 60, 300])
    more = draw.choice([f"{'(' * deep}{inner}{')' * deep}", " OR ".join([inner] * deep), "NOT " * deep + inner])
    return f"{sql} AND {more}" if " WHERE " in sql else f"{sql} WHERE {more}"


def _exchanged(draw: Random, sql: str) -> str:
    """A token becomes another of its class."""
    tokens = TOKEN.findall(sql)
    places = [(i, c) for i, token in enumerate(tokens) for c in ALIKE if token in c]
    place, same = draw.choice(places)
    return " ".join([*tokens[:place], draw.choice(same), *tokens[place + 1 :]])


def _unbracketed(draw: Random, sql: str) -> str:
    """A pair of brackets less: what binds tighter decides."""
    pairs, opened = list[tuple[int, int]](), list[int]()
    for place, letter in enumerate(sql):
        if letter == "(":
            opened.append(place)
        elif letter == ")" and opened:
            pairs.append((opened.pop(), place))
    if not pairs:
        return sql
    first, last = draw.choice(pairs)
    return f"{sql[:first]} {sql[first + 1 : last]} {sql[last + 1 :]}"


def _signed(draw: Random, sql: str) -> str:
    """Something before an operand."""
    tokens, place = _split(draw, sql)
    return " ".join([*tokens[:place], draw.choice(ALIKE[-1]), *tokens[place:]])


GENTLE = (_exchanged, _exchanged, _exchanged, _unbracketed, _signed)
RUDE = (_inserted, _dropped, _swapped, _replaced, _doubled, _typed, _nested)
