"""Every command of the command line, as a law runs it on a table, a spec and a release."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scumble.cli import IN_SHORT, run
from scumble.mechanisms.mechanism import Traits

QUESTION = "SELECT COUNT(*) AS n FROM release"
FEW = ["--question", QUESTION + " WHERE disease = 'flu'", "--repetitions", "2", "--processes", "1", "--seed", "1"]
COMMANDS = [module.__name__.rsplit(".", 1)[-1] for module in IN_SHORT]
"""All that there are."""


@dataclass(frozen=True)
class Things:
    """What commands are about."""

    mechanism: str
    table: Path
    spec: Path
    release: Path
    folder: Path
    """Where they may write."""


Arguments = Callable[[Things], list[str]]


def empty_ledger(folder: Path) -> Path:
    """A ledger in which nothing stands yet."""
    path = folder / "k.ledger"
    path.write_text(json.dumps({"format": "scumble-ledger", "version": 1, "key": None, "entries": []}))
    return path


def survey(folder: Path) -> Path:
    """The spec of a survey of one question."""
    path = folder / "survey.toml"
    head = 'title = "Health"\npurpose = "How common it is."\ncollector = "Institute"\ncontact = "a@b.example"\nuntil = 2099-03-31\n'
    asked = '[columns.ill]\nrole = "sensitive"\nask = "Were you ill?"\nvalues = ["yes", "no"]\n'
    path.write_text(f"{head}[privacy]\nepsilon = 2\n{asked}", encoding="utf-8")
    return path


LAWS: dict[str, list[Arguments]] = {
    "init": [lambda it: [str(it.table), "-o", str(it.folder / "first.toml")]],
    "plan": [lambda it: [str(it.spec), QUESTION], lambda it: [str(it.spec), "--format", "json"]],
    "publish": [
        lambda it: [str(it.spec), "-o", str(it.folder / "secure")],
        lambda it: [str(it.spec), "-o", str(it.folder / "seeded"), "--insecure-seed", "3"],
        lambda it: [str(it.spec), "-o", str(it.folder / "seeded"), "--overwrite"],
    ],
    "show": [lambda it: [str(it.release)], lambda it: [str(it.release), "--format", "json"]],
    "query": [
        lambda it: [str(it.release), QUESTION],
        lambda it: [str(it.release), QUESTION + " WHERE disease = 'flu'", "--format", "json"],
        lambda it: [str(it.release), "SELECT sex, COUNT(*) AS n FROM release GROUP BY sex", "--format", "json"],
    ],
    "verify": [lambda it: [str(it.release)], lambda it: [str(it.release), "--format", "json"]],
    "sign": [lambda it: ["--new-key", str(it.folder / "officer.key")]],
    "ledger": [lambda it: [str(empty_ledger(it.folder))]],
    "audit": [
        lambda it: [str(it.release)],
        lambda it: [str(it.release), "--raw", str(it.table), "--format", "json"],
    ],
    "compare": [
        lambda it: [str(it.spec), "--mechanism", it.mechanism, *FEW, "--format", "json"],
    ],
    "advise": [
        lambda it: [str(it.spec), "--mechanism", it.mechanism, "--posterior", "1/2", "--repetitions", "0"],
    ],
    "report": [
        lambda it: [str(it.release), "--external", "-o", str(it.folder / "external.html")],
        lambda it: [str(it.release), "--raw", str(it.table), "-o", str(it.folder / "internal.html")],
    ],
    "collect": [lambda it: ["new", str(survey(it.folder)), "-o", str(it.folder / "survey.json")]],
    "explore": [lambda it: [str(it.release), "-o", str(it.folder / "page.html")]],
    "synthesize": [lambda it: [str(it.release), "-o", str(it.folder / "rows.parquet"), "--rows", "50"]],
    "studio": [lambda it: ["--help"]],
    "demo": [lambda it: ["--rows", "1000"]],
}
"""How each is called: all of these calls end well, or refuse by a sentence where REFUSING says so."""

REFUSING: dict[str, Callable[[Traits], bool]] = {
    "advise": lambda traits: True,
    "plan": lambda traits: bool(traits.unforeseen),
    "synthesize": lambda traits: True,
}
"""Commands that need not work for all mechanisms, and of which they may refuse; they must say so in one sentence."""


def call(command: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> tuple[int, str, str]:
    """The exit code, and what was printed. An error that is no message to the user is raised here."""
    monkeypatch.setattr(sys, "argv", ["scumble", command, *arguments])
    capsys.readouterr()
    code = run()
    return code, *capsys.readouterr()


def is_json(text: str) -> bool:
    """Whether a program can read it."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
