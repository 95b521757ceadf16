"""The R package answers as `scumble query` does: same questions, same printed digits."""

import json
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa
import pytest
from every_mechanism import published
from web.page_questions import Asker, Question, differences
from web.releases import RELEASES, released

from scumble.web.bundle import script

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
UNPACKED = ROOT / ".venv" / "r" / "usr" / "lib"
"""Where make r-tools puts V8 if another Node keeps Debian's package away."""
SOME = 6
LONGEST = 300
"""Seconds after which R is given up."""


def environment(library: Path) -> dict[str, str]:
    """With the library that the package is installed into, and an unpacked V8."""
    libraries = os.pathsep.join([str(library), str(UNPACKED / "R" / "site-library")])
    return {
        **os.environ,
        "R_LIBS": libraries,
        "LD_LIBRARY_PATH": str(UNPACKED / "x86_64-linux-gnu"),
        "LC_ALL": "C.UTF-8",
    }


def run(library: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    """A command of R, with what is installed for it."""
    return subprocess.run(command, env=environment(library), capture_output=True, text=True, timeout=LONGEST)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, installed."""
    if shutil.which("Rscript") is None:
        pytest.skip("R is missing; make r-tools installs it")
    folder = tmp_path_factory.mktemp("r")
    missing = 'quit(status = !all(vapply(c("V8", "jsonlite", "digest"), requireNamespace, TRUE, quietly = TRUE)))'
    if run(folder, "Rscript", "-e", missing).returncode != 0:
        pytest.skip("one of R's packages V8, jsonlite and digest is missing; make r-tools installs them")
    package = Path(shutil.copytree(ROOT / "r", folder / "source" / "scumble", ignore=shutil.ignore_patterns("inst")))
    (package / "inst").mkdir()
    (package / "inst" / "scumble.js").write_text(script("embedded.js"), encoding="utf-8")
    done = run(folder, "R", "CMD", "INSTALL", f"--library={folder}", str(package))
    assert done.returncode == 0, done.stderr
    return folder


def by_r(name: str, questions: list[Question], library: Path, folder: Path) -> list[dict[str, Any]]:
    """The answers of the package."""
    (folder / "questions.json").write_text(json.dumps(questions))
    files = [str(released(name).path), str(folder / "questions.json"), str(folder / "answers.json")]
    done = run(library, "Rscript", str(Path(__file__).parent / "answers.R"), *files)
    assert done.returncode == 0, done.stderr
    answers: list[dict[str, Any]] = json.loads((folder / "answers.json").read_text())
    return answers


def compared(shown: dict[str, Any], question: Question) -> dict[str, Any]:
    """An answer as the comparison takes it: groups from the data frame, texts as they are printed."""
    groups = [{"name": name, "labels": [_label(value) for value in shown["frame"][name]]} for name in question["by"]]
    texts = [{"heading": heading, "cells": cells} for heading, cells in shown["printed"].items()]
    return {"sql": shown["sql"], "groups": groups, "texts": texts, "notes": shown["notes"]}


def _label(value: Any) -> str | None:
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("name", ["uniform", "missing", "design", "sps", "noisy_counts of a total", "transactions"])
def test_it_answers_as_scumble_query_does(name: str, library: Path, tmp_path: Path) -> None:
    assert name in RELEASES
    asker = Asker(released(name), random.Random(crc32(name.encode()) + 1))
    questions = [asker.question() for _ in range(SOME)]
    for question, shown in zip(questions, by_r(name, questions, library, tmp_path), strict=True):
        if "refused" not in shown:
            assert differences(released(name), question, compared(shown, question)) == [], f"{question}\n{shown['sql']}"
        else:
            assert "only counts" in shown["refused"] or "no table" in shown["refused"]


def test_its_own_tests_pass(library: Path) -> None:
    done = run(library, "Rscript", str(ROOT / "r" / "tests" / "open.R"))
    assert done.returncode == 0, done.stderr


def test_a_file_that_was_changed_is_refused(library: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(released("uniform").path, tmp_path / "r.release"))
    (folder / "data.parquet").write_bytes((folder / "data.parquet").read_bytes() + b"x")
    done = run(library, "Rscript", "-e", f'library(scumble); open_release("{folder}")')
    assert done.returncode != 0
    assert "data.parquet was changed after it was written" in done.stderr


REFUSED = {
    'by = "nobody"': "'nobody' is not a column",
    '"avg"': "avg needs a column of numbers",
    'of = "cost"': "rows are counted, not a column",
    'where = list(visits = between("a", 3))': "numbers at its ends",
    "where = list(visits = between())": "numbers at its ends",
    "where = list(admitted = between(1, 3))": "days (2024-02-29) at its ends",
    "where = list(ward = between(1, 3))": "neither numbers nor days",
    "level = 95": "a level lies between 0 and 1",
}


def test_wrong_questions_are_refused(library: Path) -> None:
    asked = "".join(f"try(ask(release, {question}))\n" for question in REFUSED)
    done = run(
        library, "Rscript", "-e", f'library(scumble); release <- open_release("{released("uniform").path}")\n{asked}'
    )
    assert [said for said in REFUSED.values() if said not in done.stderr] == []
    assert done.stderr.count("Error") == len(REFUSED)


def test_a_release_that_the_page_cannot_answer_is_refused(library: Path, patients: pa.Table, tmp_path: Path) -> None:
    published("anatomy", patients, tmp_path / "r", seed=3)
    done = run(library, "Rscript", "-e", f'library(scumble); open_release("{tmp_path / "r"}")')
    assert done.returncode != 0
    assert "a release by anatomy is not asked in R" in done.stderr
