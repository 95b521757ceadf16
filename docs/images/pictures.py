"""Makes the pictures of README and docs anew, from the demonstration and with Chromium: `make pictures`.

A picture is what a reader sees: the explore page and the report of the release in demo/, the studio over its table, and an answer as the command prints it.
"""

import html
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
DEMO = HERE.parents[1] / "demo"
MOST_BYTES = 200_000
QUESTION = (
    "SELECT sex, COUNT(*) AS patients, AVG(cost) AS cost\nFROM release\n"
    "WHERE age >= 60 AND disease IN ('influenza', 'pneumonia')\nGROUP BY sex"
)
TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; background: #14171c; color: #e4e7ec; font: 17px/1.55 "DejaVu Sans Mono", "Liberation Mono", monospace; }
pre { margin: 0; padding: 34px 38px; font: inherit; } b { color: #74b6e6; font-weight: 400; } i { color: #9ba4b1; font-style: normal; }
</style><pre><i>$</i> <b>scumble query patients.release "%s"</b>
%s</pre>"""


def answer(release: Path) -> str:
    """What the command prints for the question."""
    command = [sys.executable, "-m", "scumble", "query", str(release), QUESTION]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


def taken(browser: Any, address: str, name: str, height: int) -> None:
    """One picture of a page's first screen."""
    page = browser.new_page(viewport={"width": 1200, "height": height}, color_scheme="light")
    page.goto(address)
    page.wait_for_timeout(1500)  # the explore page reads its table first
    kept(page, name)


def kept(page: Any, name: str) -> None:
    """A picture, which has to be small enough to be kept."""
    page.screenshot(path=str(HERE / name))
    size = (HERE / name).stat().st_size
    print(f"{name}: {size:,} bytes")
    if size > MOST_BYTES:
        sys.exit(f"{name} is larger than {MOST_BYTES:,} bytes: show less of the page")


def studio(browser: Any, table: Path) -> None:
    """The studio, at the step where privacy is chosen."""
    with TemporaryDirectory() as place:
        folder = Path(place) / "hospital"
        folder.mkdir()
        shutil.copy(table, folder / "patients.csv")
        line = [sys.executable, "-m", "scumble", "studio", str(folder), "--no-browser"]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme="light")
                page.set_default_timeout(300_000)
                page.goto(process.stdout.readline().split()[-1])
                page.get_by_role("button", name="Open the table").click()
                page.get_by_role("group", name="cost").get_by_role("radio", name="dropped").check()
                page.get_by_text("Every column is decided").wait_for()
                for _ in range(2):
                    page.get_by_role("button", name="Save and go on").click()
                page.get_by_role("button", name="Protect all values").click()
                page.locator(".frontier").wait_for()
                kept(page, "studio.png")
            finally:
                process.terminate()


def main(demo: Path) -> None:
    """All of them."""
    terminal = demo / "terminal.html"
    terminal.write_text(TERMINAL % (html.escape(QUESTION), html.escape(answer(demo / "patients.release"))))
    with sync_playwright() as playwright:
        debian = Path("/usr/bin/chromium")
        path = str(debian) if debian.exists() else None
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        explore = (demo / "patients.release" / "explore.html").resolve().as_uri()
        taken(browser, f"{explore}#show=count&by=disease&order=most&top=10", "explore.png", 900)
        taken(browser, (demo / "report.html").resolve().as_uri(), "report.png", 900)
        studio(browser, demo / "patients.csv")
        taken(browser, terminal.resolve().as_uri(), "answer.png", 250)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEMO)
