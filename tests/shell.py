"""The command line within this process: a process of its own spends over a second on loading, and most tests are not about that."""

import contextlib
import io
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from scumble.cli import run


@dataclass(frozen=True)
class Done:
    """What a shell has of a command that is over."""

    returncode: int
    stdout: str
    stderr: str


def scumble_command(*words: object, cwd: Path | None = None) -> Done:
    """`scumble WORDS...`. What is no message to the user is raised here, and fails the test."""
    out, err = _Stream(), _Stream()
    with contextlib.ExitStack() as stack:
        stack.enter_context(patch.object(sys, "argv", ["scumble", *map(str, words)]))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("default")  # said by every command anew
        stack.enter_context(contextlib.chdir(cwd or os.curdir))
        code = run()
    return Done(code, out.getvalue(), err.getvalue())


class _Stream(io.StringIO):
    """Memory that says how it is encoded, as the streams of a process do."""

    encoding = "utf-8"
