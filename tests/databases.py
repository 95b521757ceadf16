"""Releases in the PostgreSQL server of the tests: statements run as its owner, and schemas of their own."""

import itertools
import os
from typing import Any

import pytest
from homes import of_postgres, postgres

_numbers = itertools.count()


def sql(statement: str, *values: Any) -> list[Any]:
    """What a statement gives, on a connection of its own."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres(), autocommit=True, connect_timeout=30) as connection:
        found = connection.execute(statement, values or None)
        return list(found.fetchall()) if found.description else []


def new_name() -> str:
    """A schema that nobody has."""
    return f"flu_{os.getpid()}_{next(_numbers)}"


def place(name: str) -> str:
    """The address of a release."""
    pytest.importorskip("psycopg")
    return of_postgres(postgres(), f"release={name}")


def drop(name: str) -> None:
    """Removes a schema with all that is in it."""
    sql(f'DROP SCHEMA IF EXISTS "{name}" CASCADE')
