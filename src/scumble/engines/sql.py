"""Names and files as SQL writes them, whatever stands in them."""

from collections.abc import Iterable
from pathlib import Path

from sqlglot import exp

from scumble.core.errors import TableError

WILDCARDS = "[*?"
"""What stands for other characters where an engine reads the name of a file."""


def quoted(name: str) -> str:
    """A column's name.

    >>> print(quoted('a "b"'))
    "a ""b\"""
    """
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text.

    >>> print(text("it's"))
    'it''s'
    """
    return "'" + value.replace("'", "''") + "'"


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


def rows_drawn(copies: str | None) -> exp.Expression:
    """How many rows were drawn, where a column says how often each of them stands in the table.

    >>> print(rows_drawn('a "b"').sql())
    CAST(ROUND(SUM(1.0 / "a ""b\""")) AS BIGINT)
    """
    if copies is None:
        return exp.Count(this=exp.Star())
    share = exp.Div(this=exp.Literal.number("1.0"), expression=exp.column(copies, quoted=True))
    return exp.cast(exp.Round(this=exp.Sum(this=share)), "BIGINT")


def literal(file: Path) -> str:
    """A file's name, whole from the root, such that the engine takes it for this one file and for no pattern or address.

    >>> print(literal(Path("/data/survey[12]*.csv")))
    /data/survey[[]12][*].csv
    """
    name = str(file.absolute())
    if not set(WILDCARDS) & set(name):
        return name
    if "\\" in name:  # in a pattern it hides the next character, or parts folders: versions of the engine differ
        raise TableError(
            f"{name!r} has a backslash beside one of {' '.join(WILDCARDS)}, which cannot be read; rename it"
        )
    return "".join(f"[{character}]" if character in WILDCARDS else character for character in name)


def parquet(files: Iterable[Path]) -> str:
    """The rows of files, with the columns that they have themselves: a folder called year=2024 adds none.

    >>> print(parquet([Path("/it's.parquet")]))
    read_parquet(['/it''s.parquet'], hive_partitioning = false)
    """
    names = ", ".join(text(literal(file)) for file in files)
    return f"read_parquet([{names}], hive_partitioning = false)"
