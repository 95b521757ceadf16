"""Which store belongs to an address."""

from typing import Any

from scumble.collect.store import Store
from scumble.core.errors import SurveyError


def open_store(address: Any, survey: str | None = None) -> Store:
    """The store at an address: the path of a file, or the URL of a PostgreSQL database.

    survey   the document of the survey that it is made for, where there is none yet; the one that it is of, where there is
    """
    text = str(address)
    if text.startswith(("postgresql://", "postgres://")):
        from scumble.collect.postgres_store import PostgresStore

        return PostgresStore(text, survey)
    if "://" in text and not text.startswith("sqlite:///"):
        raise SurveyError(f"a store is a file or a PostgreSQL database, and {text[:60]!r} is neither")
    from scumble.collect.sqlite_store import SqliteStore

    return SqliteStore(text.removeprefix("sqlite:///"), survey)
