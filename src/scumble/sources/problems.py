"""What is wrong with a table that cannot be read, in one line: which file, which line, and what to do."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from scumble.core.errors import TableError

HELD = {
    "INT": "whole numbers",
    "DOUBLE|FLOAT|DECIMAL": "numbers",
    "DATE|TIMESTAMP": "dates",
    "TIME": "times",
    "BOOL": "true or false",
}
"""Types that the beginning of a CSV file is found to have, and what they are called."""

CSV_COMPLAINTS = (
    "Error when",
    "Expected Number",
    "Invalid unicode",
    "Value with",
    "Maximum line",
    "The CSV Parser",
    "Missing",
)


@contextmanager
def one_line(path: Path, *errors: type[Exception]) -> Iterator[None]:
    """Whatever a reader says about a broken file, on one line and with the file's name; `errors` are those of its own."""
    try:
        yield
    except FileNotFoundError:
        raise TableError(f"there is no table at {str(path)!r}") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError, *errors) as error:
        raise TableError(f"{path.name} cannot be read: {first_line(error)}") from None


def first_line(error: Exception) -> str:
    """The sentence that says what is wrong, and for a CSV file in which line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    place = next((match[1] for line in lines if (match := re.search(r"CSV Error on Line: (\d+)", line))), None)
    if place is None:
        return lines[0][:300] if lines else type(error).__name__
    said = next((line for line in lines if line.startswith(CSV_COMPLAINTS)), lines[0])
    misfit = re.search(r'converting column "(.*)"\. Could not convert string "(.*)" to \'(\w+)\'', said)
    if misfit:
        name, value, kind = misfit.groups()
        before = next((words for types, words in HELD.items() if re.search(types, kind)), kind)
        return (
            f"line {place}: column {name!r} has {value!r} where the first rows have {before}; "
            f"clean it, or read the column as text (--text {name})"
        )
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", said)
    if fields:
        return f"line {place} has {fields[2]} fields, and the first line names {fields[1]}; mend the line"
    if "unicode" in said:
        return f"line {place} has bytes that its encoding does not have; say which it has (?encoding=cp1252 behind the name), or save it as UTF-8"
    return f"line {place}: {said.rstrip('.')}; mend the line"


def demand_names(names: Sequence[str], source: str) -> None:
    """Every column has a name of its own, also where capitals do not count."""
    lower = [name.strip().lower() for name in names]
    twice = next((name for i, name in enumerate(names) if lower[i] in lower[:i]), None)
    if twice is not None or "" in lower:
        what = f"two columns called {twice!r}" if twice is not None else "a column without a name"
        raise TableError(f"{source} has {what}; give every column a name of its own")


def without_index(schema: pa.Schema) -> pa.Schema:
    """What pandas calls a row is not a column of the table, and would tell the order of the source."""
    return pa.schema([field for field in schema if not re.fullmatch(r"__index_level_\d+__", field.name)])
