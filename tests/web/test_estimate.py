"""The estimator of the page, run by Node on the files of releases, estimates what `scumble query` estimates."""

import copy
import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from browser import demand
from web.page_questions import Asker, differences
from web.releases import RELEASES, released

import scumble
from scumble.forms import find_form
from scumble.mechanisms import REGISTRY, find_mechanism
from scumble.release.explore_facts import document_of, facts_of

ANSWERS = Path(__file__).parent / "node" / "answers.js"
SOME = 10
"""Questions to each release."""


def by_node(release: scumble.Release, questions: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """The answers of the page's modules."""
    demand(shutil.which("node") is not None, "node")
    manifest = release.manifest
    given = {
        "folder": str(release.path),
        "manifest": document_of(manifest),
        "facts": facts_of(manifest),
        "files": manifest.data,
        "questions": questions,
    }
    (folder / "given.json").write_text(json.dumps(given))
    run = subprocess.run(
        ["node", str(ANSWERS), str(folder / "given.json"), str(folder / "answers.json")], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    answers: list[dict[str, Any]] = json.loads((folder / "answers.json").read_text())
    return answers


def test_every_mechanism_of_the_forms_that_the_page_answers_for_is_among_the_releases() -> None:
    """A new mechanism is added here, so that its digits are compared, or its column is one that the page leaves out."""
    answered = {name for name in REGISTRY if find_form(find_mechanism(name).form).explored is not None}
    assert {released(name).manifest.mechanism for name in RELEASES} == answered


@pytest.mark.slow
@pytest.mark.parametrize("name", RELEASES)
def test_it_estimates_what_scumble_query_estimates_to_the_printed_digit(name: str, tmp_path: Path) -> None:
    release = released(name)
    asker = Asker(release, random.Random(crc32(name.encode())))
    questions = [asker.question() for _ in range(SOME)]
    answers = by_node(release, questions, tmp_path)
    for question, shown in zip(questions, answers, strict=True):
        assert differences(release, question, shown) == [], f"{question}\n{shown.get('sql')}"
    assert sum("refused" not in shown for shown in answers) >= SOME / 2


@pytest.mark.slow
def test_a_digit_that_is_off_is_found(tmp_path: Path) -> None:
    """The comparison itself: one more digit in one estimate, error or end of an interval fails it."""
    release = released("uniform")
    question = {
        "measure": "count",
        "of": None,
        "by": ["disease"],
        "where": [],
        "order": "group",
        "top": None,
        "level": 0.95,
    }
    (shown,) = by_node(release, [question], tmp_path)
    assert differences(release, question, shown) == []
    for place, off in enumerate((("", "1"), ("", "1"), ("[", "[9"))):
        wrong = copy.deepcopy(shown)
        cells = wrong["texts"][place]["cells"]
        cells[1] = cells[1].replace(*off, 1) if off[0] else cells[1] + off[1]
        assert len(differences(release, question, wrong)) == 1
