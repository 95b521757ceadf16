"""Random command lines: exit code 0, 1 or 2, one line for what is wrong, and never a traceback."""

import contextlib
import io
import sys
from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
from fuzz.places import place

import scumble
from scumble.cli import run

COUNT = "SELECT COUNT(*) AS n FROM release WHERE ill = 'flu'"
PUBLISH = [
    "publish",
    "t.parquet",
    "-o",
    "new",
    "--sensitive",
    "ill",
    "--rest",
    "drop",
    "--domain-from-data",
    "--retain",
    "0.5",
]
COMMANDS = [
    PUBLISH,
    [*PUBLISH, "--public", "age,town", "--overwrite"],
    ["plan", *PUBLISH[1:2], *PUBLISH[4:]],
    ["show", "r"],
    ["query", "r", COUNT, "--format", "json"],
    ["query", "r", COUNT, "--level", "0.9", "--method", "likelihood", "--timeout", "60"],
    ["verify", "r"],
    ["init", "t.parquet", "-o", "spec.toml"],
]
"""Commands that are quick."""

VALUES = [
    "0",
    "-1",
    "1",
    "2",
    "0.5",
    "1/13",
    "1/0",
    "nan",
    "inf",
    "1e400",
    "99999999999999999999",
    "x",
    "ill",
    "age",
    "town",
    "nobody",
    "r",
    "t.parquet",
    "new",
    ".",
    "..",
    "/dev/null",
    "/nonexistent/x",
    "json",
    "csv",
    "text",
    "yaml",
    "uniform",
    "anatomy",
    "k_dgs",
    "drop",
    "public",
    "?",
    "*",
    "[",
    "]",
    "=",
    "a=b",
    "a=1",
    "ill=flu,cold",
    "ill=",
    "=x",
    "age=0..9",
    "--help",
    "--version",
    "--retain",
    "--gamma",
    "--epsilon",
    "--rho1",
    "--rho2",
    "--sensitive",
    "--public",
    "--drop",
    "--rest",
    "--domain",
    "--domain-from-data",
    "--coarsen",
    "--set",
    "--mechanism",
    "--seed",
    "--key",
    "--id",
    "--text",
    "--overwrite",
    "--format",
    "--level",
    "--method",
    "--timeout",
    "--on",
    "-o",
    "--out",
    "-x",
    "--",
    "-",
    "--no-such",
    "\x1b[31m",
    "\u202e",
    "café",
    ";",
    "|",
    "$HOME",
    "'a'",
    '"b"',
]


def case(draw: Random) -> str:
    """A command line, edited, in a folder with a table and a release."""
    arguments = list(draw.choice(COMMANDS))
    for _ in range(draw.choice([0, 1, 1, 2, 3])):
        _edit(draw, arguments)
    with place() as folder:
        pq.write_table(_table(), folder / "t.parquet")
        how: dict[str, Any] = {"sensitive": "ill", "public": ["age"], "drop": "town", "domain_from_data": True}
        scumble.publish(folder / "t.parquet", folder / "r", **how, retain=0.5, seed=1)
        return _run(arguments)


def _table() -> pa.Table:
    words = ["flu", "cold", "hiv"]
    columns = {"age": list(range(30)), "town": ["Ulm", "Bonn"] * 15, "ill": [words[i % 3] for i in range(30)]}
    return pa.table(columns)


def _edit(draw: Random, arguments: list[str]) -> None:
    position, value = draw.randrange(len(arguments) + 1), draw.choice(VALUES)
    if draw.random() < 0.4:
        arguments.insert(position, value)
    elif arguments and draw.random() < 0.5:
        arguments[position % len(arguments)] = value
    elif arguments:
        del arguments[position % len(arguments)]


def _run(arguments: list[str]) -> str:
    out, wrong = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", ["scumble", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(wrong),
    ):
        try:
            code = run()
        except SystemExit as ended:
            code = int(ended.code or 0)
    told = wrong.getvalue()
    assert code in (0, 1, 2), f"{arguments}: exit code {code}"
    assert "Traceback" not in told, f"{arguments}: {told}"
    if code == 2:
        assert told.strip() or out.getvalue(), f"{arguments}: refused without a word"
        lines = [line for line in told.splitlines() if line.startswith("scumble:")]
        assert len(lines) <= 1, f"{arguments}: {told}"
    return f"exit code {code}"
