"""Names and files as SQL writes them, whatever stands in them."""

from collections.abc import Iterable
from pathlib import Path


def quoted(name: str) -> str:
    """A column's name.

    >>> print(quoted('a "b"'))
    "a ""b\"""
    """
    return '"' + name.replace('"', '""') + '"'


def named(name: str) -> str:
    """The same for people: without quotes that it does not need.

    >>> print(named("age"), named("post code"))
    age "post code"
    """
    return name if name.isidentifier() else quoted(name)


def listed(names: Iterable[str]) -> str:
    """Several columns.

    >>> print(listed(["a", "b"]))
    "a", "b"
    """
    return ", ".join(map(quoted, names))


def parquet(files: Iterable[Path]) -> str:
    """The rows of files.

    >>> print(parquet([Path("it's.parquet")]))
    read_parquet(['it''s.parquet'])
    """
    return "read_parquet([" + ", ".join("'" + str(file).replace("'", "''") + "'" for file in files) + "])"
