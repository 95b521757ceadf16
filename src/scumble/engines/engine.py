"""The protocol of an engine: another SQL system is one more file with these four things."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.core.domain import Domain

TABLE = "release"
"""The name under which a question knows the published table."""

FALSE, TRUE, UNKNOWN = 0, 1, 2
"""The truth values of SQL, as `truth` gives them."""


class Axis(Protocol):
    """A column whose values are put into cells."""

    @property
    def name(self) -> str:
        """The column."""

    @property
    def domain(self) -> Domain:
        """Its values."""

    @property
    def cells(self) -> npt.NDArray[np.intp]:
        """The cell of each value."""

    @property
    def count(self) -> int:
        """How many cells there are."""


class Engine(Protocol):
    """Runs statements over one published table, which it knows as `release`."""

    dialect: str
    """What sqlglot calls the engine's SQL."""

    def run(self, statement: exp.Expression) -> pa.Table:
        """The result of a statement."""

    def truths(self, asked: Sequence[tuple[exp.Expression, str, pa.Array]]) -> list[npt.NDArray[np.int8]]:
        """The truth values of predicates on one column each, for each of its values; the published table is not touched."""

    def tally(self, axes: Sequence[Axis]) -> npt.NDArray[np.int64] | None:
        """How many rows lie in each combination of cells, in the order of the axes; None where running the statement is the way."""


def truth_case(predicate: exp.Expression, unit: int = 1) -> exp.Expression:
    """A predicate as a number: 1 where it is true, 0 where it is false, 2 where SQL does not know; times a unit."""
    denied = exp.Not(this=exp.Paren(this=predicate.copy()))
    return exp.Case(
        ifs=[
            exp.If(this=predicate.copy(), true=exp.Literal.number(TRUE * unit)),
            exp.If(this=denied, true=exp.Literal.number(FALSE)),
        ],
        default=exp.Literal.number(UNKNOWN * unit),
    )
