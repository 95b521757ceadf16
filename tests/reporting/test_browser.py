"""The page in a browser: it draws itself in light, dark and narrow, asks the network for nothing, and prints."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from browser import opened_tab, screenshot, violations
from naming import publish_openly
from reporting.reported import made

from scumble.reporting import report

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine")]

QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars"]  # fmt: skip


def browse(folder: Path, *words: str, page: str = "report.html") -> str:
    assert BROWSER is not None
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [BROWSER, *QUIET, profile, *words, (folder / page).as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    release, raw = made("rho")
    place = tmp_path_factory.mktemp("browser")
    report(release, place / "report.html", raw=raw)
    return place


def test_the_page_is_drawn(folder: Path) -> None:
    """Light, dark and narrow: none is blank, dark is dark, and nothing sticks out of a phone's screen."""
    Image = pytest.importorskip("PIL.Image", reason="pictures are read by Pillow, which comes with matplotlib")
    mean = {}
    for name, words in {
        "light": [],
        "dark": ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"],
        "narrow": ["--window-size=500,900"],
    }.items():
        size = [] if name == "narrow" else ["--window-size=1200,1500"]
        browse(folder, *size, *words, f"--screenshot={folder / name}.png")
        picture = Image.open(folder / f"{name}.png").convert("L")
        low, high = picture.getextrema()
        assert high - low > 150, f"{name} is blank"
        mean[name] = sum(i * n for i, n in enumerate(picture.histogram())) / (picture.width * picture.height)
    assert mean["light"] > 200
    assert mean["dark"] < 80


def test_the_browser_reads_what_was_written(folder: Path) -> None:
    """What the browser makes of it has every section, and its drawings."""
    dom = browse(folder, "--dump-dom")
    for anchor in (
        "summary",
        "promise",
        "questions",
        "risk",
        "distributions",
        "crosstab",
        "accuracy",
        "frontier",
        "signature",
    ):
        assert f'<section id="{anchor}"' in dom, anchor
    assert dom.count("<figure>") >= 4
    assert "<script" not in dom


def test_nothing_sticks_out_of_a_narrow_screen(folder: Path) -> None:
    """A frame as wide as a phone shows the page; the page that frames it reads how wide it wants to be."""
    (folder / "frame.html").write_text(
        "<iframe id=f src=report.html width=360 height=700></iframe><script>onload=()=>setTimeout(()=>{"
        "let d=document.getElementById('f').contentDocument.documentElement;document.title=d.scrollWidth+' of '+d.clientWidth},300)</script>"
    )
    dom = browse(
        folder, "--allow-file-access-from-files", "--virtual-time-budget=3000", "--dump-dom", page="frame.html"
    )
    wanted, given = dom.split("<title>")[1].split("</title>")[0].split(" of ")
    assert int(given) > 300
    assert int(wanted) <= int(given)


def test_it_prints(folder: Path) -> None:
    browse(folder, f"--print-to-pdf={folder / 'report.pdf'}", "--no-pdf-header-footer")
    paper = (folder / "report.pdf").read_bytes()
    assert paper.startswith(b"%PDF")
    assert 5 <= paper.count(b"/Type /Page\n") + paper.count(b"/Type/Page\n") <= 40


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 40 columns in which nearly everybody is alone, with names that are long."""
    draw = np.random.default_rng(8)
    names = [f"answer_to_question_{i:02d}_of_the_household_questionnaire" for i in range(39)]
    table = pa.table({name: draw.integers(0, 9, 600) for name in names} | {"income": draw.integers(0, 4, 600)})
    release = publish_openly(table, sensitive="income", domains={"income": {"low": 0, "high": 3}}, gamma=3, seed=None)
    place = tmp_path_factory.mktemp("wide")
    report(release, place / "report.html")
    return place


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(chromium: Any, axe: str, folder: Path, wide: Path, scheme: str) -> None:
    """No violation of level A or AA, on a screen and on a phone, and nothing sticks out of either."""
    for name, place in {"narrow table": folder, "wide table": wide}.items():
        for width in (1100, 360):
            with opened_tab(chromium, color_scheme=scheme) as page:
                page.set_viewport_size({"width": width, "height": 800})
                page.goto((place / "report.html").as_uri())
                page.evaluate("document.querySelectorAll('details').forEach((part) => (part.open = true))")
                assert page.evaluate("document.documentElement.scrollWidth") <= width, name
                # which takes seconds: each scheme and each width once
                if (scheme, width) in (("light", 360), ("dark", 1100)):
                    assert violations(page, axe) == [], name
                screenshot(page, f"report-{name}-{scheme}-{width}".replace(" ", "-"))


COLOURS = """() => {
  const probe = document.createElement("i"); document.documentElement.append(probe);
  probe.style.color = getComputedStyle(document.documentElement).getPropertyValue("--good");
  const green = getComputedStyle(probe).color;
  return [...document.body.querySelectorAll("*")].filter((e) => [getComputedStyle(e).color, getComputedStyle(e).borderLeftColor].includes(green)).length;
}"""


def test_nothing_is_green_where_nearly_everybody_is_found(chromium: Any, wide: Path, folder: Path) -> None:
    """The verdict is the first thing on the page, on a phone too; a page with little to object to may have green marks."""
    with opened_tab(chromium) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto((wide / "report.html").as_uri())
        assert page.locator(".judgement").bounding_box()["y"] < 500
        assert "most of the rows can be found" in page.locator(".judgement").inner_text()
        assert page.evaluate(COLOURS) == 0
        page.goto((folder / "report.html").as_uri())
        assert page.evaluate(COLOURS) > 0


def test_paper_has_no_table_that_sticks_out(chromium: Any, wide: Path) -> None:
    """As wide as A4 without its margins: heads are repeated on every page, and no line of a table is torn."""
    with opened_tab(chromium) as page:
        page.set_viewport_size({"width": 665, "height": 900})
        page.emulate_media(media="print")
        page.goto((wide / "report.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 665
        styles = page.evaluate("[...document.querySelectorAll('thead')].map((e) => getComputedStyle(e).display)")
        assert set(styles) == {"table-header-group"}
        torn = page.evaluate("[...document.querySelectorAll('tr')].map((e) => getComputedStyle(e).breakInside)")
        assert set(torn) == {"avoid"}
