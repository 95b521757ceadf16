"""What the commands print with."""

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as RichTable

from scumble.cli.progress import progress_bar as progress_bar
from scumble.core.atomic import in_place
from scumble.core.display import Card, Grid, Note, cell, plain
from scumble.core.failure import flush, leave, say, sentence

if TYPE_CHECKING:
    from scumble.spec.spec import Spec

TABLES = ".csv, .parquet, a folder of either, .arrow, .jsonl, .xlsx, .dta, .sav, or the URL of a table in PostgreSQL or SQLite"
"""What a table may be, for the help of commands."""


class Format(StrEnum):
    """How a result is printed."""

    TEXT = "text"
    JSON = "json"


class Output(Console):
    """A console that says when nobody reads it any more; rich would end the process with the code of a failed check."""

    def on_broken_pipe(self) -> None:
        """Called while the failure to write is handled."""
        raise BrokenPipeError


def console() -> Console:
    """Standard output, without guessing at numbers and paths, and without taking [brackets] in a value for a style."""
    return Output(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 200)


def listed(names: list[str] | None) -> list[str]:
    """Names that were given by several options, or by one and separated by commas."""
    return [part.strip() for name in names or () for part in name.split(",")]


def whole_or_word(given: str | None) -> int | str | None:
    """A whole number where it is one, else the word."""
    return int(given) if given is not None and given.isdecimal() else given


def spec_with_rest(path: Path, rest: str | None) -> "Spec":
    """The spec in a file, with what becomes of columns that have no role."""
    from scumble.core.errors import ParameterError
    from scumble.spec.spec import REST, read_spec

    if rest not in (None, "drop"):
        raise ParameterError(REST.format(rest))
    spec = read_spec(path)
    return spec if rest is None else spec.model_copy(update={"rest": rest})


def print_json(result: Any) -> None:
    """A result for programs. What has no bound, or no value, is null: JSON has no numbers for it."""
    ascii_only = not (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
    print(json.dumps(_finite(result), indent=1, ensure_ascii=ascii_only, default=str, allow_nan=False))


@contextmanager
def in_place_is_done(out: str | Path) -> Iterator[None]:
    """Once an output has its name the command has done what it was asked. Whatever fails afterwards is told in a line, and is no failure of it."""
    try:
        yield
        flush()
    except BaseException as error:
        if not in_place(Path(out)):
            raise
        if sys.stdout is sys.__stdout__:
            leave(1)
        say(f"scumble: {out} is in place; what is to be told about it is not whole: {sentence(error)}")


def _finite(result: Any) -> Any:
    if isinstance(result, float):
        return result if math.isfinite(result) else None
    if isinstance(result, dict):
        return {key: _finite(value) for key, value in result.items()}
    return [_finite(value) for value in result] if isinstance(result, list | tuple) else result


LEAST_WORDS = 12
"""Characters that a column of words has at least, where it has as many."""

STYLES = {"plain": "", "heading": "bold", "strong": "bold red", "faint": "dim"}


def print_card(card: Card) -> None:
    """A result for people: what a notebook shows of it, in the terminal's own means."""
    out = console()
    if card.title:
        out.print(plain(card.title), style="bold")
    for part in card.parts:
        if isinstance(part, Grid):
            wide = console()
            wide.width = max(out.width, least_width(part))
            wide.print(rich_table(part))
        elif isinstance(part, Note):
            out.print(part.text(), style=STYLES[part.weight])
        else:
            out.print(f"\n{plain(part.heading)}:", style="bold")
            for sentence in part.sentences:
                out.print(f"  - {plain(sentence)}")


def least_width(grid: Grid) -> int:
    """What a table needs for whole numbers, and for words that are broken; a narrower terminal gets longer lines, and no shorter numbers."""
    longest = [max(len(cell(value)) for value in column) for column in zip(grid.headings, *grid.rows, strict=True)]
    return sum(min(width, LEAST_WORDS) if i in grid.left else width for i, width in enumerate(longest)) + 2 * len(
        longest
    )


def rich_table(grid: Grid) -> RichTable:
    """A table for people; words are broken where the terminal is narrow, numbers never are."""
    table = RichTable(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for place, heading in enumerate(grid.headings):
        words = place in grid.left
        table.add_column(
            cell(heading),
            justify="left" if words else "right",
            no_wrap=not words,
            overflow="fold",
            style="dim" if heading == "± se" else "",
        )
    for row in grid.rows:
        table.add_row(*(cell(value) for value in row))
    return table
