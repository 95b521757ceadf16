"""docs/glossary.md: a word has one meaning, and so has the name of a class."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "scumble"
FILES = sorted(SOURCE.rglob("*.py"))
LINES = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()

SHARED_NAMES = {
    "Settings": "what each mechanism offers, in its own folder",
    "Axis": "a column that is cut into cells: by an engine, for a tree, on a page",
    "Side": "a side of a box: as it is published, as it is asked, as it is attacked",
    "Question": "of a workload, and as it is compiled",
    "Look": "what is seen of a column, and of a person in one more publication",
    "Asked": "the rows that a question is about",
    "Compared": "two things side by side",
    "Grid": "points at equal distances: cells of a screen, numbers of a domain, values of a formula",
    "Recoding": "what became of the values of a column, by a rule or in a release",
}
"""Classes in several files, and what they mean; the list only gets shorter."""


def test_the_name_of_a_class_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path in FILES:
        for name in re.findall(r"^class ([A-Za-z]\w*)", path.read_text(), re.MULTILINE):
            places.setdefault(name, []).append(path.relative_to(SOURCE).as_posix())
    assert len(places) > 250
    several = {name: files for name, files in places.items() if len(files) > 1 and name not in SHARED_NAMES}
    assert not several, f"each of these names has two meanings; give one of them a noun of its own: {several}"


def test_a_word_is_explained_once() -> None:
    cells = [line.split("|")[1] for line in LINES if line.startswith("| ") and not line.startswith("| word |")]
    words = [word.strip() for cell in cells for word in re.split(r", ", cell)]
    assert len(words) > 60
    assert sorted(words) == sorted(set(words))
