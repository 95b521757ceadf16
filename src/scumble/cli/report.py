"""scumble report: one page about a release that a data-protection officer can read, print and sign."""

from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.output import in_place_is_done
from scumble.cli.progress import progress_bar


def command(
    releases: Annotated[
        list[str], typer.Argument(help="The release, or several that are read as one.", show_default=False)
    ],
    on: Annotated[
        str | None,
        typer.Option(help="Several releases with other columns of the same rows: the row id that they share."),
    ] = None,
    raw: Annotated[
        str | None,
        typer.Option(help="The table that it was made from: writes the internal edition, with the truth in it."),
    ] = None,
    external: Annotated[
        bool,
        typer.Option(
            "--external", help="The edition that can be published beside the release; it refuses the raw table."
        ),
    ] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="With --raw: try other mechanisms at the same privacy; takes longer.")
    ] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = Path("report.html"),
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace a file that is no report; an earlier report is replaced anyhow."),
    ] = False,
) -> None:
    """Write the report of a release as one HTML page: what it promises, what attacks get, how exact answers are."""

    from scumble.api import open
    from scumble.reporting import report, require

    require()
    with progress_bar("report") as progress:
        path = report(
            open(*releases, on=on),
            out,
            raw=raw,
            external=external,
            compare=compare,
            overwrite=overwrite,
            progress=progress,
        )
    edition = "internal edition, not for publication" if raw is not None else "external edition"
    with in_place_is_done(path):
        print(f"{path}: {edition}, {path.stat().st_size / 1000:,.0f} kB, one file that loads nothing")
