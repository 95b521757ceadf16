"""The command line: one file a command.

Exit codes: 0 done, 1 a verification that fails, 2 wrong use or input or what the system refused, 130 interrupted.
"""

import sys
import warnings
from functools import cache
from typing import Annotated, Any

import typer
import typer.main

from scumble import __version__
from scumble.cli import (
    advise,
    audit,
    collect,
    compare,
    demo,
    explore,
    init,
    ledger,
    plan,
    publish,
    query,
    report,
    show,
    sign,
    studio,
    synthesize,
    verify,
)
from scumble.core.errors import InputError, UndecidedColumns

app = typer.Typer(
    name="scumble",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="To see it work: scumble demo. With a table of your own: scumble init TABLE.",
)

IN_SHORT = {
    init: "Write a first spec for a table, to be read and edited.",
    plan: "What a spec will promise, and how exact answers will be.",
    publish: "Publish a table by a spec, or by flags.",
    show: "What a release promises, and what it does not cover.",
    query: "Ask a release in SQL; answers come with intervals.",
    explore: "Write the page on which a release is asked by clicks.",
    synthesize: "Draw synthetic rows from what a release tells.",
    ledger: "What was published of whom, and what it comes to.",
    verify: "Check that a release is what its manifest says.",
    sign: "Put your name under a release that verifies.",
    audit: "Attack a release, or a table that another tool made.",
    compare: "What each mechanism costs at the same privacy.",
    advise: "Find the spec for the accuracy that you need.",
    report: "Write the page to be read and signed.",
    studio: "All of it by clicking, in a browser of this machine.",
    collect: "Have people perturb their own answers, and serve it.",
    demo: "Publish a made-up hospital, with the truth beside it.",
}
"""A line for each command, in the order of the first screen, where a terminal of 80 columns has room for it."""

for module, line in IN_SHORT.items():
    name = module.__name__.rsplit(".", 1)[-1]
    if hasattr(module, "app"):
        app.add_typer(module.app, name=name, short_help=line)
    else:
        app.command(name=name, short_help=line)(module.command)


WRONG_USE: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""What the parser of the command line raises: click's own class, which newer versions of typer bring along under another name."""


def version(wanted: bool) -> None:
    """Prints the version and ends."""
    if wanted:
        print(f"scumble {__version__}")
        raise typer.Exit


@app.callback()
def scumble(
    version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Publish a table so that no row gives its person away, and ask it questions whose answers come with intervals."""


@cache
def _commands() -> Any:
    """All commands with their options, put together once: that takes longer than a small table takes to publish."""
    return typer.main.get_command(app)


def run() -> int:
    """Runs a command; a mistake in use or input is one line and exit code 2, a warning one line."""
    warnings.showwarning = lambda message, *_: print(f"warning: {message}", file=sys.stderr)
    try:
        return int(_commands()(standalone_mode=False, prog_name="scumble") or 0)
    except UndecidedColumns as error:
        print(f"scumble: {error}", file=sys.stderr)
    except InputError as error:
        print(f"scumble: {' '.join(str(error).split())}", file=sys.stderr)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except WRONG_USE as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
        else:
            sentence = " ".join(error.format_message().split()).rstrip(".")
            print(f"scumble: {sentence}; see {_whose(error)} --help", file=sys.stderr)
    return 2


def _whose(error: Any) -> str:
    """The command that was used wrongly, as it is called."""
    used = getattr(error, "ctx", None)
    return str(used.command_path) if used is not None and used.parent is not None else "scumble"
