"""What COUNT, SUM and AVG add up of counted tuples, refused by name where it is no number, and what it can be in rows that were suppressed."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, nan, prod
from typing import Any

import pyarrow as pa
from sqlglot import exp

from scumble.core.arrow_types import is_number
from scumble.core.domain import Domain
from scumble.core.errors import QueryError
from scumble.forms.tuples.counting import CountedTuples
from scumble.forms.tuples.statement import Summed
from scumble.forms.tuples.suppressed import Span
from scumble.query.model import Aggregate, written
from scumble.query.normalize import conjuncts

MOST_PAIRS = 4_000_000
"""Combinations of declared values that an expression of several columns is tried with, at most."""

ONE: Span = (1.0, 1.0)
"""What a row adds to a count."""


Ends = tuple[pa.DataType, Any, Any]
"""The type of a value, its least and its most."""


def ends_of(
    aggregates: Sequence[Aggregate], tuples: CountedTuples, where: exp.Expression | None
) -> dict[exp.Expression, Ends]:
    """The ends of all values that are summed, asked for at once."""
    values = list(dict.fromkeys(a.value for a in aggregates if a.kind != "count" and a.value is not None))
    return dict(zip(values, tuples.ends(values, where), strict=True)) if values else {}


def summed(aggregate: Aggregate, ends: Mapping[exp.Expression, Ends], boxes: bool) -> Summed:
    """What an aggregate adds up."""
    value = aggregate.value
    if aggregate.kind == "count" or value is None:
        return Summed(value)
    return Summed(value, _middle(aggregate, ends[value], boxes))


def _middle(aggregate: Aggregate, ends: Ends, boxes: bool) -> float:
    """A number in the middle of what is summed."""
    assert aggregate.value is not None
    value, (kind, low, high) = written(aggregate.value), ends
    asked = f"{aggregate.kind.upper()}({value})"
    if not (is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind)):  # true counts as 1
        if boxes:
            raise QueryError(
                f"{asked}: a release of boxes has ranges such as '0..49' in the place of numbers, and they are text; "
                "count them: SELECT ..., COUNT(*) FROM release GROUP BY ..."
            )
        raise QueryError(f"{asked} needs numbers, and {value} is of type {kind}")
    if low is None:
        return 0.0
    if not (isfinite(low) and isfinite(high)):
        raise QueryError(
            f"{asked} is not a number, because some published values are infinite or NaN; leave them out, WHERE isfinite({value})"
        )
    return float(low) + (float(high) - float(low)) / 2


def possible(
    aggregate: Aggregate,
    tuples: CountedTuples,
    where: exp.Expression | None,
    declared: Mapping[str, Domain],
    ends: Mapping[exp.Expression, Ends],
) -> Span | None:
    """What it can be in a row that matches, as far as that is public: values that were declared, and the conditions on them."""
    value = aggregate.value
    if aggregate.kind == "count" or value is None:
        return ONE
    names = list(dict.fromkeys(column.name for column in value.find_all(exp.Column)))
    if not names or not set(names) <= set(declared) or prod(declared[name].size for name in names) > MOST_PAIRS:
        return _of_constants(value, tuples, bool(pa.types.is_boolean(ends[value][0])))
    own = [part for part in conjuncts(where) if {c.name for c in part.find_all(exp.Column)} <= set(names)]
    among = {name: declared[name].values for name in names}
    reached = tuples.ends_among(value, exp.and_(*own) if own else None, among)
    return reached or ((0.0, 0.0) if aggregate.kind == "sum" else (nan, nan))  # no row can match


def _of_constants(value: exp.Expression, tuples: CountedTuples, truth: bool) -> Span | None:
    """What a value can be that has numbers of the question only: a constant, a truth value, a CASE that chooses among them."""
    constants = _constants(value, lambda inner: truth if inner is value.unnest() else tuples.is_truth(inner))
    if constants is None:
        return None
    known = tuples.constants(constants)
    return (min(known), max(known)) if known else (0.0, 0.0)


def _constants(value: exp.Expression, is_truth: Callable[[exp.Expression], bool]) -> list[exp.Expression] | None:
    """All that it can be; of a CASE that is cast, what each of its numbers is cast to: 2.5 as a whole number is 3."""
    inner = value.unnest()
    if isinstance(inner, exp.Case):
        branches = [arg.args["true"] for arg in inner.args["ifs"]]
        branches += [default] if (default := inner.args.get("default")) is not None else []
        per_branch = [_constants(branch, is_truth) for branch in branches]
        known = [constants for constants in per_branch if constants is not None]
        return [constant for constants in known for constant in constants] if len(known) == len(per_branch) else None
    if not inner.find(exp.Column):
        return [inner]
    if isinstance(inner, exp.Cast):
        within = _constants(inner.this, is_truth)
        return [type(inner)(**{**inner.args, "this": value.copy()}) for value in within] if within is not None else None
    return [exp.true(), exp.false()] if is_truth(inner) else None
