"""Random CSV files. A sound one is published with the rows that were written; a damaged one is published or refused in a sentence."""

import csv
import io
from collections import Counter
from pathlib import Path
from random import Random

from fuzz.kinds import refusal
from fuzz.places import edited, place

import scumble
from scumble.core.errors import ScumbleError

VALUES = [
    "flu",
    "1",
    "-2.5",
    "",
    "it's",
    'say "a"',
    "a,b",
    "a;b",
    "line\nbreak",
    "Köln",
    "2024-05-01",
    "NULL",
    " x ",
    "1e5",
    "#1",
    "'",
    "\t",
]
HARM = [
    "\0",
    '"',
    ",",
    ";",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\ufeff",
    "\\",
    "'",
    "a" * 5000,
    "," * 300,
    "\x1b[31m",
    "é",
    "\u2028",
    '""',
    "=1+1",
]
ENCODINGS = ["utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16"]


def case(draw: Random) -> str:
    """A file, written soundly or damaged, and published."""
    names = draw.sample(["a", "b c", "größe", "select", 'q"x', "d;e"], draw.randint(2, 4))
    rows = [[draw.choice(VALUES) for _ in names] for _ in range(draw.randint(1, 40))]
    sound = draw.random() < 0.4
    with place() as folder:
        path = folder / "table.csv"
        text = written(names, rows, draw)
        if sound:
            path.write_text(text, encoding="utf-8", newline="")
            return _sound(path, names, rows)
        path.write_bytes(edited(draw, text, HARM).encode(draw.choice(ENCODINGS), errors="replace"))
        return _damaged(path, names, draw)


def written(names: list[str], rows: list[list[str]], draw: Random) -> str:
    """By Python's own writer: all fields quoted, so that nothing is in doubt."""
    out = io.StringIO()
    writer = csv.writer(
        out, quoting=csv.QUOTE_ALL, lineterminator=draw.choice(["\n", "\r\n"]), delimiter=draw.choice(",;\t")
    )
    writer.writerow(names)
    writer.writerows(rows)
    return out.getvalue()


def _sound(path: Path, names: list[str], rows: list[list[str]]) -> str:
    try:
        made = scumble.publish(
            path,
            path.parent / "r",
            sensitive=names[0],
            public=names[1:],
            text=names,
            domain_from_data=True,
            retain=1,
            seed=1,
        )
    except ScumbleError as error:
        refusal(error)
        return "sound, refused"
    held = [tuple(value or "" for value in line.values()) for line in made.table().to_pylist()]
    assert Counter(held) == Counter(map(tuple, rows)), f"{path.read_bytes()!r}: published as {held}"
    return "sound, published"


def _damaged(path: Path, names: list[str], draw: Random) -> str:
    try:
        if draw.random() < 0.5:
            scumble.init(path)
            return "spec written"
        scumble.publish(
            path, path.parent / "r", sensitive=names[0], rest="drop", domain_from_data=True, retain=0.5, seed=1
        )
    except ScumbleError as error:
        refusal(error)
        return "refused"
    return "published"
