"""Where tables live: how one comes to be where each source reads it, and a PostgreSQL server for the tests."""

import atexit
import json
import sqlite3
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from toys.source import TABLES


@cache
def postgres() -> str:
    """The URL of a server that is started at the first call and ends with the tests."""
    pgserver = pytest.importorskip("pgserver", reason="pgserver has no wheel for this Python")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = pgserver.get_server(tempfile.mkdtemp(prefix="scumble-pg-"))
    atexit.register(server.cleanup)
    return str(server.get_uri())


def of_postgres(url: str, asked: str) -> str:
    """The address of a table or a query."""
    return f"{url}{'&' if '?' in url else '?'}{asked}"


def _postgres(table: pa.Table, folder: Path) -> Any:
    driver = pytest.importorskip("adbc_driver_postgresql.dbapi")
    name = f"t{abs(hash(str(folder)))}"
    with driver.connect(postgres()) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(name, table, mode="replace")
        connection.commit()
    return of_postgres(postgres(), f"table={name}")


def _parquet(table: pa.Table, folder: Path) -> Any:
    pq.write_table(table, folder / "t.parquet")
    return folder / "t.parquet"


def _csv(table: pa.Table, folder: Path) -> Any:
    pa.csv.write_csv(table, folder / "t.csv")
    return folder / "t.csv"


def _toy(table: pa.Table, folder: Path) -> Any:
    TABLES["toy://people"] = table
    return "toy://people"


def _json_lines(table: pa.Table, folder: Path) -> Any:
    (folder / "t.jsonl").write_text("\n".join(json.dumps(row) for row in table.to_pylist()))
    return folder / "t.jsonl"


def _excel(table: pa.Table, folder: Path) -> Any:
    pytest.importorskip("openpyxl")
    table.to_pandas().to_excel(folder / "t.xlsx", index=False)
    return folder / "t.xlsx"


def _stata(table: pa.Table, folder: Path) -> Any:
    pyreadstat = pytest.importorskip("pyreadstat")
    pyreadstat.write_dta(table.to_pandas(), str(folder / "t.dta"))
    return folder / "t.dta"


def _sqlite(table: pa.Table, folder: Path) -> Any:
    kinds = {"string": "TEXT", "int64": "INTEGER", "double": "REAL", "bool": "BOOLEAN"}
    columns = ", ".join(f'"{field.name}" {kinds[str(field.type)]}' for field in table.schema)
    connection = sqlite3.connect(folder / "t.db")
    with connection:
        connection.execute(f"CREATE TABLE t ({columns})")
        marks = ", ".join("?" * table.num_columns)
        connection.executemany(f"INSERT INTO t VALUES ({marks})", zip(*table.to_pydict().values(), strict=True))
    connection.close()
    return f"sqlite:///{folder / 't.db'}?table=t"


def _arrow(table: pa.Table, folder: Path) -> Any:
    with pa.OSFile(str(folder / "t.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return folder / "t.arrow"


def _lazy(table: pa.Table, folder: Path) -> Any:
    polars = pytest.importorskip("polars")
    return polars.from_arrow(table).lazy()


HOMES: dict[str, Callable[[pa.Table, Path], Any]] = {
    "ParquetSource": _parquet,
    "CsvSource": _csv,
    "FrameSource": lambda table, folder: table,
    "LazyFrameSource": _lazy,
    "ArrowFileSource": _arrow,
    "JsonLinesSource": _json_lines,
    "ExcelSource": _excel,
    "StatisticsFileSource": _stata,
    "PostgresSource": _postgres,
    "SqliteSource": _sqlite,
    "ToySource": _toy,
}
"""A table, and what `read` is given for it."""
