"""What COUNT, SUM and AVG add up of counted tuples, refused by name where it is no number, and what it can be in rows that were suppressed."""

from collections.abc import Mapping
from math import isfinite, nan, prod

import pyarrow as pa
from sqlglot import exp

from scumble.core.domain import Domain
from scumble.core.errors import QueryError
from scumble.engines.duckdb.tuples import CountedFiles, Summed
from scumble.forms.tuples.suppressed import Span
from scumble.query.normalize import conjuncts
from scumble.query.parse import Aggregate, written

NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "HUGEINT",
    "UTINY",
    "USMALL",
    "UINT",
    "UBIG",
    "UHUGE",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
    "BOOLEAN",
)
"""How the engine's types of numbers begin; true counts as 1."""

MOST_PAIRS = 4_000_000
"""Combinations of declared values that an expression of several columns is tried with, at most."""

ONE: Span = (1.0, 1.0)
"""What a row adds to a count."""


def summed(aggregate: Aggregate, files: CountedFiles, where: exp.Expression | None, boxes: bool) -> Summed:
    """What an aggregate adds up."""
    value = aggregate.value
    if aggregate.kind == "count" or value is None:
        return Summed(value)
    asked, kind = f"{aggregate.kind.upper()}({written(value)})", files.kind(value)
    if not kind.startswith(NUMBERS):
        if boxes:
            raise QueryError(
                f"{asked}: a release of boxes has ranges such as '0..49' in the place of numbers, and they are text; "
                "count them: SELECT ..., COUNT(*) FROM release GROUP BY ..."
            )
        raise QueryError(f"{asked} needs numbers, and {written(value)} is of type {kind}")
    ends = files.ends(value, where)
    if ends is None:
        return Summed(value, 0.0)
    if not all(map(isfinite, ends)):
        raise QueryError(
            f"{asked} is not a number, because some published values are infinite or NaN; leave them out, WHERE isfinite({written(value)})"
        )
    return Summed(value, ends[0] + (ends[1] - ends[0]) / 2)


def possible(
    aggregate: Aggregate, files: CountedFiles, where: exp.Expression | None, declared: Mapping[str, Domain]
) -> Span | None:
    """What it can be in a row that matches, as far as that is public: values that were declared, and the conditions on them."""
    value = aggregate.value
    if aggregate.kind == "count" or value is None:
        return ONE
    names = {column.name for column in value.find_all(exp.Column)}
    if not names or not names <= set(declared) or prod(declared[name].size for name in names) > MOST_PAIRS:
        return _of_constants(value, files)
    own = [part for part in conjuncts(where) if {c.name for c in part.find_all(exp.Column)} <= names]
    among = [pa.table({name: declared[name].values}) for name in names]
    ends = files.ends(value, exp.and_(*own) if own else None, among)
    return ends or ((0.0, 0.0) if aggregate.kind == "sum" else (nan, nan))  # no row can match


def _of_constants(value: exp.Expression, files: CountedFiles) -> Span | None:
    """What a value can be that has numbers of the question only: a constant, a truth value, a CASE that chooses among them."""
    constants = _constants(value, files)
    if constants is None:
        return None
    ends = [files.ends(each, None, [pa.table({"one": [1]})]) for each in constants]
    known = [each for each in ends if each is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else (0.0, 0.0)


def _constants(value: exp.Expression, files: CountedFiles) -> list[exp.Expression] | None:
    """All that it can be; of a CASE that is cast, what each of its numbers is cast to: 2.5 as a whole number is 3."""
    inner = value.unnest()
    if isinstance(inner, exp.Case):
        branches = [each.args["true"] for each in inner.args["ifs"]]
        branches += [default] if (default := inner.args.get("default")) is not None else []
        found = [_constants(branch, files) for branch in branches]
        known = [constants for constants in found if constants is not None]
        return [each for constants in known for each in constants] if len(known) == len(found) else None
    if not inner.find(exp.Column):
        return [inner]
    if isinstance(inner, exp.Cast):
        within = _constants(inner.this, files)
        return [type(inner)(**{**inner.args, "this": each.copy()}) for each in within] if within is not None else None
    return [exp.true(), exp.false()] if files.kind(inner) == "BOOLEAN" else None
