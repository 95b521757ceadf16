"""What the commands print with."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as RichTable

from scumble.estimate import Estimates

if TYPE_CHECKING:
    from scumble.release.press import Progress


class Format(StrEnum):
    """How a result is printed."""

    TEXT = "text"
    JSON = "json"


def console() -> Console:
    """Standard output, without guessing at numbers and paths."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 200)


def print_json(result: Any) -> None:
    """A result for programs."""
    print(json.dumps(result, indent=1, ensure_ascii=False, default=str))


def print_estimates(answer: Estimates) -> None:
    """An answer for people."""
    headings, rows = answer.table()
    table = RichTable(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    groups = set(answer.groups.schema.names)
    for heading in headings:
        table.add_column(
            heading,
            justify="left" if heading in groups else "right",
            no_wrap=True,
            style="dim" if heading == "± se" else "",
        )
    for row in rows:
        table.add_row(*row)
    out = console()
    out.print(table)
    for line in answer.footer():
        out.print(line, style="dim", markup=False)


@contextmanager
def progress_bar(label: str) -> Iterator["Progress | None"]:
    """A bar on the terminal; nothing where there is none."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(label, total=None)
        yield lambda done, of: bars.update(task, completed=done, total=of)
