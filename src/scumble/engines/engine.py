"""The protocol of an engine: another SQL system is one more file with these things."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from scumble.core.domain import Domain
from scumble.engines.expressions import cast, column, number, select

TABLE = "release"
"""The name under which a question knows the published table."""

FALSE, TRUE, UNKNOWN = 0, 1, 2
"""The truth values of SQL, as `truths` gives them."""

LOOKUP = "scumble lookup"
"""A hint in the `meta` of a CASE over the words of one column: an engine may look them up in a list."""

Rows: TypeAlias = Sequence[Path] | pa.Table | exp.Query
"""Where the rows of a table are: Parquet files, memory, or a statement over tables that are named before it."""

Tables: TypeAlias = Mapping[str, Rows]


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


Predicates = Sequence[tuple[exp.Expression, str, pa.Array]]
"""Conditions on one column each, with its name and the values that it can have."""


class Engine(Protocol):
    """Runs statements over the tables that it was opened on; a question knows one of them as `release`.

    Several threads may ask at once, and so may the child of a fork. Waiting for the database, an engine calls `scumble.core.stopping.look` now and
    then, which raises where the question was cancelled or its time is over.
    """

    dialect: str
    """What sqlglot calls the engine's SQL."""

    def run(self, statement: exp.Query) -> pa.Table:
        """The result of a statement. What cannot be computed is a QueryError."""

    def register(self, name: str, table: pa.Table, *, everywhere: bool = False) -> None:
        """Makes a table in memory known under a name, instead of any that had it: to this thread, or everywhere."""

    def unregister(self, name: str) -> None:
        """Forgets it."""

    def truths(self, asked: Predicates) -> list[npt.NDArray[np.int8]]:
        """The truth values of predicates, for each of the values; the published tables are not touched."""

    def tally(self, axes: Sequence[Axis]) -> npt.NDArray[np.int64] | None:
        """How many rows of `release` lie in each combination of cells, in the order of the axes; None where running the statement is the way."""


Opener = Callable[[Tables], Engine]


@contextmanager
def registered(engine: Engine, tables: Mapping[str, pa.Table]) -> Iterator[None]:
    """Tables that an engine knows for a while."""
    try:
        for name, table in tables.items():
            engine.register(name, table)
        yield
    finally:
        for name in tables:
            engine.unregister(name)


def truths_by_statement(engine: Engine, asked: Predicates) -> list[npt.NDArray[np.int8]]:
    """`Engine.truths` in one statement over tables of the values."""
    starts = np.cumsum([0, *(len(values) for _, _, values in asked)])
    tables, parts = dict[str, pa.Table](), list[exp.Select]()
    for i, (predicate, name, values) in enumerate(asked):
        places = pa.array(np.arange(starts[i], starts[i + 1]))
        tables[f"scumble_domain_{i}"] = pa.table([values, places], [name, "scumble place"])
        truth = cast(truth_case(predicate), exp.DataType.Type.SMALLINT)
        parts.append(select({"place": column("scumble place"), "truth": truth}, f"scumble_domain_{i}"))
    with registered(engine, tables):
        table = engine.run(exp.union(*parts, distinct=False) if len(parts) > 1 else parts[0])
    every = np.empty(starts[-1], dtype=np.int8)
    place, truth = (table.column(name).combine_chunks().to_numpy(zero_copy_only=False) for name in ("place", "truth"))
    every[place.astype(np.intp)] = truth
    return np.split(every, starts[1:-1])


def truth_case(predicate: exp.Expression, unit: int = 1) -> exp.Expression:
    """A predicate as a number: 1 where it is true, 0 where it is false, 2 where SQL does not know; times a unit."""
    denied = exp.Not(this=exp.Paren(this=predicate.copy()))
    ifs = [exp.If(this=predicate.copy(), true=number(TRUE * unit)), exp.If(this=denied, true=number(FALSE))]
    return exp.Case(ifs=ifs, default=number(UNKNOWN * unit))
