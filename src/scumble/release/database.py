"""A release that lives in a PostgreSQL database: put there, opened, and checked.

The schema holds the very files of a release, manifest and Parquet files byte for byte, and beside them the rows as tables. So the hashes of the
manifest mean there what they mean in a folder, and the tables are held to the files: the same rows, each as often.
"""

import os
import re
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa

from scumble.core.errors import ChangedRelease, InputError, ReleaseError
from scumble.core.once import once
from scumble.core.scratch import private_folder, remove_all
from scumble.engines import demand_engine, open_engine
from scumble.engines.duckdb.same_rows import differing_rows
from scumble.engines.engine import TABLE, Engine
from scumble.engines.postgres.connection import Database
from scumble.engines.postgres.engine import Postgres
from scumble.engines.postgres.homes import FILES, MANIFEST, MARK, Held, Home, SchemaContent
from scumble.forms.files import schema_of
from scumble.forms.form import PART
from scumble.release.check import Check, caution
from scumble.release.document import LARGEST
from scumble.release.folder import same_text
from scumble.release.gate import AGAIN
from scumble.release.manifest import NAME, Manifest, read_manifest
from scumble.release.release import Release, changed
from scumble.release.weighted_views import weighted_views
from scumble.sources.address import ReleaseAddress, release_address

if TYPE_CHECKING:
    from scumble.engines import Choice

WEIGHT = re.compile(rb"(?<=')-?[0-9][0-9.e+-]*(?='::double precision)")
"""A weight, as the server writes it."""


class DatabaseRelease(Release):
    """A release whose questions are answered where its rows are. Whatever reads its files reads a private copy, which is fetched when it is needed."""

    in_folder = False

    def __init__(self, address: ReleaseAddress, engine: "Choice", timeout: Any, memory: Any) -> None:
        self.home = Home(Database(address.url, address.shown), address.name)
        self._shown_as = address.shown
        with self.home.database.reading() as connection:
            self._mark = self.home.mark(connection)
            folder = Path(_private()) / address.name
            manifest = _manifest(self.home, connection, folder)
            super().__init__(folder, manifest, engine, timeout, memory)
            _demand_tables(self.home, connection, manifest)

    @property
    def path(self) -> Path:
        """A private folder with a copy of its files."""
        return self._copy

    @once
    def _copy(self) -> Path:
        """Fetched in one transaction, and compared with its hashes."""
        with self.home.database.reading() as connection:
            return _fetched(self.home, connection, self.manifest)

    def demand_same(self) -> None:
        """Refuses to go on where another version has its name now."""
        with self.home.database.reading() as connection:
            if self.home.mark(connection) != self._mark:
                raise ChangedRelease(f"{self._shown_as} was replaced since it was opened; open it again")

    def _make_engine(self) -> Engine:
        if self.choice is not None:
            return open_engine(self.tables, self.choice)
        held = _names(self.manifest)
        places = {TABLE: (self.home.schema, held[0]), **{name: (self.home.schema, name) for name in held}}
        whole = [c.name for c in self.manifest.columns if re.fullmatch(r"u?int\d+", c.type)]
        return Postgres(self.home.database, places, whole, lambda: self.tables)

    def home_checks(self) -> list[Check]:
        """The tables have the rows of the files, the views are ours, and nothing else is there."""
        return [_rows_check(self), _views_check(self), _strays_check(self)]


def open_database(url: str, engine: "Choice" = None, timeout: Any = None, memory: Any = None) -> DatabaseRelease:
    """The release of an address. Its manifest is checked against its digest, its tables by their columns and numbers of rows; `verify` compares every row."""
    demand_engine(engine)
    return DatabaseRelease(release_address(url), engine, timeout, memory)


def demand_home(url: str, overwrite: bool) -> ReleaseAddress:
    """The address that a release is to be put at, where that can be done."""
    address = release_address(url)
    Home(Database(address.url, address.shown), address.name).demand_writable(overwrite, _demand_ours)
    return address


def put(folder: Path, address: ReleaseAddress, overwrite: bool) -> None:
    """Puts the release of a folder into a database, all of it in one transaction."""
    home = Home(Database(address.url, address.shown), address.name)
    release = Release(folder, read_manifest(folder))
    tables = _tables(release)
    views = _views(release, home)
    files = {name: release.file(name) for name in [file.path for file in release.manifest.files]} | {
        NAME: folder / NAME
    }
    home.write(SchemaContent(tables, files, views, release.manifest.digest), overwrite=overwrite, is_ours=_demand_ours)


def _names(manifest: Manifest) -> list[str]:
    """What the tables are called, as questions know them."""
    return [PART.format(table.name) for table in manifest.form.tables] or [TABLE]


def _layout(manifest: Manifest) -> Sequence[tuple[list[str], list[str]]]:
    return manifest.form.layout([column.name for column in manifest.columns], manifest.data)


def _tables(release: Release) -> list[Held]:
    """The tables as the files have them."""
    held = []
    for name, (_, paths) in zip(_names(release.manifest), _layout(release.manifest), strict=True):
        files = [release.file(path) for path in paths]
        held.append(Held(name, schema_of(files[0], paths[0]).remove_metadata(), files))
    return held


def _views(release: Release, home: Home) -> dict[str, str]:
    return {MANIFEST: home.document(NAME), **weighted_views(release, home.named(TABLE))}


def _manifest(home: Home, connection: Any, folder: Path) -> Manifest:
    """The manifest, in a folder of its own."""
    if not home.comment(connection).startswith(MARK) or FILES not in home.relations(connection):
        raise ReleaseError(f"there is no release {home.schema!r} in the database; ask its publisher for its address")
    folder.mkdir()
    with (folder / NAME).open("wb") as file:
        file.writelines(home.bytes_of(connection, NAME, LARGEST))
    return read_manifest(folder)


def _fetched(home: Home, connection: Any, manifest: Manifest) -> Path:
    folder = Path(_private()) / home.schema
    again = _manifest(home, connection, folder)
    if again.digest != manifest.digest:
        raise ChangedRelease(f"the release {home.schema!r} was replaced since it was opened; open it again")
    for file in manifest.files:
        with _new_file(folder, file.path) as written:
            written.writelines(home.bytes_of(connection, file.path, file.bytes))
        if problem := changed(folder, file):
            raise ChangedRelease(problem)
    return folder


def _new_file(folder: Path, path: str) -> BinaryIO:
    """A file of the release, which nothing lies in the place of; refused where a manifest lists one below another, or its own name."""
    place = folder / path
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        return place.open("xb")
    except (FileExistsError, NotADirectoryError):
        raise ChangedRelease(f"the manifest lists {path[:80]!r} in the place of another file; {AGAIN}") from None


def _demand_tables(home: Home, connection: Any, manifest: Manifest) -> None:
    """Every table is there, with its columns and as many rows as the manifest says."""
    rows = {file.path: file.rows or 0 for file in manifest.files}
    for name, (columns, files) in zip(_names(manifest), _layout(manifest), strict=True):
        found, expected = home.columns(connection, name), sum(rows[path] for path in files)
        if found != columns or home.relations(connection).get(name) != "r":
            raise ChangedRelease(f"the table {name!r} of {home.schema!r} has not the columns of the manifest; {AGAIN}")
        if (count := home.count(connection, name)) != expected:
            raise ChangedRelease(
                f"the table {name!r} of {home.schema!r} has {count:,} rows, and {expected:,} in the manifest; {AGAIN}"
            )


def _demand_ours(home: Home, connection: Any) -> None:
    """Refuses to replace anything but a release of ours as it was written."""
    kept = f"so it is kept; choose another name ({home.schema!r} exists)"
    place = Path(_private())
    try:
        manifest = _manifest(home, connection, place / home.schema)
        _demand_tables(home, connection, manifest)
    except ReleaseError as error:
        raise ReleaseError(f"the schema is not a release of this scumble, {kept}: {error}") from None
    finally:
        remove_all(place)
    known = {*_names(manifest), FILES, MANIFEST}
    weights = {f"{name} weighted" for name in manifest.sensitive}
    for name, kind in home.relations(connection).items():
        if (name not in known and name not in weights) or kind not in ("r", "v"):
            raise ReleaseError(f"the schema holds {name!r}, which the release did not write, {kept}")


def _rows_check(release: DatabaseRelease) -> Check:
    """Each table beside its files."""
    for table in _tables(release):
        try:
            with release.home.rows(table) as rows:
                differing = differing_rows(table.files, rows)
        except (pa.ArrowException, OverflowError, TypeError, InputError) as error:
            return Check("database", False, f"the table {table.name!r} cannot be compared with its files: {error}")
        if differing:
            detail = (
                f"{differing:,} rows of the table {table.name!r} and of its files differ: somebody changed it; {AGAIN}"
            )
            return Check("database", False, detail)
    return Check("database", True, "the tables have the rows of the files, each as often")


def _views_check(release: DatabaseRelease) -> Check:
    """The views do what follows from the manifest."""
    home, expected = release.home, _views(release, release.home)
    with home.database.reading() as connection:
        held = {name for name, kind in home.relations(connection).items() if kind == "v"}
        comparable = home.may_make_views(connection)
    if held != set(expected):
        detail = f"its views are not those that follow from the manifest ({', '.join(sorted(held ^ set(expected)))})"
        return Check("views", False, f"{detail}; {AGAIN}")
    if not comparable:
        return caution("views", "they were not compared: this role may make no temporary view here to lay beside them")
    same = partial(same_text, weight=WEIGHT)
    for name, (found, made) in home.definitions(expected).items():
        if not same(found.encode(), made.encode()):
            return Check("views", False, f"the view {name!r} is not the one that follows from the manifest; {AGAIN}")
    return Check("views", True, f"{len(expected)} views do what follows from the manifest")


def _strays_check(release: DatabaseRelease) -> Check:
    home = release.home
    with home.database.reading() as connection:
        more = set(home.paths(connection)) - {NAME, *(file.path for file in release.manifest.files)}
        tables = {name for name, kind in home.relations(connection).items() if kind != "v"}
        said = home.comment(connection)
    stray = sorted(more | (tables - {*_names(release.manifest), FILES}))
    if stray:
        detail = f"{stray[0]!r} lies in the schema, and the manifest does not list it: whoever reads the schema reads that too"
        return Check("schema", False, f"{detail}; remove it, or publish again")
    if said != MARK + release.manifest.digest:
        return Check("schema", False, f"the comment of the schema is not that of the release; {AGAIN}")
    return Check("schema", True, "nothing lies in it that the manifest does not list")


def _private() -> str:
    return tempfile.mkdtemp(prefix="database-", dir=private_folder(os.getpid()))
