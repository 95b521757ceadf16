"""Statements that an interruption stops.

DuckDB turns a result into Arrow in one call that looks at no signal until it is over. So the statement runs on a thread of its own while the
main thread, the only one that Python interrupts, waits for it.
"""

import threading
from concurrent.futures import ThreadPoolExecutor, wait

import duckdb
import pyarrow as pa

LOOK = 0.05
"""Seconds between two looks at whether somebody wants the end."""


def arrow(connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """The result of a statement."""
    if threading.current_thread() is not threading.main_thread():
        return connection.sql(sql).to_arrow_table()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(lambda: connection.sql(sql).to_arrow_table())
        try:
            while not running.done():
                wait([running], timeout=LOOK)  # a signal that another thread got is seen by the main one when it wakes
            return running.result()
        finally:
            while not running.done():
                connection.interrupt()  # again, where it came before the statement had begun
                wait([running], timeout=LOOK)
