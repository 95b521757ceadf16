"""scumble query: SQL in, estimates with intervals out."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.output import print_card, print_json
from scumble.cli.progress import progress_bar
from scumble.core.errors import ParameterError


class Shape(StrEnum):
    """How an answer is printed."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def command(
    releases: Annotated[
        list[str],
        typer.Argument(
            help="The release, or several, and then the question: SELECT ... FROM release ...", show_default=False
        ),
    ],
    on: Annotated[
        str | None,
        typer.Option(help="Several releases with other columns of the same rows: the row id that they share."),
    ] = None,
    level: Annotated[str, typer.Option(help="How often an interval holds the truth.")] = "0.95",
    method: Annotated[
        str,
        typer.Option(
            help="How to estimate: unbiased, likelihood (never negative), small_area (groups borrow strength, right on average), or fab (shorter intervals that hold for each line)."
        ),
    ] = "unbiased",
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Of small_area and fab: a public column of GROUP BY that tells what groups have in common. Several times for several; all of them when absent.",
            show_default=False,
        ),
    ] = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            help="A code list that the release may be joined with: NAME=FILE (CSV, Parquet). Several times for several.",
            show_default=False,
        ),
    ] = None,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Intervals of all lines that hold together.")
    ] = False,
    cut: Annotated[
        bool, typer.Option("--cut", help="Estimates too are cut to what is possible, as intervals always are.")
    ] = False,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare", help="Whether lines differ: all pairs, with intervals and p-values that hold together."
        ),
    ] = False,
    independence: Annotated[
        bool,
        typer.Option(
            "--independence", help="Whether two columns are independent: SELECT a, b, COUNT(*) ... GROUP BY a, b."
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="A file to draw the answer into as well: .svg, .png, or .html.", show_default=False),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a plot that exists.")] = False,
    timeout: Annotated[
        str | None, typer.Option(help="The seconds that the question may take; 600 when absent.", show_default=False)
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="The memory that it may take, 2GiB when absent.", show_default=False)
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="What counts the published rows: duckdb when absent, or a Spark: local[*], spark://HOST:PORT, sc://HOST:PORT.",
            show_default=False,
        ),
    ] = None,
    format: Annotated[
        Shape, typer.Option(help="text for people, json or csv for programs, markdown for documents.")
    ] = Shape.TEXT,
) -> None:
    """Ask a release a question: counts, sums, averages, shares, deviations, quantiles, by any groups."""
    from scumble.api import open

    *paths, sql = releases
    if not paths:
        raise ParameterError('a question has two parts: scumble query NAME.release "SELECT ... FROM release ..."')
    if compare or independence:
        _demand_test(compare and independence, method, simultaneous or cut or model is not None)
    if plot is not None:
        _demand_plot(plot, overwrite)
    with progress_bar("asking"):
        release = open(*paths, on=on, engine=engine, memory=memory)
        answer = (
            release.test(sql, independence=independence, level=level, tables=_tables(table), timeout=timeout)
            if compare or independence
            else release.query(
                sql,
                level=level,
                method=method,
                tables=_tables(table),
                simultaneous=simultaneous,
                cut=cut,
                model=model or None,
                timeout=timeout,
            )
        )
    if plot is not None:
        answer.plot(plot, overwrite=overwrite)
    if format is Shape.TEXT:
        print_card(answer.card())
        return
    if format is Shape.JSON:
        print_json(answer.to_list())
    else:
        print(answer.to_csv() if format is Shape.CSV else answer.to_markdown(), end="")
    for note in answer.notes:
        print(f"note: {note}", file=sys.stderr)


def _demand_test(both: bool, method: str, ways: bool) -> None:
    """A test goes by the unbiased estimates, and holds for all lines together anyway."""
    if both:
        raise ParameterError("--compare and --independence are two questions; ask one at a time")
    if method != "unbiased" or ways:
        raise ParameterError(
            "a test is of unbiased estimates that are not cut, for all lines together; leave out --method, --model, --cut and --simultaneous"
        )


def _demand_plot(path: Path, overwrite: bool) -> None:
    """Before the question is asked: a file that can be written, and what draws it."""
    from scumble.core.atomic import demand_file
    from scumble.core.extras import need
    from scumble.query.plotted import demand_kind

    demand_kind(path)
    demand_file(path, overwrite)
    need("altair", "report")


def _tables(options: list[str] | None) -> dict[str, str]:
    """NAME=FILE as a name and a file."""
    pairs = [option.partition("=") for option in options or ()]
    for name, equals, file in pairs:
        if not (name.isidentifier() and equals and file):
            raise ParameterError(f"--table takes NAME=FILE, codes=codes.csv say, and not {name + equals + file!r}")
    return {name: file for name, _, file in pairs}
