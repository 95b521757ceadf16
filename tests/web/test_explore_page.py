"""The page as a file: what it lets a browser do, what it weighs, and that nothing in its data is markup."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from web.vendored import VENDOR, record

from scumble.web.explore import DataFile, json_text, page

FILE = DataFile("data.parquet", "ab" * 32, 4, 1)
HOSTILE = "</script><script>alert(1)</script><!-- <![CDATA[ \u2028"


class Parts(HTMLParser):
    """What a browser finds: tags with their attributes, and what stands in scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.within: dict[int, str] = {}
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            place = len(self.tags) - 1
            self.within[place] = self.within.get(place, "") + data

    def scripts(self) -> dict[str, str]:
        """By their ids, the one that runs by none."""
        found = [(i, attrs) for i, (tag, attrs) in enumerate(self.tags) if tag == "script"]
        return {attrs.get("id") or "": self.within.get(i, "") for i, attrs in found}


def made(document: dict[str, Any], facts: dict[str, Any], data: list[DataFile] | None = None) -> str:
    return page(document, facts, [FILE] if data is None else data, lambda path: b"PAR1")


def test_names_and_values_come_back_and_are_no_markup() -> None:
    parts = Parts(made({"name": HOSTILE}, {"words": HOSTILE}))
    scripts = parts.scripts()
    assert set(scripts) == {"", "release", "data-0"}
    assert json.loads(scripts["release"])["manifest"] == {"name": HOSTILE}
    assert base64.b64decode(scripts["data-0"]) == b"PAR1"
    assert "<" not in json_text({HOSTILE: [HOSTILE]})


def test_a_browser_is_told_the_hashes_of_the_script_and_the_style_as_they_stand_there() -> None:
    parts = Parts(made({}, {}))
    policy = next(attrs["content"] for tag, attrs in parts.tags if tag == "meta" and "http-equiv" in attrs) or ""
    style = next(parts.within[i] for i, (tag, _) in enumerate(parts.tags) if tag == "style")
    for kind, text in (("script", parts.scripts()[""]), ("style", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_nothing_is_loaded_from_elsewhere_and_no_handler_stands_in_the_markup() -> None:
    text = made({}, {})
    parts = Parts(text)
    assert not [attrs for _, attrs in parts.tags if "src" in attrs or any(name.startswith("on") for name in attrs)]
    assert not [attrs for tag, attrs in parts.tags if tag == "link" or "style" in attrs]
    assert set(re.findall(r"https?://[\w./]+", text)) == {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize(("size", "inside"), [(5_000_000, True), (5_000_001, False)])
def test_data_is_in_the_page_up_to_five_megabytes(size: int, inside: bool) -> None:
    files = [DataFile("a.parquet", "", size - 10, 1), DataFile("b.parquet", "", 10, 1)]
    assert ("data-1" in Parts(made({}, {}, files)).scripts()) == inside


def test_the_page_without_data_weighs_less_than_300_kilobytes_and_its_reader_of_parquet_less_than_200() -> None:
    assert len(made({}, {}).encode()) < 300_000
    reader = (VENDOR / "hyparquet.js").read_bytes()
    assert len(reader) < 200_000
    assert b"MIT License" in reader[:200]


def test_the_record_of_the_vendored_reader_is_of_these_bytes() -> None:
    """That they are what the pinned packages give is checked by make hyparquet."""
    code = (VENDOR / "hyparquet.js").read_text(encoding="utf-8")
    assert (VENDOR / "hyparquet.txt").read_text() == record(code)


def test_the_same_release_has_the_same_page() -> None:
    assert made({"a": 1}, {"b": 2}) == made({"a": 1}, {"b": 2})
