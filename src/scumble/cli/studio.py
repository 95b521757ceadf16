"""scumble studio: publish, check and sign by clicking."""

import os
from pathlib import Path
from typing import Annotated

import typer


def command(
    folder: Annotated[Path, typer.Argument(help="The folder of tables and projects; this one when absent.")] = Path(),
    port: Annotated[int, typer.Option(help="The port to listen at; 0 for any that is free.", min=0, max=65535)] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, and open no browser.")] = False,
    insecure_seed: Annotated[
        int | None, typer.Option(help="INSECURE: repeatable coins, for tests; each manifest will say so.")
    ] = None,
) -> None:
    """Open the studio in a browser: a table, its roles and its privacy, the release and its report; for an officer, a release to verify, audit and sign."""
    from scumble.core.errors import InputError
    from scumble.studio.server import serve

    try:
        os.chdir(folder)  # commands run here, and addresses of databases may be relative to it
    except OSError:
        raise InputError(f"there is no folder {str(folder)!r}; projects are folders in it") from None
    serve(Path(), port, insecure_seed, not no_browser, lambda line: print(line, flush=True))
