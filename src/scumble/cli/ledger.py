"""scumble ledger: what was published of whom, and what it comes to together."""

from pathlib import Path
from typing import Annotated

import typer

from scumble.cli.output import Format, print_card, print_json


def command(
    ledger: Annotated[Path, typer.Argument(help="The ledger, which stands beside the key.", show_default=False)],
    format: Annotated[Format, typer.Option(help="text for people, json for programs.")] = Format.TEXT,
) -> None:
    """Show what was published of how many people, by which coins, and what all of it tells of whoever is in all releases."""
    from scumble import api

    book = api.ledger(ledger)
    if format is Format.JSON:
        print_json([entry.model_dump(mode="json") for entry in book.entries])
    else:
        print_card(book.card())
