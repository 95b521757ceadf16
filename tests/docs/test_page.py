"""The page of a reproduction: whole in one file, and safe against what stands in its texts."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="pages are drawn by matplotlib: pip install 'scumble[reproduce]'")


def test_a_page_is_one_file_that_needs_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "reproduce"))
    pages = import_module("page")

    monkeypatch.setattr(pages, "OUT", tmp_path)
    page = pages.Page("Errors & rows", "of `n`")
    page.prose("First <b>.\n\n**Second**.")
    page.figure(pages.curves({"p < 1": ([1, 2], [0.1, 0.2])}, x="n", y="error"), "A figure.")
    page.table(["p", "error"], [[0.5, 15625.4], ["none", None]])
    page.claims([("falls", "it does", True), ("flat", "in the middle", None)])
    text = page.write("page.html").read_text()
    assert "<svg" in text
    assert "First &lt;b&gt;." in text
    assert "<strong>Second</strong>" in text
    assert "15,625" in text
    assert "in part" in text
    outside = [url for url in re.findall(r'(?:src|href)="([^"#]+)"', text) if not url.startswith("data:")]
    assert outside == []
    sys.modules.pop("page")
