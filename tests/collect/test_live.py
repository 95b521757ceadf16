"""Estimates while answers come in: whole batches alone, for whoever may see them."""

import json
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
from collect.servers import STORES, Server, call, running, store_of
from collect.surveys import survey
from collect.test_closing import answered, people

import scumble
from scumble.collect.live import LiveAnswers
from scumble.collect.stores import open_store
from scumble.collect.wire import batch

pytestmark = pytest.mark.slow

COUNT = "SELECT COUNT(*) AS n FROM release"
GROUPS = "SELECT illness, COUNT(*) AS n FROM release GROUP BY illness"


def ask(server: Server, sql: str, **headers: str) -> tuple[int, Any]:
    return call(f"{server.url}/query?{urllib.parse.urlencode({'sql': sql})}", None, **headers)[:2]


def send(server: Server, asked: scumble.collect.Survey, count: int, seed: int) -> None:
    body = batch([scumble.perturb(record, asked) for record in people(count, seed)])
    assert call(f"{server.url}/answers", body)[1]["stored"] == count


@pytest.mark.parametrize("kind", STORES)
def test_answers_show_in_batches_also_across_a_restart(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """25 answers show when 20 make a batch and came together; five more show nothing, and neither does starting anew."""
    asked = survey(live={"batch": 20, "readers": "public"})
    with running(asked, tmp_path, store_of(kind, tmp_path)) as server:
        assert ask(server, COUNT) == (
            422,
            {"error": "fewer than 20 answers have come in, and none shows before; ask again later"},
        )
        send(server, asked, 25, 1)
        first = ask(server, COUNT)[1]
        assert (first["answers"], first["rows"][0]["n"]) == (25, 25)
        send(server, asked, 5, 2)
        server.kill()
        server.start()
        assert ask(server, COUNT)[1]["answers"] == 25
        send(server, asked, 20, 3)
        server.kill()
        server.start()
        told = ask(server, GROUPS)[1]
        assert told["answers"] == 50
        assert set(told["rows"][0]) == {"illness", "n", "n_se", "n_low", "n_high"}
        for sql in (
            "",
            "SELECT",
            "SELECT * FROM release",
            "DROP TABLE release",
            "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
            "x" * 5000,
        ):
            status, refused = ask(server, sql)
            assert status == 422
            assert len(refused["error"]) > 10


def test_live_answers_are_for_who_has_the_token(tmp_path: Path) -> None:
    asked = survey(live={"batch": 10})
    (tmp_path / "readers").write_text("a-token-of-readers")
    with running(asked, tmp_path, str(tmp_path / "s.db"), "--reader-token", str(tmp_path / "readers")) as server:
        send(server, asked, 12, 1)
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "a-token-of-readers"}):
            assert ask(server, COUNT, **headers)[0] == 401
        assert ask(server, COUNT, Authorization="Bearer a-token-of-readers")[1]["answers"] == 12


def test_a_survey_that_says_nothing_of_it_shows_nothing(tmp_path: Path) -> None:
    asked = survey()
    with running(asked, tmp_path, str(tmp_path / "s.db")) as server:
        send(server, asked, 150, 1)
        assert ask(server, COUNT)[0] == 404
        assert json.dumps(call(f"{server.url}/health")[1]).count("150") == 0


def test_who_asks_keeps_the_files_until_the_answer_is_there(tmp_path: Path) -> None:
    asked = survey(live={"batch": 10, "readers": "public"})
    address = str(tmp_path / "s.db")
    answered(address, asked, people(20))
    live = LiveAnswers(asked, lambda: open_store(address), tmp_path, 10)
    with live.release("") as former:
        answered(address, asked, people(30, 4))
        live._snapshots[""].due = 0.0
        assert live.ask(COUNT, "")["answers"] == 50
        assert former.query(COUNT).to_list()[0]["n"] == 20
        assert former.path.exists()
    assert not former.path.exists()
    assert len(list(tmp_path.glob("live-*"))) == 1


def test_a_store_that_is_gone_is_not_described_to_strangers(tmp_path: Path) -> None:
    asked = survey(live={"batch": 10, "readers": "public"})
    with running(asked, tmp_path, str(tmp_path / "s.db")) as server:
        send(server, asked, 12, 1)
        for file in tmp_path.glob("s.db*"):
            file.unlink()
        status, told = ask(server, COUNT)
        assert (status, told["code"]) == (503, "store")
        assert str(tmp_path) not in json.dumps(told)
        assert str(tmp_path) in server.text()
