"""A folder for a case, two levels deep in one that is removed, so that `..` of a hostile flag is nobody else's."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random


@contextmanager
def place() -> Iterator[Path]:
    """The folder, in which the case runs."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as top:
        inner = Path(top) / "a" / "b"
        inner.mkdir(parents=True)
        os.chdir(inner)
        try:
            yield inner
        finally:
            os.chdir(before)


def edited(draw: Random, text: str, tokens: list[str]) -> str:
    """A text after a few edits: letters, lines and tokens."""
    for _ in range(draw.choice([1, 1, 2, 3])):
        text = draw.choice([_put_in, _put_over, _cut_out, _line_again, _line_less])(draw, text, tokens)
    return text


def _put_in(draw: Random, text: str, tokens: list[str]) -> str:
    where = draw.randrange(len(text) + 1)
    return text[:where] + draw.choice(tokens) + text[where:]


def _put_over(draw: Random, text: str, tokens: list[str]) -> str:
    where = draw.randrange(len(text) + 1)
    return text[:where] + draw.choice(tokens) + text[where + draw.randint(1, 9) :]


def _cut_out(draw: Random, text: str, tokens: list[str]) -> str:
    where = draw.randrange(len(text) + 1)
    return text[:where] + text[where + draw.randint(1, 9) :]


def _line_again(draw: Random, text: str, tokens: list[str]) -> str:
    lines = text.split("\n")
    return "\n".join([*lines, draw.choice(lines)])


def _line_less(draw: Random, text: str, tokens: list[str]) -> str:
    lines = text.split("\n")
    del lines[draw.randrange(len(lines))]
    return "\n".join(lines)
