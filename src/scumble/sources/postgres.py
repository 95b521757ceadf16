"""A table, view or query of a PostgreSQL database, by ADBC: Arrow batches, as the server sends them.

Everything is read in one transaction of REPEATABLE READ, so that a mechanism that reads twice reads the same rows, whatever
others write meanwhile. Scans begin at the table's beginning and run in one process: the order is the same both times.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from scumble.core.errors import TableError, did_you_mean
from scumble.core.extras import need
from scumble.engines.sql import listed
from scumble.sources import source
from scumble.sources.address import address
from scumble.sources.problems import demand_names

SNAPSHOT = (
    "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "SET LOCAL synchronize_seqscans = off",
    "SET LOCAL max_parallel_workers_per_gather = 0",
)


class PostgresSource:
    """What an address names, in one snapshot."""

    stable = True
    rows: int | None = None
    files: Sequence[Path] = ()

    @staticmethod
    def opens(thing: Any) -> bool:
        """Whether it is the URL of such a database."""
        return isinstance(thing, str) and thing.startswith(("postgresql://", "postgres://"))

    def __init__(self, thing: Any, *, text: Sequence[str] = ()) -> None:
        self._address = address(thing)
        self.name = self._address.shown
        driver = need("adbc_driver_postgresql.dbapi", "postgres")
        self._error: type[Exception] = need("adbc_driver_manager", "postgres").Error
        with self._one_line():
            self._connection = driver.connect(self._address.url)
            with self._connection.cursor() as cursor:
                for statement in SNAPSHOT:
                    cursor.execute(statement)
        sent = self._sent()
        demand_names(sent.names, self.name)
        for name in text:
            if name not in sent.names:
                raise TableError(f"column {name!r} is not in {self.name}{did_you_mean(name, sent.names)}")
        words = [] if text is source.EVERY else text  # its columns have types of their own
        fields = [
            pa.field(field.name, pa.string() if field.name in words else _plain_type(field.type)) for field in sent
        ]
        self.schema: pa.Schema = pa.schema(fields)

    def batches(self, columns: Sequence[str]) -> Generator[pa.RecordBatch]:
        """The named columns; numbers of any precision as doubles, enumerations and identifiers as text."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        statement = f"SELECT {listed(columns)} FROM {self._address.source}"
        with self._one_line(), self._connection.cursor() as cursor:
            cursor.execute(statement)
            for batch in cursor.fetch_record_batch():
                arrays = [_plain(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
                plain = pa.RecordBatch.from_arrays(arrays, schema=schema)
                for start in range(0, plain.num_rows, source.BATCH):
                    yield plain.slice(start, source.BATCH)

    def _sent(self) -> pa.Schema:
        """The columns as the driver sends them."""
        with self._one_line(), self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {self._address.source} LIMIT 0")
            return cursor.fetch_record_batch().schema

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        """What the server or the network says, in one line and without the address."""
        try:
            yield
        except (self._error, pa.ArrowException, OSError) as error:
            raise TableError(f"{self.name} cannot be read: {_said(error)}") from None


def _said(error: Exception) -> str:
    """The first sentence of a complaint, without the driver's prefixes."""
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    for prefix in ("Failed to prepare query: ", "Failed to connect: ", "ERROR:"):
        first = first.rpartition(prefix)[2]
    return first.strip().rstrip(".")[:300]


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if not isinstance(kind, pa.BaseExtensionType):
        return kind
    return pa.float64() if getattr(kind, "type_name", "") == "numeric" else pa.string()


def _plain(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """A column without the driver's own types."""
    if isinstance(column.type, pa.UuidType):
        return pa.array([None if value is None else str(value) for value in column.to_pylist()], kind)
    storage = column.storage if isinstance(column, pa.ExtensionArray) else column
    return storage if storage.type == kind else pc.cast(storage, kind)
