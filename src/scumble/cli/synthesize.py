"""scumble synthesize: rows drawn from what a release lets be estimated."""

from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.progress import progress_bar
from scumble.core.errors import ParameterError


def command(
    releases: Annotated[list[str], typer.Argument(help="The release, or several.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .parquet or .csv.", show_default=False)],
    rows: Annotated[
        int | None, typer.Option(help="How many to draw; as many as the release has when absent.", show_default=False)
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="A column to draw. Several times for several; all when absent.", show_default=False),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(help="Where to write the page; beside the rows when absent.", show_default=False),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The same draws again.", show_default=False)] = None,
    timeout: Annotated[
        str | None, typer.Option(help="The seconds that it may take; 600 when absent.", show_default=False)
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
) -> None:
    """Draw synthetic rows from the joint of columns that a release lets be estimated, with a page on where they agree with it."""
    from scumble.api import open
    from scumble.core.atomic import demand_file
    from scumble.core.extras import need
    from scumble.release.synthetic import demand_kind

    beside = page or out.with_suffix(".html")
    demand_kind(out)
    if out.absolute() == beside.absolute():
        raise ParameterError(f"the rows and their page cannot both be {out}; name another file for the page (--page)")
    for path in (out, beside):
        demand_file(path, overwrite)
        _demand_outside(path)
    need("jinja2", "report")
    with progress_bar("drawing"):
        synthetic = open(*releases).synthesize(rows, columns=column or None, seed=seed, timeout=timeout)
        synthetic.write(out, overwrite=overwrite)
        synthetic.page(beside, overwrite=overwrite)
    print(
        f"{out}: {len(synthetic):,} synthetic rows, which are not data; {beside} says where they agree with the release"
    )


def _demand_outside(path: Path) -> None:
    """Refuses a file in the folder of a release, which would be no release any more."""
    from scumble.release.manifest import NAME

    if any((folder / NAME).is_file() for folder in path.absolute().parents):
        raise ParameterError(
            f"{str(path)!r} lies in the folder of a release, which is kept as it is; name a file elsewhere"
        )
