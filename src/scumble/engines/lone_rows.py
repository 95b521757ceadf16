"""How many rows are alone with their values: by one statement, or by an engine that has a way in bounded memory."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from sqlglot import exp

from scumble.engines.engine import TABLE, Engine
from scumble.engines.expressions import column, count, number, select, table


@runtime_checkable
class CountsLoneRows(Protocol):
    """An engine that need not hold a line for nearly each row."""

    def lone_rows(self, columns: Sequence[str], rows: int) -> int:
        """How many rows of `release` are alone with their values; of so many, about."""


def lone_rows(engine: Engine, columns: Sequence[str], rows: int) -> int:
    """How many rows of `release` are alone with their values in some columns, of about so many."""
    if isinstance(engine, CountsLoneRows):
        return engine.lone_rows(columns, rows)
    return counted(engine, table(TABLE), columns)


def counted(engine: Engine, rows: exp.Expression, columns: Sequence[str]) -> int:
    """The same of any rows, in one statement that groups them."""
    alone = exp.select("1").from_(rows).group_by(*map(column, columns))
    one = exp.EQ(this=count(), expression=number(1))
    line = engine.run(select({"n": count()}, alone.having(one).subquery("alone")))
    return int(line.column("n")[0].as_py())
