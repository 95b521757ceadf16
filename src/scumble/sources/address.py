"""The address of a table or a release in a database: what of a URL is ours, what the driver gets, and what messages may say.

    postgresql://user@host/db?table=patients        a table or view, with its schema before a dot where it needs one
    postgresql://user@host/db?query=SELECT ...      what a statement gives
    postgresql://user@host/db?release=flu           a release that lives there
    sqlite:///file.db?table=patients                a file, relative to the working directory; sqlite:////var/file.db is absolute

A password in a URL ends in shell histories, specs and logs, so that it is refused: drivers take it from the environment, a
password file or a service file.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from scumble.core.errors import ReleaseError, TableError
from scumble.engines.sql import quoted

OWN = ("table", "query", "release")
"""Parameters that are taken off before a driver sees the URL."""

PASSWORD = (
    "a password does not belong into the address of a database, where shell history and logs keep it; put it into PGPASSWORD, "
    "a .pgpass file or a service file, and leave it out here"
)


@dataclass(frozen=True)
class Address:
    """A table in a database, or what a statement gives there."""

    url: str
    """What the driver gets: without our own parameters."""
    scheme: str
    path: str
    table: str | None
    query: str | None

    @property
    def shown(self) -> str:
        """What messages call it: no host, no user."""
        what = f"table {self.table!r}" if self.table else "the query"
        return f"{what} of the database {self.path.rpartition('/')[2]!r}"

    @property
    def source(self) -> str:
        """What stands behind FROM."""
        if self.table:
            return ".".join(quoted(part) for part in self.table.split("."))
        return f"({(self.query or '').rstrip().rstrip(';')}) AS source"


def is_url(thing: Any) -> bool:
    """Whether something is an address rather than a path."""
    return isinstance(thing, str | os.PathLike) and "://" in str(thing)


def beside(spec: Path, table: str) -> str:
    """The table that a spec names, whose path is taken as relative to the spec; an address stays as it is."""
    return table if is_url(table) else str(spec.parent / table)


def seen_from(folder: Path, table: str) -> str:
    """How a spec in a folder names a table."""
    return table if is_url(table) else os.path.relpath(table, folder)


def behind(thing: Any) -> tuple[Path, str]:
    """A path and what is said behind it; a file whose own name has a question mark is taken by its name.

    >>> behind("book.xlsx?sheet=Patients")
    (PosixPath('book.xlsx'), 'sheet=Patients')
    """
    where, _, asked = str(thing).rpartition("?")
    return (Path(thing), "") if not where or os.path.exists(thing) else (Path(where), asked)


def option_of(asked: str, known: str, name: str) -> str | None:
    """The one option that may be said behind a path; any other is refused."""
    given = parse_qsl(asked, keep_blank_values=True)
    if asked and [key for key, value in given if value] != [known]:
        raise TableError(f"{name} takes ?{known}=... behind it, not {asked!r}")
    return given[0][1] if given else None


def address(url: str) -> Address:
    """The address that a URL is, which must name a table or a query.

    >>> it = address("postgresql://me@host/clinic?table=public.patients&sslmode=require")
    >>> it.url, it.source, it.shown
    ('postgresql://me@host/clinic?sslmode=require', '"public"."patients"', "table 'public.patients' of the database 'clinic'")
    """
    parts, given = urlsplit(url), _given(url)
    _demand_no_password(parts, given)
    own = {name: given.pop(name) for name in OWN if name in given}
    table, query = own.get("table") or None, own.get("query") or None
    if (table is None) == (query is None):
        raise TableError(
            f"the address of a database names a table or a query: {parts.scheme}://...?table=NAME or ?query=SELECT ..."
        )
    return Address(_plain(parts, given), parts.scheme, unquote(parts.path), table, query)


NAME = re.compile(r"\w[\w .-]*")
RESERVED = ("public", "information_schema")
LONGEST = 63
"""Bytes of a name that PostgreSQL does not cut."""


@dataclass(frozen=True)
class ReleaseAddress:
    """A release in a database: what the driver gets, and the name of its schema."""

    url: str
    name: str
    database: str

    @property
    def shown(self) -> str:
        """What messages call it: no host, no user."""
        return f"the release {self.name!r} of the database {self.database!r}"


def is_release(thing: Any) -> bool:
    """Whether something is the address of a release in a database, or is meant to be."""
    return (
        is_url(thing) and urlsplit(str(thing)).scheme in ("postgresql", "postgres") and "release" in _given(str(thing))
    )


def release_address(url: str) -> ReleaseAddress:
    """The address of a release that a URL is.

    >>> it = release_address("postgresql://me@host/clinic?release=flu&sslmode=require")
    >>> it.url, it.name, it.shown
    ('postgresql://me@host/clinic?sslmode=require', 'flu', "the release 'flu' of the database 'clinic'")
    """
    parts, given = urlsplit(url), _given(url)
    _demand_no_password(parts, given)
    own = {name: given.pop(name) for name in OWN if name in given}
    if parts.scheme not in ("postgresql", "postgres") or list(own) != ["release"]:
        raise ReleaseError("a release in a database has an address such as postgresql://user@host/db?release=NAME")
    name = own["release"]
    if not NAME.fullmatch(name) or len(name.encode()) > LONGEST or name.startswith("pg_") or name in RESERVED:
        raise ReleaseError(
            f"a release in a database has a name of letters, digits, '_', '-', '.' and spaces, up to {LONGEST} bytes, none of the "
            f"server's own, not {name[:LONGEST]!r}; choose another one"
        )
    return ReleaseAddress(_plain(parts, given), name, unquote(parts.path).rpartition("/")[2])


def _given(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))


def _demand_no_password(parts: SplitResult, given: Mapping[str, str]) -> None:
    if parts.password or "password" in given:
        raise TableError(PASSWORD)


def _plain(parts: SplitResult, given: Mapping[str, str]) -> str:
    """The URL with these parameters alone."""
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(given, quote_via=quote), ""))
