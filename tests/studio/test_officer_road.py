"""What an officer sees belongs to the release that is there, and nothing else is signed."""

import json
import re
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from studio.visitor import PATIENCE, Answered, Visitor, opened_studio

from scumble.core.progress import Progress
from scumble.studio import state
from scumble.studio.work import Calculation, command_line

CHECKS = json.dumps([{"check": "digest", "passed": True, "standing": "proof", "detail": "seen"}])
FINDINGS = json.dumps(
    [
        {
            "attack": "guessing",
            "verdict": "holds",
            "passed": True,
            "grade": "none",
            "success": 0.5,
            "low": 0.4,
            "high": 0.6,
            "baseline": 0.5,
            "detail": "seen",
        }
    ]
)


class Commands:
    """Stands for commands: it keeps what they were, and they answer at once unless they are held."""

    def __init__(self) -> None:
        self.begun: list[list[str]] = []
        self.free = threading.Event()
        self.free.set()

    def __call__(self, title: str, arguments: Sequence[str], folder: Path, *, fails: bool = False) -> Calculation:
        self.begun.append(list(arguments))

        def answer(progress: Progress) -> str:
            while not self.free.wait(0.01):
                progress(0, None)
            if arguments[0] == "report":
                (folder / arguments[-1]).write_text("written here")
            return {"verify": CHECKS, "audit": FINDINGS}.get(arguments[0], "done")

        return Calculation(title, answer, shown=command_line(arguments))

    def of(self, name: str) -> int:
        """How many of them there were."""
        return sum(line[0] == name for line in self.begun)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Commands:
    made = Commands()
    monkeypatch.setattr(state, "Command", made)
    return made


@pytest.fixture
def release(tmp_path: Path) -> Path:
    made = tmp_path / "a.release"
    made.mkdir()
    (made / "manifest.json").write_text("first")
    return made


def ended(visitor: Visitor) -> Answered:
    return visitor.until("/r/0/", lambda answer: "data-poll" not in answer.text)


def digest(answer: Answered) -> str:
    found = re.search(r'name="digest" value="([0-9a-f]{64})"', answer.text)
    assert found is not None
    return found[1]


def test_another_release_in_its_place_shows_nothing_and_is_not_signed(
    tmp_path: Path, release: Path, commands: Commands
) -> None:
    with opened_studio(tmp_path) as (visitor, _):
        visitor.post("/releases", {"path": "a.release"})
        for kind in ("audit", "report"):
            visitor.post(f"/r/0/run/{kind}")
        page = ended(visitor)
        for word in ("It verifies", "1 findings", "Read the report</a>"):
            assert word in page.text
        old = digest(page)
        (release / "manifest.json").write_text("second")
        page = ended(visitor)
        for word in ("It verifies", "1 findings", "Read the report</a>"):
            assert word not in page.text
        for shown, word in ((old, "not the one that the page showed"), (digest(page), "not been verified"), ("", "")):
            refused = visitor.post("/r/0/run/sign", {"digest": shown})
            assert (refused.status, word in refused.text) == (422, True)
        visitor.post("/r/0/run/verify")
        assert "It verifies" in ended(visitor).text
        assert "not the one" in visitor.post("/r/0/run/sign", {"digest": old}).text
        assert commands.of("sign") == 0
        visitor.post("/r/0/run/sign", {"digest": digest(page)})
        assert 'id="signed"' in ended(visitor).text
        assert (commands.of("sign"), commands.of("verify")) == (1, 3)
        (release / "manifest.json").write_text("third")
        assert 'id="signed"' not in ended(visitor).text


def test_a_report_is_shown_that_was_written_here_of_this_release(
    tmp_path: Path, release: Path, commands: Commands
) -> None:
    (tmp_path / "a.report.html").write_text("a stranger's praise")
    with opened_studio(tmp_path) as (visitor, _):
        visitor.post("/releases", {"path": "a.release"})
        assert "Read the report</a>" not in ended(visitor).text
        assert visitor.get("/r/0/report").status == 404
        visitor.post("/r/0/run/report")
        ended(visitor)
        assert visitor.get("/r/0/report").text == "written here"
        (release / "manifest.json").write_text("second")
        assert visitor.get("/r/0/report").status == 404


@pytest.mark.slow
def test_what_goes_on_with_something_else_is_waited_for_or_cancelled(
    tmp_path: Path, release: Path, commands: Commands
) -> None:
    with opened_studio(tmp_path) as (visitor, _):
        visitor.post("/releases", {"path": "a.release"})
        ended(visitor)
        commands.free.clear()
        assert visitor.post("/r/0/run/audit", {"raw": "x.csv"}).text.count("/r/0/cancel/audit") == 1
        assert "wait for its end, or cancel it" not in visitor.post("/r/0/run/audit", {"raw": "x.csv"}).text
        refused = visitor.post("/r/0/run/audit", {"raw": "y.csv"})
        assert (refused.status, "wait for its end, or cancel it" in refused.text) == (422, True)
        visitor.post("/r/0/run/verify")
        (release / "manifest.json").write_text("second")
        assert visitor.post("/r/0/run/verify").status == 422
        assert "data-poll" in visitor.post("/releases", {"path": "a.release"}).text
        commands.free.set()
        assert "It verifies" not in ended(visitor).text


def test_paths_that_are_none_are_sentences_and_a_dash_begins_no_option(tmp_path: Path, commands: Commands) -> None:
    made = tmp_path / "-x.release"
    made.mkdir()
    (made / "manifest.json").write_text("first")
    with opened_studio(tmp_path) as (visitor, _):
        for path in ("~nobody-of-that-name/x", "a\0b", "x" * 5000):
            for place in ("/releases", "/projects"):
                answer = visitor.post(place, {"path": path})
                assert (answer.status, "cannot be a path" in answer.text) == (422, True), (place, path[:30])
        visitor.post("/releases", {"path": "-x.release"})
        ended(visitor)
        visitor.post("/r/0/run/report")
        ended(visitor)
        assert visitor.post("/r/0/run/audit", {"raw": "a\0b"}).status == 422
    assert commands.begun[0] == ["verify", "./-x.release", "--format", "json"]
    assert commands.begun[1][-1] == "./-x.report.html"


def test_a_plan_keeps_the_spec_that_it_began_with(tmp_path: Path, commands: Commands) -> None:
    """A spec that was edited meanwhile is planned when the plan of the first one is over, and is not taken for it."""
    (tmp_path / "p").mkdir()
    spec = tmp_path / "p" / "spec.toml"
    spec.write_text('table = "../t.csv"\n')
    with opened_studio(tmp_path) as (visitor, studio):
        commands.free.clear()
        visitor.post("/p/p/plan")
        first = spec.read_text()
        spec.write_text(first + "# edited\n")
        assert "wait for its end" in visitor.post("/p/p/plan").text
        work = studio.work("p", "plan")
        assert work is not None
        assert work.key == first
        commands.free.set()
        work.wait(PATIENCE)
        visitor.post("/p/p/plan")
        again = studio.work("p", "plan")
        assert again is not None
        assert again.key == spec.read_text()
