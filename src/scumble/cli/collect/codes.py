"""scumble collect codes: codes that let people answer, one each."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    survey: Annotated[Path, typer.Argument(help="The survey (JSON).", show_default=False)],
    store: Annotated[str, typer.Option(help="The store of the survey; made where there is none.", show_default=False)],
    count: Annotated[int, typer.Option(help="How many.", min=1, max=1_000_000, show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write, a code a line.", show_default=False)],
) -> None:
    """Make codes and hand them out: each lets one person answer once. The store keeps their hashes alone."""
    from scumble.collect.coding import write_codes

    write_codes(survey, store, count, out)
    print(f"wrote {count:,} codes to {out}, which nobody else may have; the store knows their hashes")
