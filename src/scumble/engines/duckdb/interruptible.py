"""Statements that an interruption, the end of their time or another thread stops.

DuckDB turns a result into Arrow in one call that looks at nothing until it is over. So the statement runs on a thread of its own while the
thread that asks waits for it: in the main one Python raises what Ctrl-C does, and every one looks at the time (core/stopping.py).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import duckdb
import pyarrow as pa

from scumble.core.stopping import current

LOOK = 0.05
"""Seconds between two looks at whether somebody wants the end."""

T = TypeVar("T")


def arrow(connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """The result of a statement."""
    return interruptible(connection, lambda: connection.sql(sql).to_arrow_table())


def interruptible(connection: duckdb.DuckDBPyConnection, work: Callable[[], T]) -> T:
    """What is done with a connection, as long as nobody wants its end."""
    question = current()
    with ThreadPoolExecutor(1) as pool:
        doing = pool.submit(work)
        try:
            while not doing.done():
                if question is not None:
                    question.look()
                wait([doing], timeout=LOOK)  # a signal that another thread got is seen by the main one when it wakes
            return doing.result()
        finally:
            while not doing.done():
                connection.interrupt()  # again, where it came before the statement had begun
                wait([doing], timeout=LOOK)
