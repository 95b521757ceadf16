"""scumble sign: put one's name under exactly this release."""

from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.progress import progress_bar


def command(
    release: Annotated[str | None, typer.Argument(help="The release.", show_default=False)] = None,
    key: Annotated[Path | None, typer.Option(help="The file of a private key of Ed25519, PKCS8 or OpenSSH.")] = None,
    name: Annotated[str | None, typer.Option(help="Who signs; the name of the key's file when absent.")] = None,
    new_key: Annotated[
        Path | None, typer.Option(help="Write a new key to this file, and the public one to FILE.pub.")
    ] = None,
) -> None:
    """Sign a release that verifies: its digest, your name, the time and the verdict, into its folder of signatures."""
    from scumble.core.errors import ParameterError
    from scumble.release.keys import new_key as make
    from scumble.release.signing import sign

    if new_key is not None:
        public = make(new_key)
        print(f"{new_key}: your private key, which nobody else may have; {public}: the public one, for who verifies")
        key = key or new_key
        if release is None:
            return
    if release is None or key is None:
        raise ParameterError("signing takes a release and --key FILE; --new-key FILE makes a key")
    with progress_bar("verifying"):
        path = sign(release, key, name=name)
    print(f"{path}: signed; whoever has your public key checks it by scumble verify --by KEY")
