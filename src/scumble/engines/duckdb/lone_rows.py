"""Counting rows that are alone with their values, in bounded memory.

Where nearly every row is alone, one GROUP BY holds nearly every row. So rows are counted by two hashes of their values, 16 bytes a row whatever the
values are, which the engine can put aside; and in several scans, each of the rows whose first hash falls into its part, where even that is too much.
Two rows with different values have both hashes alike with a probability of about 2^-128. Small tables are counted by the values themselves.
"""

from collections.abc import Sequence

from sqlglot import exp

from scumble.core.memory import of_engine
from scumble.engines.engine import TABLE, Engine
from scumble.engines.expressions import column, number, select, table
from scumble.engines.lone_rows import counted

BY_VALUES = 200
"""Bytes of the engine's memory for each row, from which on rows are counted by their values."""
BY_HASHES = 16
"""Those that a row of a part has at least where it is counted by its hashes; the engine puts the rest aside."""
MOST_PARTS = 64

FIRST, SECOND = "scumble first", "scumble second"


def lone_rows_in_parts(engine: Engine, names: Sequence[str], rows: int) -> int:
    """How many rows are alone with their values in the named columns, of about so many."""
    memory = of_engine()
    if rows * BY_VALUES <= memory:
        return counted(engine, table(TABLE), names)
    parts = max(1, min(MOST_PARTS, -(-rows * BY_HASHES // memory)))
    return sum(counted(engine, _part(names, part, parts), [FIRST, SECOND]) for part in range(parts))


def _part(names: Sequence[str], part: int, parts: int) -> exp.Expression:
    """The hashes of the rows of a part."""
    columns = [column(name) for name in names]
    first, second = exp.func("HASH", *columns), exp.func("HASH", number(1), *reversed(columns))
    mine = exp.EQ(this=exp.Mod(this=first.copy(), expression=number(parts)), expression=number(part))
    return select({FIRST: first, SECOND: second}, TABLE, [mine] if parts > 1 else []).subquery("hashed")
