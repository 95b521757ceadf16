"""scumble explore: the page of a release that anybody can ask by clicking."""

from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.output import in_place_is_done


def command(
    release: Annotated[str, typer.Argument(help="The release.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = Path("explore.html"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
) -> None:
    """Write the page on which a release is asked by clicking; a release that was published by this version has it already."""
    from scumble.release.explore import explore
    from scumble.release.explore_facts import data_files
    from scumble.release.release import open_release
    from scumble.web.explore import in_page

    opened = open_release(release)
    path = explore(opened, out, overwrite=overwrite)
    data = data_files(opened.manifest)
    with in_place_is_done(path):
        whole = "the table is in it" if in_page(data) else f"it asks for {', '.join(file.path for file in data[:3])}"
        print(f"{path}: {path.stat().st_size / 1000:,.0f} kB, {whole}; open it in a browser")
