"""From a table to a release, by forms; the command beside them does the same."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from html import unescape
from pathlib import Path

import pyarrow as pa
import pytest
from markupsafe import escape
from studio.visitor import EVIL, FORMULA, PATIENCE, Visitor, opened_studio, small_table

from scumble.cli import run
from scumble.spec.spec import read_spec
from scumble.studio.state import Studio
from scumble.studio.work import Calculation, Command


def roles_page(visitor: Visitor, name: str = "people") -> str:
    return visitor.until(f"/p/{name}/roles", lambda answer: 'class="cards"' in answer.text).text


def by_hand_command(shown: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command as it is shown, in a folder, without the studio."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", shlex.split(shown))
    assert run() == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small_table(tmp_path / "people.csv")
    return tmp_path


@pytest.mark.slow
def test_names_and_values_are_text(folder: Path) -> None:
    """A column or a value that is HTML, SQL or a formula stands on the page as it was written, and in no address."""
    with opened_studio(folder) as (visitor, _):
        visitor.post("/projects", {"table": "0"})
        page = roles_page(visitor)
        assert str(escape(EVIL)) in page
        assert "<b>ward" not in page
        assert "<script>alert" not in page
        assert FORMULA[:20] in unescape(page)
        assert not re.findall(r'(?:href|action|src)="[^"]*(?:ward|HYPERLINK|DROP|flu)', page)


@pytest.mark.slow
def test_columns_in_doubt_stand_first_and_nothing_is_published_before_they_are_decided(folder: Path) -> None:
    with opened_studio(folder) as (visitor, _):
        visitor.post("/projects", {"table": "0"})
        page = roles_page(visitor)
        legends = re.findall(r"<legend>([^<]*)</legend>", page)
        assert legends[0] == str(escape(EVIL))
        assert "1 of 5 columns are not decided" in page
        publishing = visitor.get("/p/people/publish").text
        assert "is not decided" in publishing
        assert not re.search(r"<button[^>]*>Publish", publishing)
        refused = visitor.post("/p/people/publish")
        refused = visitor.until("/p/people/publish", lambda answer: "data-poll" not in answer.text)
        assert "no role, and nothing is published" in refused.text
        assert not (folder / "people" / "people.release").exists()


@pytest.mark.slow
def test_a_role_is_what_init_would_write_and_can_be_undone(folder: Path) -> None:
    with opened_studio(folder) as (visitor, _):
        visitor.post("/projects", {"table": "0"})
        roles_page(visitor)
        first = (folder / "people" / "spec.toml").read_bytes()
        line = [sys.executable, "-m", "scumble", "init", "people.csv", "-o", "by-hand.toml", "--no-questions"]
        subprocess.run(line, cwd=folder, check=True, capture_output=True, timeout=PATIENCE)
        assert first == (folder / "by-hand.toml").read_bytes().replace(
            b'table = "people.csv"', f'table = "{folder / "people.csv"}"'.encode()
        )
        visitor.post(
            "/p/people/roles", {"role-3": "sensitive", "role-1": "dropped", "role-9": "public", "role-2": "nonsense"}
        )
        spec = read_spec(folder / "people" / "spec.toml")
        assert (spec.columns[EVIL].role, spec.columns[EVIL].values) == ("sensitive", ["<i>c</i>", "a", "b"])
        assert (spec.columns["age"].role, spec.columns["age"].coarsen) == ("dropped", None)
        assert spec.columns["sex"].role == "public"
        visitor.post("/p/people/undo", {"step": "roles"})
        assert (folder / "people" / "spec.toml").read_bytes() == first
        visitor.post("/p/people/redo", {"step": "roles"})
        assert read_spec(folder / "people" / "spec.toml") == spec
        visitor.post("/p/people/roles", {"role-0": "public"})
        assert read_spec(folder / "people" / "spec.toml").person is None
        answer = visitor.post("/p/people/roles", {"person": "77"})
        assert (answer.status, "whose row it is" in answer.text) == (422, True)


@pytest.mark.slow
def test_the_command_that_is_shown_makes_the_same_manifest(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened_studio(folder, seed=5) as (visitor, _):
        visitor.post("/projects", {"table": "0"})
        roles_page(visitor)
        visitor.post("/p/people/roles", {"role-3": "public"})
        shown = visitor.get("/p/people/publish").element("command")
        elsewhere = tmp_path / "elsewhere"
        shutil.copytree(folder, elsewhere, ignore=shutil.ignore_patterns("elsewhere"))
        visitor.post("/p/people/publish")
        page = visitor.until("/p/people/release", lambda answer: "Explore it" in answer.text)
        assert "INSECURE" in page.text
        explored = visitor.get("/p/people/explore")
        assert "sandbox allow-scripts" in explored.headers["content-security-policy"]
        assert "unsafe" not in explored.headers["content-security-policy"]
        assert "<script>alert" not in explored.text
        assert visitor.get("/p/people/report/internal").status == 404
    by_hand_command(shown, elsewhere, monkeypatch)
    made, by_hand = (place / "people" / "people.release" / "manifest.json" for place in (folder, elsewhere))
    assert made.read_bytes() == by_hand.read_bytes()


@pytest.mark.slow
def test_domains_and_privacy_are_what_the_commands_write(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Coarser columns, a declared domain, a point of the frontier: in the spec, and by `scumble advise` the same point."""
    with opened_studio(folder) as (visitor, _):
        visitor.post("/projects", {"table": "0"})
        roles_page(visitor)
        visitor.post("/p/people/roles", {"role-3": "public"})
        before = re.findall(r'"big">([^<]*)<', visitor.get("/p/people/domains").text)
        values = "flu\ncold\nasthma\ngout\n" + FORMULA
        page = visitor.post(
            "/p/people/domains", {"rung-1": "3", "domain-4": "yes", "values-4": values, "complete-4": "yes"}
        )
        assert re.findall(r'"big">([^<]*)<', page.text) != before
        spec = read_spec(folder / "people" / "spec.toml")
        assert (spec.columns["age"].coarsen.bins, spec.columns["disease"].from_data) == (10, False)
        assert spec.columns["disease"].values == ["flu", "cold", "asthma", "gout", FORMULA]
        refused = visitor.post("/p/people/domains", {"rung-1": "99"})
        assert (refused.status, "no such way" in refused.text) == (422, True)

        visitor.post(
            "/p/people/questions",
            {"questions": "SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'flu' GROUP BY sex\n\n"},
        )
        chosen = {"level": "5", "mechanism": "1"}
        there = visitor.until("/p/people/privacy?level=5&mechanism=1", lambda answer: "take-it" in answer.text)
        assert "sex=F" in there.text
        shown = there.element("command")
        elsewhere = tmp_path / "elsewhere"
        shutil.copytree(folder, elsewhere, ignore=shutil.ignore_patterns("elsewhere"))
        visitor.post("/p/people/privacy", chosen)
        made = read_spec(folder / "people" / "spec.toml")
    advise, take = shown.splitlines()
    by_hand_command(advise, elsewhere, monkeypatch)
    subprocess.run(shlex.split(take), cwd=elsewhere, check=True, timeout=PATIENCE)
    advised = read_spec(elsewhere / "people" / "spec.toml")
    assert made.privacy != spec.privacy
    assert (made.mechanism, made.privacy, made.settings) == (advised.mechanism, advised.privacy, advised.settings)
    assert made.columns == advised.columns


@pytest.mark.slow
def test_what_lasts_can_be_cancelled(tmp_path: Path) -> None:
    """A task at its next step, a command at once: it ends as by Ctrl-C, and leaves nothing."""
    begun = threading.Event()

    def endless(progress):
        while True:
            progress(1, 10)
            begun.set()

    studio = Studio(tmp_path)
    work = studio.begin("p", "reading", Calculation("Reading", endless))
    assert studio.begin("p", "reading", Calculation("Another", endless)) is work
    assert begun.wait(PATIENCE)
    command = Command("Waiting", ["studio", "--no-browser"], tmp_path).start()
    command.cancel()
    studio.close()
    command.wait(PATIENCE)
    assert (work.state, work.done, command.state) == ("cancelled", 1, "cancelled")


def test_a_table_that_cannot_be_opened_is_a_sentence(folder: Path) -> None:
    (folder / "notes.pdf").write_text("hello")
    with opened_studio(folder) as (visitor, _):
        for path, word in (
            ("nowhere.csv", "no table"),
            ("", "which table"),
            ("postgresql://u:p@h/d?table=t", "password"),
            ("notes.pdf", "none of .csv"),
        ):
            answer = visitor.post("/projects", {"path": path})
            assert (answer.status, word in unescape(answer.text)) == (422, True), path
        assert visitor.post("/projects", {"table": "0", "name": "../x"}).status == 422
    assert [path.name for path in folder.iterdir() if path.is_dir()] == []


@pytest.mark.slow
def test_a_domain_that_is_none_is_a_sentence_and_is_not_written(folder: Path) -> None:
    with opened_studio(folder) as (visitor, _):
        visitor.post("/projects", {"table": "0"})
        roles_page(visitor)
        visitor.post("/p/people/roles", {"role-1": "sensitive"})
        before = (folder / "people" / "spec.toml").read_bytes()
        for low, high, step in (
            ("abc", "90", "1"),
            ("18", "", "1"),
            ("18", "90", "0"),
            ("nan", "90", "1"),
            ("90", "18", "1"),
            ("1", "1e400", "1"),
        ):
            form = {"domain-1": "yes", "low-1": low, "high-1": high, "step-1": step}
            answer = visitor.post("/p/people/domains", form)
            assert answer.status == 422, (low, high, step)
        assert visitor.post("/p/people/domains", {"domain-4": "yes", "values-4": "flu"}).status == 422
        assert (folder / "people" / "spec.toml").read_bytes() == before
        visitor.post("/p/people/domains", {"domain-1": "yes", "low-1": "10", "high-1": "100", "step-1": "10"})
        assert read_spec(folder / "people" / "spec.toml").columns["age"].domain("age", pa.int64()).size == 10


@pytest.mark.slow
def test_another_table_is_read_anew_and_so_is_one_that_was_written_again(folder: Path) -> None:
    with opened_studio(folder) as (visitor, studio):
        visitor.post("/projects", {"table": "0"})
        roles_page(visitor)
        first = studio.work("people", "reading")
        visitor.post("/p/people/roles", {"role-3": "public"})
        roles_page(visitor)
        assert studio.work("people", "reading") is first
        small_table(folder / "more.csv", 40)
        spec = folder / "people" / "spec.toml"
        spec.write_text(spec.read_text().replace("people.csv", "more.csv"))
        for rows in (40, 50):
            small_table(folder / "more.csv", rows)
            os.utime(folder / "more.csv", ns=(rows, rows))
            roles_page(visitor)
            work = studio.work("people", "reading")
            assert work is not None
            assert work.result.rows == rows


def test_folders_of_csv_are_tables_and_projects_are_not(folder: Path) -> None:
    for name, file in (("parts", "1.csv"), ("columns", "1.parquet"), ("project", "spec.toml"), ("notes", "a.pdf")):
        (folder / name).mkdir()
        (folder / name / file).touch()
    (folder / "project" / "data.csv").touch()
    assert Studio(folder).tables() == ["columns", "parts", "people.csv"]
