"""scumble verify: does a release keep what its manifest says?"""

from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.output import Format, print_json
from scumble.cli.progress import progress_bar
from scumble.core.display import plain


def command(
    releases: Annotated[
        list[str], typer.Argument(help="The release, or several that are read as one.", show_default=False)
    ],
    on: Annotated[
        str | None,
        typer.Option(help="Several releases with other columns of the same rows: the row id that they share."),
    ] = None,
    by: Annotated[Path | None, typer.Option(help="The file of a public key whose owner must have signed.")] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="The publisher's secret key of keyed coins: is what they were drawn for as stated?"),
    ] = None,
    version_1: Annotated[
        bool, typer.Option("--version-1", help="The release is of the first version of the format, which says less.")
    ] = False,
    format: Annotated[Format, typer.Option(help="text for people, json for programs.")] = Format.TEXT,
) -> None:
    """Check hashes, manifest, guarantees, and the channel against the published data."""
    from scumble.api import open, verify
    from scumble.core.errors import ChangedRelease
    from scumble.release.check import Check

    try:
        with progress_bar("verifying"):
            opened = open(*releases, on=on)
            checks = verify(opened, by=by, version_1=version_1, key=key)
    except ChangedRelease as error:
        opened, checks = None, [Check("hashes", False, str(error))]
    if format is Format.JSON:
        print_json([{"check": c.name, "passed": c.passed, "standing": c.standing, "detail": c.detail} for c in checks])
    else:
        for check in checks:
            print(f"{check.mark}  {plain(check.name)}: {plain(check.detail)}")
        if any(check.standing == "word" for check in checks) and not any(check.name == "signed by" for check in checks):
            print("SAID is what a release cannot show: whoever signed it stands by that, `scumble verify --by KEY`")
        if opened is not None:
            for part in opened.parts or [opened]:
                print(f"digest {part.manifest.digest}")
    if not all(check.passed for check in checks):
        raise typer.Exit(1)
