"""One person: asking again never averages out, what was answered is sent once, and nothing true is on the disk."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from collect.surveys import COLUMNS, survey

import scumble
from scumble.collect import client as clients
from scumble.errors import SurveyError

RECORD = {"sex": "F", "illness": "diabetes", "days": 7}


class Collector:
    """A server that says what it is told to, and takes each id once."""

    def __init__(self) -> None:
        self.replies: list[tuple[int, dict[str, str]]] = []
        self.bodies: list[bytes] = []
        self.lost = 0
        """How many replies do not reach the client, though the message was taken."""

    @contextmanager
    def running(self) -> Iterator[str]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                collector.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                if collector.lost:
                    collector.lost -= 1
                    self.close_connection = True
                    return
                status, headers = collector.replies.pop(0) if collector.replies else (200, {})
                body = json.dumps({} if status == 200 else {"error": "no such code"}).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_port}"
            finally:
                server.shutdown()
                thread.join()


@pytest.fixture(autouse=True)
def _in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "FIRST_WAIT", 0.001)


def test_the_same_answers_are_the_same_message(tmp_path: Path) -> None:
    """500 times asked is once asked; another person, another survey of another series, or another answer is another message."""
    made = survey()
    person = scumble.Client(made, tmp_path / "a")
    first = person.message(RECORD)
    assert {scumble.Client(made, tmp_path / "a").message(RECORD) for _ in range(20)} == {first}
    others = {
        json.dumps(json.loads(scumble.Client(made, tmp_path / f"p{i}").message(RECORD))["codes"]) for i in range(20)
    }
    assert len(others) > 3


def test_what_the_store_holds_is_a_secret_and_what_was_sent(tmp_path: Path) -> None:
    person = scumble.Client(survey(), tmp_path / "a")
    person.answer(RECORD)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    held = (tmp_path / "a").read_bytes()
    assert b"diabetes" not in held
    tables = sqlite3.connect(tmp_path / "a").execute("SELECT sql FROM sqlite_master").fetchall()
    assert [text.split()[2] for (text,) in tables if text] == ["secret", "messages", "blindings"]
    assert [sent.state for sent in person.answered] == ["waiting"]


def test_an_answer_waits_where_no_server_is(tmp_path: Path) -> None:
    with Collector().running() as server:
        pass  # it was there, and is gone
    person = scumble.Client(survey(), tmp_path / "a", server=server)
    assert person.answer(RECORD).state == "waiting"
    assert person.waiting == 1
    assert not person.flush(timeout=0.05)
    collector = Collector()
    with collector.running() as server:
        again = scumble.Client(survey(series=person.survey.record.series), tmp_path / "a", server=server)
        held = sqlite3.connect(tmp_path / "a")
        with held:
            held.execute("UPDATE messages SET server = ''")
        assert again.flush()
    assert person.waiting == 0
    assert len(collector.bodies) == 1


def test_a_message_is_sent_again_until_it_is_taken_and_is_the_same_each_time(tmp_path: Path) -> None:
    collector = Collector()
    collector.lost, collector.replies = 2, [(503, {"Retry-After": "0"}), (429, {}), (200, {})]
    with collector.running() as server:
        person = scumble.Client(survey(), tmp_path / "a", server=server)
        assert person.answer(RECORD).state == "waiting"
        assert person.flush()
        assert person.answer(RECORD).state == "taken"
    assert len(collector.bodies) == 5
    assert len(set(collector.bodies)) == 1


def test_a_refusal_is_raised_and_can_be_mended(tmp_path: Path) -> None:
    collector = Collector()
    collector.replies = [(403, {}), (200, {})]
    made = survey(tokens="codes")
    with collector.running() as server:
        with pytest.raises(SurveyError, match="refused: no such code"):
            scumble.Client(made, tmp_path / "a", server=server, token="WRONG").answer(RECORD)
        assert scumble.Client(made, tmp_path / "a", server=server, token="RIGHT").answer(RECORD).state == "taken"
    assert [json.loads(body)["token"] for body in collector.bodies] == ["WRONG", "RIGHT"]


def test_a_redirection_is_not_followed(tmp_path: Path) -> None:
    other, collector = Collector(), Collector()
    with other.running() as elsewhere, collector.running() as server:
        collector.replies = [(307, {"Location": f"{elsewhere}/answers"})]
        with pytest.raises(SurveyError, match="refused"):
            scumble.Client(survey(), tmp_path / "a", server=server).answer(RECORD)
    assert other.bodies == []


def test_what_was_sent_cannot_be_changed(tmp_path: Path) -> None:
    collector = Collector()
    with collector.running() as server:
        person = scumble.Client(survey(), tmp_path / "a", server=server)
        person.answer(RECORD)
        with pytest.raises(SurveyError, match="other answers"):
            person.answer({**RECORD, "sex": "M"})
    assert len(collector.bodies) == 1


def test_who_answers_in_every_period_sends_the_same_memoised_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twelve months of the same answer tell what one tells; and with a fresh response over it, no two months need be alike."""
    ways: dict[str, dict[str, Any]] = {"memoised": {}, "fresh": {"fresh": 0.5}}
    for name, how in ways.items():
        made = survey(period="month", columns={"days": {**COLUMNS["days"], "high": 30}}, **how)
        person = scumble.Client(made, tmp_path / name)
        months = [f"2027-{month:02d}" for month in range(1, 13)]
        sent = [json.loads(person.message({"days": 7}, period=month)) for month in months]
        assert len({message["id"] for message in sent}) == 12
        assert (len({tuple(message["codes"]) for message in sent}) == 1) == (name == "memoised")


def test_a_survey_that_is_over_is_not_answered(tmp_path: Path) -> None:
    with pytest.raises(SurveyError, match="it is over"):
        scumble.Client(survey(until="2020-01-01"), tmp_path / "a").answer(RECORD)


def test_a_file_that_is_no_store_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a diary")
    with pytest.raises(SurveyError, match=r"cannot be used|is no store"):
        scumble.Client(survey(), tmp_path / "a")
    sqlite3.connect(tmp_path / "b").execute("CREATE TABLE t (x)")
    with pytest.raises(SurveyError, match="is no store of a client"):
        scumble.Client(survey(), tmp_path / "b")
    with pytest.raises(SurveyError, match="cannot be made"):
        scumble.Client(survey(), tmp_path / "no" / "where")
    assert (tmp_path / "a").read_text() == "a diary"


def test_processes_that_make_a_store_at_once_have_one_secret(tmp_path: Path) -> None:
    made, secrets = survey(), []

    def begin() -> None:
        secrets.append(scumble.Client(made, tmp_path / "a").message(RECORD))

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(secrets)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
