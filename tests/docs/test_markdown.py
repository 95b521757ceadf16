"""Every document: lines that can be read side by side, links that lead somewhere, and modules that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "scumble"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
WIDEST = 120


def prose(text: str) -> list[str]:
    """The lines that are neither code nor a table."""
    outside = re.sub(r"^([ \t]*)```.*?^\1```", "", text, flags=re.DOTALL | re.MULTILINE)
    return [line for line in outside.splitlines() if not line.startswith("    ") and not line.lstrip().startswith("|")]


def test_prose_is_what_is_left_of_code_and_tables() -> None:
    assert prose("a\n```\nb\n```\n    c\n| d |\ne") == ["a", "", "e"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_wrap(page: Path) -> None:
    assert [line for line in prose(page.read_text(encoding="utf-8")) if len(line) > WIDEST] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    inside = [link for link in links if "://" not in link]
    for link in inside:
        path, _, heading = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not heading or heading in headings(target), link


def headings(page: Path) -> set[str]:
    """The anchors of a page, as readers of Markdown make them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: str(page.relative_to(ROOT)))
def test_modules_that_are_named_with_their_room_exist(page: Path) -> None:
    named = set(re.findall(r"`((?:\w+/)+\w+\.py)`", page.read_text(encoding="utf-8")))
    exact = [each for each in sorted(named) if "NAME" not in each]
    assert [each for each in exact if not any((place / each).exists() for place in (ROOT, SOURCE))] == []
