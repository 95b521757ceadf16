"""Columns that were perturbed as one: a part is a function of the whole, and is asked for as one.

    occupation   ->   CAST(NULLIF(SPLIT_PART(job, ' | ', 1), '(missing)') AS BIGINT)

What it is for each combination is asked of the domain, as every function of a perturbed column is; weights are summed over the other parts by that.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import pyarrow as pa
from sqlglot import exp

from scumble.core.arrow_types import is_text, named_type
from scumble.core.combined import MISSING, SEPARATOR
from scumble.engines.expressions import Type, cast, column
from scumble.query.model import Aggregate, Group, Query


@dataclass(frozen=True)
class PartColumn:
    """A column of the table, as a part of a published one."""

    whole: str
    place: int
    """Its number among the parts, from 1."""
    type: pa.DataType

    @property
    def expression(self) -> exp.Expression:
        """Its value, by that of the whole."""
        text = exp.func("SPLIT_PART", column(self.whole), exp.Literal.string(SEPARATOR), exp.Literal.number(self.place))
        known = exp.Nullif(this=text, expression=exp.Literal.string(MISSING))
        if is_text(self.type):
            return known
        kind = (
            Type.BOOLEAN
            if pa.types.is_boolean(self.type)
            else Type.DATE
            if pa.types.is_date(self.type)
            else Type.BIGINT
        )
        return cast(known, kind)


Parts = Mapping[str, PartColumn]
"""The parts, by the names that the table has for them."""


def parts_of(whole: str, kinds: Mapping[str, str]) -> dict[str, PartColumn]:
    """The parts of a column, of their names and types in order."""
    return {name: PartColumn(whole, place + 1, named_type(kind)) for place, (name, kind) in enumerate(kinds.items())}


def of_wholes(query: Query, parts: Parts) -> Query:
    """The question with every part by what it is of its whole."""
    if not parts:
        return query
    return replace(
        query,
        where=None if query.where is None else _spelt(query.where, parts),
        groups=[_output(group, parts) for group in query.groups],
        outputs=[_output(output, parts) for output in query.outputs],
    )


Output = TypeVar("Output", bound=Aggregate | Group)


def _output(output: Output, parts: Parts) -> Output:
    if isinstance(output, Group):
        return replace(output, expression=_spelt(output.expression, parts))
    return output if output.value is None else replace(output, value=_spelt(output.value, parts))


def _spelt(expression: exp.Expression, parts: Parts) -> exp.Expression:
    root = exp.Paren(this=expression.copy())  # so that what is replaced has a parent
    for named in list(root.find_all(exp.Column)):
        if named.name in parts:
            named.replace(parts[named.name].expression)
    whole: exp.Expression = root.this
    return whole.pop()
