"""scumble collect demo: a survey from end to end, with made-up people."""

from pathlib import Path
from typing import Annotated

import typer


def command(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to make.")] = Path("demo-collect"),
    people: Annotated[int, typer.Option(help="How many people answer.", min=1600, max=1_000_000)] = 2000,
    pause: Annotated[
        float, typer.Option(help="Seconds between two shares of the answers, to look at the pages.", min=0, max=600)
    ] = 5.0,
) -> None:
    """Serve a survey on this machine, let made-up people answer it, watch the intervals shrink, and close it into a release."""
    from scumble.collect.rehearsal import rehearse

    closed = rehearse(out, people, pause, lambda line: print(line, flush=True))
    print(
        f'ask it: scumble query {closed.release.path} "SELECT sex, illness, COUNT(*) FROM release GROUP BY sex, illness"'
    )
    if not closed.sound:
        raise typer.Exit(1)
