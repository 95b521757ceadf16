"""What an aggregate is: how it is read from a question, and what forms add up for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

Kind = Literal["count", "sum", "avg", "quantile", "extreme", "distinct"]
"""The rows that have a value, the sum of a value, or the quotient of the two, which every form can tell; and what rows tell of more than sums."""

LINEAR: tuple[Kind, ...] = ("count", "sum", "avg")
"""What every form can tell."""


@dataclass(frozen=True)
class Aggregation:
    """An aggregate, apart from what it is taken of."""

    name: str
    """What its column in the answer is called, before the names of the columns that it is about."""
    kind: Kind
    """What forms add up for it."""
    read: Callable[[exp.Expression], exp.Expression | None]
    """What it is taken of; None for all rows. What cannot be answered is a QueryError."""
