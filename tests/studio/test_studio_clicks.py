"""From an empty browser profile to a signed report, by clicks and keys alone."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import opened_tab, screenshot, violations
from studio.visitor import EVIL, FORMULA, PATIENCE, small_table

SLOWEST = 300_000.0
"""Milliseconds that a step may take on a machine that does much else: commands run behind some of them."""

pytestmark = pytest.mark.slow


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The studio as the command starts it, over a folder with one table."""
    small_table(tmp_path / "people.csv")
    line = [sys.executable, "-m", "scumble", "studio", str(tmp_path), "--no-browser"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()
            out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert err == ""
        assert "flu" not in out


def seen(page: Any, axe: str, name: str, *, everywhere: bool = False) -> None:
    """That everybody can use a page, and that it fits a phone; what some look like is kept, light, dark and narrow."""
    assert violations(page, axe) == [], name
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    if everywhere:
        screenshot(page, f"studio-{name}-phone")
        page.emulate_media(color_scheme="dark")
        assert violations(page, axe) == [], f"{name}, dark"
    page.set_viewport_size({"width": 1100, "height": 900})
    screenshot(page, f"studio-{name}{'-dark' * everywhere}")
    page.emulate_media(color_scheme="light")


def press(page: Any, label: str) -> None:
    """Goes to a button by the keyboard and presses it."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == label:
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"no key leads to {label!r}")


def test_a_table_becomes_a_signed_release_with_its_report(
    chromium: Any, axe: str, address: str, tmp_path: Path
) -> None:
    with opened_tab(chromium) as page:
        page.set_default_timeout(SLOWEST)
        page.goto(address)
        assert "token" not in page.url
        seen(page, axe, "home")
        press(page, "Open the table")
        page.get_by_role("group", name=EVIL).get_by_role("radio", name="public").check()
        page.get_by_text("Every column is decided").wait_for()
        assert page.locator("fieldset.column legend").first.inner_text() == EVIL
        assert page.locator("text", has_text=FORMULA[:12]).count() == 1
        seen(page, axe, "roles", everywhere=True)
        press(page, "Save and go on")

        alone = page.locator("#unique .big")
        before = alone.inner_text()
        page.get_by_role("slider", name="age").focus()
        page.keyboard.press("End")
        page.wait_for_function("(before) => document.querySelector('#unique .big').textContent !== before", arg=before)
        assert page.locator("output").first.inner_text() == "in steps of 20"
        seen(page, axe, "domains")
        press(page, "Save and go on")

        page.locator(".frontier").wait_for()
        page.get_by_role("slider").focus()
        page.keyboard.press("ArrowRight")
        wanted = page.locator("#level-said").inner_text()
        page.locator("#take-it", has_text=wanted).wait_for()
        seen(page, axe, "privacy", everywhere=True)
        page.locator("#take-it").click()
        page.get_by_role("button", name="Plan").click()
        page.get_by_role("link", name="Go on to publishing").wait_for()
        seen(page, axe, "plan")
        page.get_by_role("link", name="Go on to publishing").click()

        press(page, "Publish")
        page.get_by_role("link", name="See what it is").click()
        page.get_by_role("button", name="Write the external report").click()
        page.get_by_role("link", name="Read the external report").wait_for()
        with page.context.expect_page(timeout=SLOWEST) as opened:
            page.get_by_role("link", name="Read the external report").click()
        opened.value.locator(".judgement").wait_for(timeout=SLOWEST)
        assert opened.value.locator(".judgement").count() == 1
        opened.value.close()
        seen(page, axe, "release")
        page.get_by_role("button", name="Verify, audit and sign").click()
        page.get_by_text("It verifies").wait_for()
        page.get_by_role("button", name="Make a key").click()
        page.get_by_text("your private key").wait_for()
        page.get_by_role("button", name="Sign this release").click()
        page.locator("#signed").wait_for()
        page.get_by_text("It verifies").wait_for()
        page.get_by_text("All checks").click()
        page.get_by_role("row", name="signature").wait_for()
        seen(page, axe, "officer")
    release = tmp_path / "people" / "people.release"
    assert len(list((release / "signatures").iterdir())) == 1
