"""Docstrings as pages show them: doctests become code, and lines of a name and its meaning become a list."""

import re
from typing import Any

import griffe

NAMED = re.compile(r"^(\w+(?:, \w+)*) {2,}(\S.*)$")


class Readable(griffe.Extension):
    """Rewrites each docstring before it is drawn."""

    def on_instance(self, *, obj: griffe.Object, **others: Any) -> None:
        """Called for every object that was read."""
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)


def readable(text: str) -> str:
    """Markdown of a docstring.

    >>> print(readable("Adds.\\n\\nout  the file\\n\\n>>> 1 + 1\\n2"))
    Adds.
    <BLANKLINE>
    - `out`: the file
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    return "\n\n".join(map(_block, text.split("\n\n")))


def _block(block: str) -> str:
    lines = block.split("\n")
    code = next((i for i, line in enumerate(lines) if line.lstrip().startswith(">>>")), len(lines))
    listed = [NAMED.sub(r"- `\1`: \2", line) for line in lines[:code]]
    before = "\n".join(listed)
    if code == len(lines):
        return before
    fenced = "\n".join(["```pycon", *lines[code:], "```"])
    return f"{before}\n\n{fenced}" if before else fenced
