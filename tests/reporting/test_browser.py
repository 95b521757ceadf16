"""The page in a browser: it draws itself in light, dark and narrow, asks the network for nothing, and prints."""

import shutil
import subprocess
from pathlib import Path

import pytest
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
