"""The command line: one file a command.

Exit codes: 0 done, 1 a verification that fails, 2 wrong use or input, 130 interrupted.
"""

import sys
import warnings

import typer

from scumble.cli import audit, demo, init, plan, publish, query, show, verify
from scumble.errors import InputError

app = typer.Typer(
    name="scumble",
    help="Publish a table so that no row gives its person away, and ask it questions whose answers come with intervals.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

for module in (init, plan, publish, show, query, verify, audit, demo):
    app.command(name=module.__name__.rsplit(".", 1)[-1])(module.command)


def main() -> None:
    """Runs a command; a mistake in the input is one line and exit code 2, and so is a warning without the exit code."""
    warnings.showwarning = lambda message, *_: print(f"warning: {message}", file=sys.stderr)
    try:
        app()
    except InputError as error:
        print(f"scumble: {' '.join(str(error).split())}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("scumble: interrupted, nothing was left behind", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:
        raise SystemExit(0) from None
