"""The site of the documentation: every document has a place on it, links lead to pages, and nothing is fetched from elsewhere."""

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"site_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build = loaded(SITE / "build.py")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages, as they are handed to Zensical."""
    return Path(build.put_together(tmp_path_factory.mktemp("docs") / "out")) / "pages"


def test_links_follow_their_pages() -> None:
    known = {ROOT / "docs" / "cli.md": "cli.md", ROOT / "docs" / "proofs" / "a.md": "proofs/a.md"}
    text = "[x](../cli.md#out) [y](../../src/y.py) [`z`](https://z.org) [w](#w)\n```\n[x](../cli.md)\n```\n"
    moved = build.moved(text, ROOT / "docs" / "proofs" / "a.md", known)
    assert moved == "[x](../cli.md#out) y [`z`](https://z.org) [w](#w)\n```\n[x](../cli.md)\n```\n"
    assert build.moved("![a\nb](proofs/a.md)", ROOT / "docs" / "cli.md", known) == "![a\nb](proofs/a.md)"


def test_every_link_of_the_site_leads_to_a_page(pages: Path) -> None:
    """Without Zensical, so that a broken link fails everywhere; it looks at anchors as well."""
    links = 0
    for page in pages.rglob("*.md"):
        for _, _, target in build.LINK.findall("".join(build.FENCE.split(page.read_text(encoding="utf-8"))[::2])):
            path = target.partition("#")[0]
            if path and "://" not in target:
                links += 1
                assert (page.parent / path).exists(), f"{page.name}: {target}"
    assert links > 150


def test_every_page_stands_in_the_contents(pages: Path) -> None:
    def of(entry: object) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        found = entry.values() if isinstance(entry, dict) else entry
        return [page for each in found for page in of(each)]  # type: ignore[attr-defined]

    listed = of(tomllib.loads((SITE / "zensical.toml").read_text())["project"]["nav"])
    there = {page.relative_to(pages).as_posix() for page in pages.rglob("*.md")}
    assert len(listed) == len(set(listed))
    assert set(listed) == {page for page in there if not page.startswith("proofs/")} | {"proofs/index.md"}
    for proof in (pages / "proofs").glob("[!i]*.md"):
        assert f"({proof.name})" in (pages / "proofs" / "index.md").read_text()


def test_a_notebook_becomes_a_page_with_what_it_showed(pages: Path) -> None:
    text = (pages / "notebooks" / "analyst.md").read_text()
    assert text.startswith("# ")
    assert text.count("```python") >= 10
    assert re.search(r"```text\n[^`]*\d", text)


def test_what_is_fetched_from_elsewhere_is_found() -> None:
    fetched = (
        '<script src="https://a.org/x.js"></script><img alt="" src=http://b.org/y.png><a href="https://c.org">c</a>'
    )
    assert build.elsewhere(fetched) == ["https://a.org/x.js", "http://b.org/y.png"]
    assert build.elsewhere(
        '<link rel="stylesheet" href="https://d.org/z.css"><link rel="stylesheet" href="z.css">'
    ) == ["https://d.org/z.css"]


@pytest.mark.slow
def test_it_is_built(tmp_path: Path) -> None:
    """As `make docs` does, with warnings as errors and with every way to the network closed; then a link is broken, and it fails."""
    pytest.importorskip("zensical", reason="the site is built by Zensical: pip install '.[docs]'")
    out = Path(build.put_together(tmp_path / "out"))
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    closed = {**os.environ, **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")}
    done = subprocess.run(command, cwd=out, env=closed, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    site = out / "site"
    assert not [link for page in site.rglob("*.html") for link in build.elsewhere(page.read_text())]
    reference = (site / "reference.html").read_text()
    assert all(f'id="scumble.{name}"' in reference for name in ("publish", "open", "Release", "Channel"))
    assert "influenza" in (site / "search.json").read_text()
    (out / "pages" / "officer.md").write_text("# Officer\n\n[nowhere](nowhere.md)\n")
    assert subprocess.run(command, cwd=out, env=closed, capture_output=True, timeout=500, check=False).returncode != 0
