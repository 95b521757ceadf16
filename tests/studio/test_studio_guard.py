"""Who is let in, and what a browser is told to do with the pages."""

import asyncio
import re
import socket
import threading
import webbrowser
from pathlib import Path
from queue import Queue
from urllib.parse import urlsplit

import pytest
from studio.visitor import PATIENCE, PORT, TOKEN, Visitor, opened_studio, small_table

from scumble.studio import server
from scumble.studio.app import studio_app
from scumble.studio.guard import LARGEST, Guard


@pytest.fixture
def stranger(tmp_path: Path) -> Visitor:
    return Visitor(studio_app(tmp_path, [TOKEN], PORT)[0])


def test_the_token_opens_the_door_once_and_leaves_the_address(stranger: Visitor) -> None:
    assert stranger.get("/").status == 403
    assert stranger.get("/?token=wrong").status == 403
    assert stranger.get(f"/p/x/?token={TOKEN}").status == 403
    entered = stranger.get(f"/?token={TOKEN}")
    assert (entered.status, entered.headers["location"]) == (303, "/")
    assert TOKEN not in str(entered.headers)
    assert re.search(r"; HttpOnly; SameSite=Strict; Path=/\Z", entered.headers["set-cookie"])
    assert stranger.get("/").status == 200
    assert Visitor(stranger.app).get(f"/?token={TOKEN}").status == 403


def test_the_browser_gets_a_token_of_its_own_and_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pages are there while the browser's command goes on; its address and the printed one open once each."""
    said: list[str] = []
    opened: Queue[str] = Queue()
    over = threading.Event()

    def browse(address: str) -> None:
        opened.put(address)
        over.wait(PATIENCE)

    async def visited(app: Guard, sock: socket.socket) -> None:
        host = f"127.0.0.1:{sock.getsockname()[1]}"
        addresses = [said[0].split()[-1], opened.get(timeout=PATIENCE)]
        for query in [urlsplit(one).query for one in addresses * 2]:
            answer = await asyncio.to_thread(Visitor(app).get, f"/?{query}", host=host)
            answers.append(answer.status)

    answers: list[int] = []
    monkeypatch.setattr(webbrowser, "open", browse)
    monkeypatch.setattr(server, "_run", visited)
    try:
        server.serve(tmp_path, 0, None, True, said.append)
    finally:
        over.set()
    assert answers == [303, 303, 403, 403]


def test_a_cookie_that_is_not_ours_opens_nothing(stranger: Visitor) -> None:
    for value in (TOKEN, "", '"', "0" * 48):
        stranger.cookies = {f"scumble-studio-{PORT}": value}
        assert stranger.get("/").status == 403


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", "", "0.0.0.0:8123"]
)
def test_another_name_that_leads_here_is_refused(stranger: Visitor, host: str) -> None:
    """DNS rebinding: the name of a stranger's page, pointed at this machine."""
    stranger.get(f"/?token={TOKEN}")
    assert stranger.get("/", host=host).status == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://evil.example"},
        {"origin": f"https://127.0.0.1:{PORT}"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_nothing_is_changed_from_another_page(stranger: Visitor, headers: dict[str, str]) -> None:
    stranger.get(f"/?token={TOKEN}")
    assert stranger.post("/projects", {"path": "x.csv"}, **headers).status == 403
    assert stranger.post("/projects", {"path": "x.csv"}).status == 422


def test_too_much_is_refused_before_it_is_read(stranger: Visitor) -> None:
    stranger.get(f"/?token={TOKEN}")
    for length in (str(LARGEST + 1), "many", "-1"):
        assert stranger.post("/projects", {}, **{"content-length": length}).status == 413


def test_every_answer_tells_the_browser_what_it_may_do(tmp_path: Path, stranger: Visitor) -> None:
    answers = [
        stranger.get("/"),
        stranger.get(f"/?token={TOKEN}"),
        stranger.get("/"),
        stranger.get("/nowhere"),
        stranger.get("/file/studio.js"),
    ]
    assert [answer.status for answer in answers] == [403, 303, 200, 404, 200]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "<script>" not in answers[2].text
    assert " style=" not in answers[2].text


@pytest.mark.parametrize("name", ["..", "%2e%2e", "a%2fb", ".hidden", "no-such", "x" * 61])
def test_a_name_is_never_a_path(stranger: Visitor, name: str) -> None:
    stranger.get(f"/?token={TOKEN}")
    for page in ("roles", "publish", "explore", "report/internal"):
        assert stranger.get(f"/p/{name}/{page}").status == 404
    assert stranger.get("/file/../guard.py").status == 404
    assert stranger.get("/r/0/").status == 404


def test_an_error_of_our_own_tells_its_place_and_not_its_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What a library complains of may have a value of the table in it."""

    def broken(*_: object) -> None:
        raise RuntimeError("a secret value")

    small_table(tmp_path / "people.csv", 40)
    monkeypatch.setattr("scumble.studio.app.projects", broken)
    with opened_studio(tmp_path) as (visitor, _):
        answer = visitor.get("/")
    assert answer.status == 500
    assert "RuntimeError" in answer.text
    printed = capfd.readouterr()
    assert re.search(r"scumble studio: RuntimeError in test_studio_guard.py, line \d+", printed.err)
    assert "secret" not in answer.text + printed.out + printed.err
