"""The explore page in Chromium: what it answers, what can be clicked, who can use it, and what it never does."""

import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from browser import opened_tab, screenshot, violations
from naming import publish_openly
from tables import DISEASES
from web.page_questions import Asker, Question, differences
from web.releases import RELEASES, patients, released

import scumble

pytestmark = pytest.mark.slow

QUESTIONS = int(os.environ.get("SCUMBLE_QUESTIONS", "50"))
"""Random questions to all releases together; `make browser` asks 500."""


def address(release: scumble.Release) -> str:
    """The page of a release, opened from its folder."""
    return (release.path / "explore.html").as_uri()


def link(question: Question) -> str:
    """What stands behind # in the address."""
    parts: list[tuple[str, Any]] = [("show", question["measure"])]
    parts += [("of", question["of"])] if question["of"] else []
    parts += [("by", name) for name in question["by"]]
    parts += [("where", json.dumps(part)) for part in question["where"]]
    parts += [("order", question["order"])] if question["order"] != "group" else []
    parts += [("top", question["top"])] if question["top"] else []
    parts += [("level", question["level"])] if question["level"] != 0.95 else []
    return "#" + urlencode(parts)


READ = """() => {
  const answer = document.getElementById("answer");
  const warning = answer.querySelector(".warning");
  const codes = [...answer.querySelectorAll(".snippet code")].map((code) => code.textContent);
  if (warning) return { refused: warning.textContent, sql: codes.at(-1) ?? null };
  const table = answer.querySelector("#numbers table");
  const heads = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent);
  const rows = [...table.querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) => cell.textContent));
  const notes = [...answer.querySelectorAll(".notes li")].map((note) => note.textContent);
  return { heads, rows, notes, sql: codes.at(-1) };
}"""


def shown_on(page: Any, question: Question) -> dict[str, Any]:
    """What stands on the page, as the comparison takes it."""
    seen = page.evaluate(READ)
    if "refused" in seen:
        return {**seen, "sql": seen["sql"] or "SELECT"}
    count = len(question["by"])
    names = {"(missing)": None, "(empty)": ""}
    groups = [
        {"name": name, "labels": [names.get(row[i], row[i]) for row in seen["rows"]]}
        for i, name in enumerate(question["by"])
    ]
    texts = [
        {"heading": head, "cells": [row[count + i] for row in seen["rows"]]}
        for i, head in enumerate(seen["heads"][count:])
    ]
    return {"sql": seen["sql"], "groups": groups, "texts": texts, "notes": seen["notes"]}


def ask(page: Any, release: scumble.Release, question: Question) -> dict[str, Any]:
    """Opens the link of a question, waits for the answer, and has all of its lines shown."""
    page.goto("about:blank")
    page.goto(address(release) + link(question))
    page.wait_for_selector("#answer-title")
    page.wait_for_selector("#answer[aria-busy]", state="detached")
    more = page.locator("#numbers button")
    if more.count():
        page.evaluate("document.getElementById('numbers').open = true")
        more.click()
        more.wait_for(state="detached")
    return shown_on(page, question)


@pytest.mark.parametrize("part", range(2))
def test_random_questions_are_answered_as_by_scumble_query(part: int, tab: Any) -> None:
    """By links, as a reader who got one; every printed text on the page, and the SQL beside it asked again."""
    names = list(RELEASES)[part::2]
    draw = random.Random(17 + part)
    for i in range(QUESTIONS // 2):
        release = released(names[i % len(names)])
        question = Asker(release, draw).question()
        shown = ask(tab, release, question)
        if "refused" in shown:
            assert "no table of this release" in shown["refused"] or "only counts are answered" in shown["refused"]
            continue
        assert differences(release, question, shown) == [], f"{names[i % len(names)]}: {question}\n{shown['sql']}"


def narrow(page: Any, column: str) -> None:
    """Opens the menu of columns and takes one to filter by."""
    page.click("#add-filter")
    page.get_by_role("button", name=column, exact=True).click()


def test_a_question_is_put_together_by_clicks(tab: Any) -> None:
    tab.goto(address(released("uniform")))
    tab.select_option("#measure", "avg cost")
    tab.select_option("#by-1", "sex")
    narrow(tab, "disease")
    tab.get_by_label("flu").check()
    tab.get_by_label("cold").check()
    tab.get_by_role("button", name="Apply").click()
    tab.wait_for_selector("text=Only rows where disease is flu or cold")
    assert tab.text_content("#answer-title") == "Average of cost by sex"
    tab.select_option("#level", "0.99")
    tab.select_option("#order", "most")
    tab.select_option("#top", "5")
    tab.wait_for_function("() => location.hash.includes('top=5')")
    sql = tab.evaluate(READ)["sql"].split("\n")
    assert sql[2:] == ["WHERE disease IN ('flu', 'cold')", "GROUP BY sex", "ORDER BY average DESC", "LIMIT 5"]
    tab.get_by_role("button", name="remove the filter on disease").click()
    tab.wait_for_selector(".where", state="detached")
    tab.go_back()
    tab.wait_for_selector("text=Only rows where disease is flu or cold")


def test_numbers_are_narrowed_by_two_ends(tab: Any) -> None:
    tab.goto(address(released("uniform")) + "#show=count")
    narrow(tab, "visits")
    tab.get_by_label("from", exact=True).fill("8")
    tab.get_by_label("to", exact=True).fill("3")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("text=Only rows where visits is 3 to 8.")
    assert "WHERE visits BETWEEN 3 AND 8" in tab.evaluate(READ)["sql"]
    tab.goto("about:blank")
    tab.goto(address(released("uniform")) + "#show=count")
    narrow(tab, "admitted")
    tab.get_by_label("from", exact=True).fill("2022-01-15")
    tab.get_by_role("button", name="Apply").click()
    tab.wait_for_selector("text=Only rows where admitted is at least 2022-01-15.")
    shown = shown_on(tab, {"by": []})
    assert differences(released("uniform"), {"by": [], "level": 0.95}, shown) == []


def test_lines_that_were_ranked_and_cut_have_intervals_that_hold_together(tab: Any) -> None:
    release = released("uniform")
    tab.goto(address(release) + "#show=count&by=disease&order=most&top=2")
    tab.wait_for_selector(".notes")
    assert "hold together with 95%, each with 99%" in tab.text_content(".notes")
    assert "all together" in tab.text_content(".sure")


@pytest.mark.parametrize(
    "hash", ["#show=count&by=nothing", "#show=avg", "#show=count&where={", "#show=count&top=-1", "#x=1"]
)
def test_a_link_that_asks_for_nothing_that_there_is_says_so(tab: Any, hash: str) -> None:
    tab.goto(address(released("uniform")) + hash)
    tab.wait_for_selector("#answer .warning")
    assert "cannot answer" in tab.text_content("#answer .warning")
    assert tab.text_content("#answer-title") == "Number of rows by disease"


def test_files_come_out(tab: Any) -> None:
    """The CSV is that of scumble query; the image is one."""
    release = released("uniform")
    tab.goto(address(release) + "#show=avg&of=cost&by=disease")
    tab.wait_for_selector("#save-csv")
    with tab.expect_download() as saved:
        tab.click("#save-csv")
    lines = Path(saved.value.path()).read_text().splitlines()
    expected = release.query("SELECT disease, AVG(cost) AS average FROM release GROUP BY disease").to_csv().splitlines()
    assert lines[0] == expected[0]
    for line, other in zip(lines[1:], expected[1:], strict=True):
        name, *numbers = line.split(",")
        assert [name, *map(float, numbers)] == [
            other.split(",")[0],
            *(pytest.approx(float(x)) for x in other.split(",")[1:]),
        ]
    for hash in (
        "#show=avg&of=cost&by=disease",
        "#show=count&by=visits",
        "#show=count&by=sex&by=disease",
        "#show=count",
    ):
        tab.goto(address(release) + hash)
        tab.wait_for_selector("#answer[aria-busy]", state="detached")
        with tab.expect_download() as saved:
            tab.click("#save-png")
        assert Path(saved.value.path()).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


HOSTILE = [
    "=cmd|'/c calc'!A0",
    "<img src=x onerror=alert(1)>",
    "'; DROP TABLE release; --",
    "</script><script>alert(1)</script>",
    'a"b,c',
    "+1",
    "\u202eevil",
]


@pytest.fixture(scope="module")
def hostile() -> scumble.Release:
    """Columns and values that are markup, statements and formulas elsewhere."""
    rows = patients(400)
    values = [HOSTILE[i % len(HOSTILE)] for i in range(400)]
    table = rows.select(["sex", "disease"]).append_column("<b>note</b>", [values]).append_column('a "q"', [values])
    return publish_openly(table, sensitive="disease", domains={"disease": DISEASES}, retain=0.5, seed=3)


def test_names_and_values_are_text_wherever_they_stand(tab: Any, hostile: scumble.Release) -> None:
    dialogs: list[str] = []
    tab.on("dialog", lambda dialog: dialogs.append(dialog.message))
    question = {**PLAIN, "by": ["<b>note</b>"], "where": [{"column": 'a "q"', "labels": HOSTILE[:6]}]}
    shown = ask(tab, hostile, question)
    for group in shown["groups"]:
        group["labels"] = [text.replace("\\u202e", "\u202e") for text in group["labels"]]
    assert differences(hostile, question, shown) == []
    assert tab.locator("main img, main b").count() == 0
    assert dialogs == []
    with tab.expect_download() as saved:
        tab.click("#save-csv")
    cells = [line.split(",")[0].strip('"') for line in Path(saved.value.path()).read_text().splitlines()]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    with tab.expect_download() as saved:
        tab.click("#save-png")


def test_a_browser_runs_nothing_but_the_script_of_the_page(tab: Any) -> None:
    """Whatever else got into the document: neither a script nor a handler nor a style of it is run."""
    tab.goto(address(released("uniform")))
    tab.wait_for_selector("#answer-title")
    tab.evaluate("""() => {
      const script = document.createElement("script");
      script.textContent = "document.title = 'run'";
      document.body.append(script);
      document.body.insertAdjacentHTML("beforeend", "<p onclick='1' style='color: red' id='styled'>x</p>");
    }""")
    assert tab.title() != "run"
    assert tab.evaluate("getComputedStyle(document.getElementById('styled')).color") != "rgb(255, 0, 0)"
    refused = [said for said in tab.complaints if "Content Security Policy" in said]
    assert len(refused) == len(tab.complaints) >= 2
    tab.complaints.clear()


PLAIN: Question = {"measure": "count", "of": None, "by": [], "where": [], "order": "group", "top": None, "level": 0.95}


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., scumble.Release]:
    """Publishes a release whose data is not in its page, in several files."""
    monkeypatch.setattr("scumble.web.explore.INLINED", 1000)

    def make(**how: Any) -> scumble.Release:
        return publish_openly(
            patients(),
            tmp_path / "big.release",
            sensitive="disease",
            domains={"disease": DISEASES},
            retain=0.5,
            seed=3,
            **how,
        )

    return make


def test_data_is_read_from_beside_the_page_on_a_host(
    tab: Any, large: Callable[..., scumble.Release], hosted: Any
) -> None:
    release = large()
    tab.goto(hosted(release.path.parent) + "/big.release/explore.html" + link({**PLAIN, "by": ["disease"]}))
    tab.wait_for_selector("#answer-title")
    assert tab.text_content("h1") == "big"
    assert differences(release, {**PLAIN, "by": ["disease"]}, shown_on(tab, {**PLAIN, "by": ["disease"]})) == []


def test_data_is_picked_where_the_page_was_opened_from_a_folder(
    tab: Any, large: Callable[..., scumble.Release], tmp_path: Path
) -> None:
    """A file of another name, of other bytes, or of another release is refused by a sentence."""
    release = large()
    (name,) = release.manifest.data
    bytes_of = (release.path / name).read_bytes()
    changed, other = tmp_path / name, tmp_path / "other.parquet"
    changed.write_bytes(bytes_of[:-1] + bytes([bytes_of[-1] ^ 1]))
    other.write_bytes(bytes_of)
    tab.goto(address(release))
    tab.wait_for_selector("text=One step more")
    screenshot(tab, "explore-pick")
    tab.set_input_files("#pick", str(other))
    tab.wait_for_selector("text=other.parquet is not a data file of this release")
    tab.set_input_files("#pick", str(changed))
    tab.wait_for_selector("text=it was changed, or is of another release")
    tab.set_input_files("#pick", str(release.path / name))
    tab.wait_for_selector("#answer-title")
    assert differences(release, {**PLAIN, "by": ["disease"]}, shown_on(tab, {**PLAIN, "by": ["disease"]})) == []


def test_forms_that_cannot_be_clicked_say_how_they_are_asked(tab: Any, axe: str) -> None:
    table = patients().select(["sex", "disease"])
    release = publish_openly(
        table, sensitive="disease", domains={"disease": DISEASES}, mechanism="anatomy", settings={"l": 2}, seed=3
    )
    tab.goto(address(release))
    tab.wait_for_selector("text=How to ask it")
    command = tab.text_content(".snippet code")
    sql = re.search(r"'(SELECT.*)'", command, re.DOTALL)
    assert sql is not None
    assert len(release.query(sql[1])) == 2
    assert violations(tab, axe) == []
    screenshot(tab, "explore-anatomy")


LOOKS: dict[str, tuple[str, str]] = {
    "bars": ("uniform", "#show=count&by=disease"),
    "ranking": ("uniform", "#show=count&by=disease&order=most&top=3"),
    "line": ("uniform", "#show=avg&of=cost&by=age"),
    "crosstab": ("uniform", "#show=count&by=disease&by=visits"),
    "number": ("uniform", "#show=avg&of=cost&where=" + json.dumps({"column": "smoker", "labels": ["true"]})),
    "nothing": ("uniform", "#show=count&by=sex&where=" + json.dumps({"column": "age", "low": 500, "high": 600})),
    "suppressed": ("noisy_counts of a total", "#show=count&by=disease"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(chromium: Any, axe: str, scheme: str) -> None:
    """No violation of level A or AA, in light and in dark, of every kind of answer, with filters open; and what it looks like is kept."""
    with opened_tab(chromium, color_scheme=scheme) as page:
        for name, (release, hash) in LOOKS.items():
            page.goto("about:blank")
            page.goto(address(released(release)) + hash)
            page.wait_for_selector("#answer-title")
            page.evaluate("document.querySelectorAll('details').forEach((part) => (part.open = true))")
            page.wait_for_timeout(50)
            assert violations(page, axe) == [], name
            screenshot(page, f"explore-{name}-{scheme}")


def test_a_phone_shows_it_without_scrolling_sideways(chromium: Any, axe: str, hostile: scumble.Release) -> None:
    with opened_tab(chromium) as page:
        page.set_viewport_size({"width": 360, "height": 740})
        pages = {name: address(released(release)) + hash for name, (release, hash) in LOOKS.items()}
        pages["long names"] = address(hostile) + link({**PLAIN, "by": ["<b>note</b>"]})
        for name, where in pages.items():
            page.goto("about:blank")
            page.goto(where)
            page.wait_for_selector("#answer-title")
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
            assert violations(page, axe) == [], name
            screenshot(page, f"explore-{name}-phone")


def test_paper_has_the_answer_and_no_buttons(tab: Any) -> None:
    tab.goto(address(released("uniform")) + "#show=count&by=disease")
    tab.wait_for_selector("#answer-title")
    tab.emulate_media(media="print")
    assert tab.locator("button:visible, #ask:visible").count() == 0
    assert tab.locator(".drawing svg:visible").count() == 1
    screenshot(tab, "explore-print")


def test_a_keyboard_is_enough(tab: Any) -> None:
    """From the first key to a filter: every stop is visible, and focus is kept where it was."""
    tab.goto(address(released("uniform")))
    tab.wait_for_selector("#answer-title")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the answer"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "answer"
    tab.focus("#by-1")
    tab.keyboard.type("sex")
    tab.wait_for_selector("text=Number of rows by sex")
    assert tab.evaluate("document.activeElement.id") == "by-1"
    tab.focus("#add-filter")
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    while tab.evaluate("document.activeElement.textContent") != "ward":
        tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#filter-ward")
    assert tab.evaluate("document.activeElement.id") == "filter-ward"
