"""scumble collect close: from a store to a release."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    store: Annotated[
        str, typer.Argument(help="The store: a file, or postgresql://...?store=NAME.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The release to write.", show_default=False)],
    period: Annotated[
        str | None, typer.Option(help="Of a survey with periods: the one to close, such as 2027-05.")
    ] = None,
    early: Annotated[bool, typer.Option("--early", help="Close a period that is not over.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a release that exists, if nothing else is in its folder.")
    ] = False,
) -> None:
    """Close a survey into a release: no more answers are taken, rows are shuffled, and the order of arrival is gone."""
    from scumble.cli.output import in_place_is_done
    from scumble.cli.progress import progress_bar
    from scumble.cli.shown import summary
    from scumble.collect.closing import close_survey

    with in_place_is_done(out):
        with progress_bar("closing"):
            closed = close_survey(store, out, period=period, early=early, overwrite=overwrite)
        print(f"wrote {out}: {closed.release.manifest.rows:,} answers")
        summary(closed.release)
        for check in closed.checks:
            if not check.passed:
                print(f"FAIL  {check.name}: {check.detail}")
        print(
            "verified"
            if closed.sound
            else "NOT VERIFIED: what came in is not what respondents by the survey would send"
        )
    if not closed.sound:
        raise typer.Exit(1)
