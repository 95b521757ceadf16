"""The schema of a release in a PostgreSQL database: written in one transaction, read in one, and replaced only where it is a release of ours.

"flu"."release"             the published rows; of several tables, each as "release NAME"
"flu"."files"               the files of the release as they are in a folder, in parts
"flu"."manifest"            a view: the manifest, as JSON
"flu"."disease weighted"    a view: each row with its weights, for tools that know nothing of scumble
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from scumble.core.errors import ChangedRelease, ReleaseError
from scumble.core.stopping import look
from scumble.engines.postgres.connection import Database
from scumble.engines.postgres.types import TEXT, declared, demand_name, lines
from scumble.engines.sql import listed, quoted, text

MARK = "a release of scumble, "
"""How the comment of such a schema begins; the digest of its manifest follows."""
FILES, MANIFEST = "files", "manifest"
PART = 1 << 20
"""Bytes of a file in one row."""
BATCH = 20_000
"""Rows that are read at a time."""
CSV = pa.csv.WriteOptions(include_header=False, quoting_style="all_valid")
"""A missing value is nothing, and an empty text a pair of quotes: the server tells them apart."""


@dataclass(frozen=True)
class Held:
    """A table of a release: its name in the schema, its columns, and the files that have its rows."""

    name: str
    schema: pa.Schema
    files: Sequence[Path]


@dataclass(frozen=True)
class SchemaContent:
    """All that a schema of a release holds."""

    tables: Sequence[Held]
    files: Mapping[str, Path]
    views: Mapping[str, str]
    """The statement of each."""
    digest: str
    """That of the manifest."""


class Home:
    """A schema in a database."""

    def __init__(self, database: Database, schema: str) -> None:
        self.database, self.schema = database, schema

    def named(self, name: str) -> str:
        """A table of the schema."""
        return f"{quoted(self.schema)}.{quoted(name)}"

    def document(self, path: str) -> str:
        """The statement that shows a file of JSON."""
        whole = "string_agg(bytes, ''::bytea ORDER BY part)"
        return (
            f"SELECT convert_from({whole}, 'UTF8')::json AS manifest FROM {self.named(FILES)} WHERE path = {text(path)}"
        )

    def demand_writable(self, overwrite: bool, is_ours: Callable[["Home", Any], None]) -> None:
        """Refuses, before anything is published, a place that would be refused afterwards."""
        with self.database.reading() as connection:
            self._demand_free(connection, overwrite, is_ours)
            (encoding,) = connection.execute("SHOW server_encoding").fetchone()
            if encoding != "UTF8":
                raise ReleaseError(
                    f"the database keeps texts in {encoding}, which has not all letters; make one in UTF8"
                )

    def _demand_free(self, connection: Any, overwrite: bool, is_ours: Callable[["Home", Any], None]) -> bool:
        """Whether there is a release to be replaced."""
        found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [self.schema]).fetchone()
        if found is None:
            return False
        if not overwrite:
            raise ReleaseError(
                f"the schema {self.schema!r} exists and is kept; choose another name, or say --overwrite (overwrite=True)"
            )
        is_ours(self, connection)
        return True

    def write(self, written: SchemaContent, *, overwrite: bool, is_ours: Callable[["Home", Any], None]) -> None:
        """Everything in one transaction: whoever reads sees the release before, or this one, or none."""
        connection = self.database.connect()
        try:
            with self.database.one_line(), connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
                connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [self.schema])
                readers = self._removed(connection) if self._demand_free(connection, overwrite, is_ours) else []
                connection.execute(f"CREATE SCHEMA {quoted(self.schema)}")
                connection.execute(f"COMMENT ON SCHEMA {quoted(self.schema)} IS {text(MARK + written.digest)}")
                for table in written.tables:
                    self._fill(connection, table)
                self._keep_files(connection, written)
                for name, statement in written.views.items():
                    connection.execute(f"CREATE VIEW {self.named(demand_name(name, 'view'))} AS {statement}")
                for reader in readers:
                    connection.execute(f"GRANT USAGE ON SCHEMA {quoted(self.schema)} TO {reader}")
                    connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {quoted(self.schema)} TO {reader}")
        finally:
            connection.close()

    def _fill(self, connection: Any, table: Held) -> None:
        connection.execute(f"CREATE TABLE {self.named(demand_name(table.name, 'table'))} ({declared(table.schema)})")
        into = f"COPY {self.named(table.name)} ({listed(table.schema.names)}) FROM STDIN (FORMAT csv)"
        with connection.cursor() as cursor, cursor.copy(into) as copy:
            for path in table.files:
                with pq.ParquetFile(path) as file:
                    for batch in file.iter_batches(BATCH):
                        look()
                        sink = pa.BufferOutputStream()
                        pa.csv.write_csv(pa.Table.from_batches([lines(batch)]), sink, CSV)
                        copy.write(sink.getvalue())

    def _keep_files(self, connection: Any, written: SchemaContent) -> None:
        files = self.named(FILES)
        connection.execute(
            f"CREATE TABLE {files} (path {TEXT} NOT NULL, part integer NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (path, part))"
        )
        connection.execute(
            f"ALTER TABLE {files} ALTER COLUMN bytes SET STORAGE EXTERNAL"
        )  # they are compressed already
        for path, place in written.files.items():
            with place.open("rb") as file:
                for part, chunk in enumerate(iter(lambda: file.read(PART), b"")):
                    connection.execute(f"INSERT INTO {files} VALUES (%s, %s, %s)", [path, part, chunk])

    def _removed(self, connection: Any) -> list[str]:
        """Removes the release that is there, and says who may read all of it. What others have built on it is in the way, and is kept."""
        readers = self._readers(connection)
        kinds = {"v": "VIEW", "r": "TABLE"}
        for name, kind in sorted(self.relations(connection).items(), key=lambda each: each[1] != "v"):
            connection.execute(f"DROP {kinds[kind]} {self.named(name)} RESTRICT")
        connection.execute(f"DROP SCHEMA {quoted(self.schema)} RESTRICT")
        return readers

    def _readers(self, connection: Any) -> list[str]:
        """Roles that may use the schema and read everything in it, as statements name them."""
        may = (
            "SELECT acl.grantee FROM pg_namespace n, aclexplode(n.nspacl) acl "
            "WHERE n.nspname = %s AND acl.privilege_type = 'USAGE' AND acl.grantee <> n.nspowner "
            "AND NOT EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'v') AND NOT EXISTS "
            "(SELECT 1 FROM aclexplode(c.relacl) held WHERE held.grantee = acl.grantee AND held.privilege_type = 'SELECT'))"
        )
        roles = f"SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END FROM ({may}) AS may"
        return [role for (role,) in connection.execute(roles, [self.schema])]

    def relations(self, connection: Any) -> dict[str, str]:
        """The tables and views of the schema, with their kinds."""
        statement = (
            "SELECT c.relname, c.relkind::text FROM pg_class c JOIN pg_namespace n ON c.relnamespace = n.oid "
            "WHERE n.nspname = %s AND c.relkind NOT IN ('i', 't', 'I')"
        )
        return dict(connection.execute(statement, [self.schema]).fetchall())

    def comment(self, connection: Any) -> str:
        """What the schema says that it is."""
        statement = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s"
        found = connection.execute(statement, [self.schema]).fetchone()
        return str(found[0] or "") if found else ""

    def mark(self, connection: Any) -> tuple[Any, ...]:
        """What tells one version of the release from the next: the comment and the identities of its tables."""
        statement = (
            "SELECT array_agg(c.oid::bigint ORDER BY c.oid) FROM pg_class c JOIN pg_namespace n ON c.relnamespace = n.oid "
            "WHERE n.nspname = %s AND c.relkind IN ('r', 'v')"
        )
        return self.comment(connection), connection.execute(statement, [self.schema]).fetchone()[0]

    def bytes_of(self, connection: Any, path: str, most: int) -> Iterator[bytes]:
        """A file, part by part; one that is longer than it may be is refused."""
        statement = f"SELECT length(bytes), part FROM {self.named(FILES)} WHERE path = %s ORDER BY part"
        parts = connection.execute(statement, [path]).fetchall()
        if sum(length for length, _ in parts) > most:
            raise ChangedRelease(
                f"{path} of {self.schema!r} is longer than it may be; get the release again from its publisher"
            )
        for _, part in parts:
            statement = f"SELECT bytes FROM {self.named(FILES)} WHERE path = %s AND part = %s"
            yield bytes(connection.execute(statement, [path, part]).fetchone()[0])

    def paths(self, connection: Any) -> list[str]:
        """The files that there are."""
        return [path for (path,) in connection.execute(f"SELECT DISTINCT path FROM {self.named(FILES)} ORDER BY path")]

    def columns(self, connection: Any, table: str) -> list[str]:
        """The columns of a table, in their order; none where there is no such table."""
        statement = (
            "SELECT a.attname FROM pg_attribute a JOIN pg_class c ON a.attrelid = c.oid JOIN pg_namespace n ON c.relnamespace = n.oid "
            "WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
        )
        return [name for (name,) in connection.execute(statement, [self.schema, table])]

    def count(self, connection: Any, table: str) -> int:
        """How many rows a table has."""
        return int(connection.execute(f"SELECT count(*) FROM {self.named(table)}").fetchone()[0])

    @contextmanager
    def rows(self, table: Held) -> Iterator[pa.RecordBatchReader]:
        """The rows of a table, as its files would have them."""
        with self.database.reading() as connection, connection.cursor("scumble_rows") as cursor:
            cursor.itersize = BATCH
            cursor.execute(f"SELECT {listed(table.schema.names)} FROM {self.named(table.name)}")
            yield pa.RecordBatchReader.from_batches(table.schema, _batches(cursor, table.schema))

    def may_make_views(self, connection: Any) -> bool:
        """Whether the role may make a temporary one: not on a standby, and not where that right was taken from everybody."""
        statement = "SELECT has_database_privilege(current_database(), 'TEMP') AND NOT pg_is_in_recovery()"
        return bool(connection.execute(statement).fetchone()[0])

    def definitions(self, views: Mapping[str, str]) -> dict[str, tuple[str, str]]:
        """How the server writes down each view, and how it writes down the same statement anew; nothing is left of that."""
        connection, found = self.database.connect(), dict[str, tuple[str, str]]()
        definition = "SELECT pg_get_viewdef(%s::regclass)"
        try:
            with self.database.one_line(), connection.transaction(force_rollback=True):
                for place, (name, statement) in enumerate(views.items()):
                    connection.execute(f"CREATE TEMPORARY VIEW scumble_{place} AS {statement}")
                    (made,) = connection.execute(definition, [f"pg_temp.scumble_{place}"]).fetchone()
                    (held,) = connection.execute(definition, [self.named(name)]).fetchone()
                    found[name] = (held, made)
        finally:
            connection.close()
        return found


def _batches(cursor: Any, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    while rows := cursor.fetchmany(BATCH):
        look()
        columns = zip(*rows, strict=True)
        yield pa.RecordBatch.from_arrays(
            [_array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema=schema
        )


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_integer(kind):  # what has no type of its own there comes as a decimal
        values = [None if value is None else int(value) for value in values]
    return pa.array(values, kind)
