"""What is wrong with a question that the engine refused, in the words of the question: which column, and which value.

An engine speaks of its own types and casts, and seldom of the column. Where a value does not fit the column that it is compared with, that is
said; only for what is left the engine's own sentence stands.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from typing import Any

import duckdb
from sqlglot import exp

from scumble.core.errors import InputError, QueryError
from scumble.core.readable import broken
from scumble.engines.sql import quoted

KINDS = {"numbers": "INT|DOUBLE|FLOAT|DECIMAL|REAL", "text": "CHAR|ENUM", "dates": "DATE|TIMESTAMP"}
"""What a column holds, and the engine's types for it."""

COMPARING = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between)


BROKEN = re.compile(
    "Failed to read file|[Cc]orrupt|Thrift|TProtocol|[Ss]nappy|Out of buffer|[Pp]arquet|magic bytes|at least one file"
)
"""What the engine speaks of where the bytes of a file are none that it can read."""


def of_files(error: duckdb.Error) -> bool:
    """Whether the engine complains of a file, and not of a statement."""
    own = type(error) is duckdb.Error or isinstance(error, duckdb.IOException | duckdb.SerializationException)
    return own or isinstance(error, duckdb.InternalException | duckdb.FatalException) or bool(BROKEN.search(str(error)))


@contextmanager
def files_read() -> Iterator[None]:
    """What the engine says of files that it cannot read, in one sentence."""
    try:
        yield
    except duckdb.PermissionException:
        raise
    except duckdb.Error as error:
        if of_files(error):
            raise broken() from None
        raise


def refusal(error: duckdb.Error, connection: duckdb.DuckDBPyConnection, statement: exp.Expression) -> InputError:
    """The error to raise: about a broken file, the first part of the statement that does not fit its column, or what the engine says."""
    if of_files(error):
        return broken()
    held = _held(connection, {table.name for table in statement.find_all(exp.Table) if table.name})
    sentence = next((misfit for node in statement.walk() if (misfit := _misfit(node, held)) is not None), None)
    said = re.sub(r"^[A-Z][A-Za-z ]* Error: ", "", str(error).splitlines()[0])
    return QueryError(sentence or f"the question cannot be computed: {said}")


def _held(connection: duckdb.DuckDBPyConnection, tables: Iterable[str]) -> dict[str, str]:
    """What the columns of those tables hold that the connection knows: a statement names parts of its own, too."""
    held: dict[str, str] = {}
    for table in sorted(tables):
        try:
            rows = connection.execute(f"DESCRIBE {quoted(table)}").fetchall()
        except (duckdb.CatalogException, duckdb.PermissionException):
            continue
        held |= {name: _kind(kind) for name, kind, *_ in rows}
    return held


def _kind(engine_type: str) -> str:
    return next((kind for kind, types in KINDS.items() if re.match(f".*({types})", engine_type)), "other values")


def _misfit(node: exp.Expression, held: Mapping[str, str]) -> str | None:
    """What is wrong with one part of a question, if anything."""
    column = next((operand for operand in _operands(node) if isinstance(operand, exp.Column)), None)
    kind = held.get(column.name) if column is not None else None
    if column is None or kind is None:
        return None
    if isinstance(node, exp.Like | exp.ILike) and kind != "text":
        return f"column {column.name!r} holds {kind}, and LIKE is for text; compare it by =, < or BETWEEN"
    if isinstance(node, exp.Sum | exp.Avg | exp.Cast) and kind == "text":
        return f"column {column.name!r} holds text, not numbers, so that it cannot be summed, averaged or cast"
    if isinstance(node, COMPARING):
        return next(
            (_sentence(column.name, kind, operand) for operand in _operands(node) if not _fits(operand, kind)), None
        )
    return None


def _operands(node: exp.Expression) -> Iterator[exp.Expression]:
    """What a part of a question is made of, without signs and brackets."""
    for operand in node.iter_expressions():
        yield operand.this if isinstance(operand, exp.Neg | exp.Paren) else operand


def _fits(value: exp.Expression, kind: str) -> bool:
    if not isinstance(value, exp.Literal):
        return True
    if not value.is_string:
        return kind != "text"
    return {"numbers": _reads(float, value.this), "dates": _reads(date.fromisoformat, value.this[:10])}.get(kind, True)


def _reads(how: Any, text: str) -> bool:
    try:
        how(text)
    except ValueError:
        return False
    return True


def _sentence(name: str, kind: str, value: exp.Expression) -> str:
    if kind == "text":
        return f"column {name!r} holds text, and {value.this} is a number; write it in quotes, '{value.this}'"
    remedy = "write a number" if kind == "numbers" else "write a date as '2026-01-31'"
    return f"column {name!r} holds {kind}, and {value.this!r} is not one of them; {remedy}"
