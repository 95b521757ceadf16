"""A real server against strangers: what they send is stored as the survey's codes, or refused and counted; nobody holds it up."""

import json
import signal
import socket
import ssl
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from collect.servers import PATIENCE, STORES, Server, call, running, store_of
from collect.surveys import survey
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

import scumble
from scumble.cli import run
from scumble.collect.blind import issuer_text
from scumble.collect.stores import open_store
from scumble.collect.wire import LARGEST, batch
from scumble.errors import SurveyError

pytestmark = pytest.mark.slow

OPEN = survey(series="ab" * 16)
RECORD = {"sex": "F", "illness": "flu", "days": 3}
HOSTILE = [
    "'; DROP TABLE answers; --",
    "<script>alert(1)</script>",
    "\x00",
    "\u202e",
    "../../etc/passwd",
    "%s%n",
    "{{7*7}}",
    "A" * 500,
]


@pytest.fixture(scope="module", params=STORES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    (folder / "admin").write_text("a token of the administrator\n".replace(" ", "-"))
    flags = (
        "--timeout",
        "2",
        "--admin-port",
        "0",
        "--admin-token",
        str(folder / "admin"),
        "--proxy",
        "127.0.0.1",
        "--rate",
        "0.001",
    )
    with running(OPEN, folder, store_of(request.param, folder), *flags) as started:
        yield started


def answers(server: Server) -> int:
    store = open_store(server.store)
    try:
        return sum(store.tally().answers.values())
    finally:
        store.disconnect()


def send(server: Server, body: bytes, **headers: str) -> tuple[int, Any]:
    return call(f"{server.url}/answers", body, **headers)[:2]


def message(**changes: Any) -> dict[str, Any]:
    return {**json.loads(scumble.perturb(RECORD, OPEN)), **changes}


def test_the_survey_is_served_to_the_byte_and_says_who_may_answer(server: Server) -> None:
    status, document, headers = call(f"{server.url}/survey")
    assert status == 200
    assert document == json.loads(OPEN.text())
    assert scumble.collect.open_survey(server.url).digest == OPEN.digest
    named = {name.lower(): value for name, value in headers.items()}
    assert named["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in named["content-security-policy"]
    assert "server" not in named


def test_a_message_is_stored_once_however_often_it_comes(server: Server) -> None:
    before, one = answers(server), scumble.perturb(RECORD, OPEN)
    assert send(server, one) == (200, {"stored": 1, "repeated": 0})
    for _ in range(3):
        assert send(server, one) == (200, {"stored": 0, "repeated": 1})
    other = json.loads(one)
    other["codes"][0] = 1 - other["codes"][0]
    assert send(server, json.dumps(other).encode())[0] == 409
    assert answers(server) == before + 1


def test_a_batch_is_taken_message_by_message(server: Server) -> None:
    before = answers(server)
    good = [scumble.perturb(RECORD, OPEN) for _ in range(5)]
    status, told = send(server, batch([*good, good[0], b'{"v":1}', json.dumps(message(codes=[9, 9, 99])).encode()]))
    assert status == 200
    assert (told["stored"], told["repeated"], [each["place"] for each in told["refused"]]) == (5, 1, [6, 7])
    assert send(server, b"\n".join(good)) == (200, {"stored": 0, "repeated": 5})
    assert send(server, batch([b"{}"]))[0] == 400
    assert send(server, batch([b"{}", json.dumps(message(codes=[9, 9, 99])).encode()]))[0] == 422
    assert answers(server) == before + 5


FORGED: list[tuple[dict[str, Any], int]] = [
    ({"codes": [0, 0]}, 422),
    ({"codes": [0, 0, 0, 0]}, 422),
    ({"codes": [2, 0, 0]}, 422),
    ({"codes": [0, 4, 0]}, 422),
    ({"codes": [0, 0, 11]}, 422),
    ({"codes": [-1, 0, 0]}, 422),
    ({"codes": [0, 0, 2**70]}, 422),
    ({"codes": [0, 0, 0.5]}, 400),
    ({"codes": ["0", 0, 0]}, 400),
    ({"codes": {"sex": 0}}, 400),
    ({"codes": None}, 400),
    ({"v": 2}, 400),
    ({"v": "1"}, 400),
    ({"survey": "0" * 64}, 422),
    ({"period": "2027-05"}, 422),
    ({"id": "short"}, 400),
    ({"id": "+" * 22}, 400),
    ({"name": "Ann"}, 400),
    ({"token": "K7QF"}, 422),
]


@pytest.mark.parametrize(("change", "status"), FORGED, ids=lambda given: str(given)[:30])
def test_a_forged_message_is_refused_and_counted_and_never_stored(
    server: Server, change: dict[str, Any], status: int
) -> None:
    before = answers(server)
    told = send(server, json.dumps(message(**change)).encode())
    assert told[0] == status
    assert set(told[1]) == {"error", "code"}
    assert answers(server) == before


@pytest.mark.parametrize("field", ["v", "survey", "id", "codes", "period", "token", "new"])
def test_text_in_any_field_is_refused_and_not_told_back(server: Server, field: str) -> None:
    for text in HOSTILE:
        for given in (text, [text], {text: text}):
            status, told, _ = call(f"{server.url}/answers", json.dumps(message(**{field: given})).encode())
            assert status in (400, 422)
            assert text not in json.dumps(told, ensure_ascii=False)


def test_text_in_addresses_and_headers_does_nothing(server: Server) -> None:
    before = answers(server)
    for text in ("'; DROP TABLE answers; --", "<script>", "%00", "..%2f..%2fetc%2fpasswd", "%s%n"):
        quoted = text.replace(" ", "%20").replace("<", "%3C").replace(">", "%3E").replace("'", "%27")
        for path in (f"/{quoted}", f"/survey?x={quoted}", f"/answers/{quoted}"):
            status, told, _ = call(server.url + path)
            assert status in (200, 404, 405)
            assert "etc" not in str(told) or status == 200
        assert call(f"{server.url}/survey", None, X_Forwarded_For=text, User_Agent=text)[0] == 200
    assert answers(server) == before


def test_bodies_that_are_none_are_refused(server: Server) -> None:
    for body in (
        b"",
        b"x",
        b"\xff\xfe",
        b"[" * 50_000,
        b'{"v":1,"codes":[' + b"9" * 900_000 + b"]}",
        b"null",
        b"[]",
        b"{}",
        b'{"v":1}\n' * 1001,
    ):
        assert send(server, body)[0] in (400, 422)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert send(server, scumble.perturb(RECORD, OPEN), Content_Type=kind)[0] == 415
    for kind in ("application/vnd.scumble.answers+json; version=1", "application/octet-stream"):
        assert send(server, scumble.perturb(RECORD, OPEN), Content_Type=kind)[0] == 200


def raw(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)


def rest(connection: socket.socket) -> bytes:
    """All that comes until the server closes; a reset is one way to."""
    parts = []
    try:
        while part := connection.recv(1 << 16):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def test_a_body_that_is_too_large_is_not_read(server: Server) -> None:
    with raw(server) as connection:
        connection.sendall(b"POST /answers HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n")
        assert rest(connection).startswith(b"HTTP/1.1 413")
    with raw(server) as connection:
        connection.sendall(b"POST /answers HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        try:
            for _ in range(2 * LARGEST // 0x10000):
                connection.sendall(chunk)
        except ConnectionError:
            pass
        answer = rest(connection)
    assert answer.startswith(b"HTTP/1.1 413") or answer == b""
    assert call(f"{server.url}/health")[0] == 200


def test_who_sends_slowly_is_let_go_and_holds_nobody_up(server: Server) -> None:
    """Heads and bodies that never end, a hundred at a time; others are served meanwhile, and the server closes every one of them."""
    heads = [raw(server) for _ in range(50)]
    bodies = [raw(server) for _ in range(50)]
    for connection in heads:
        connection.sendall(b"POST /answers HTTP/1.1\r\nHost: x\r\nX-")
    for connection in bodies:
        connection.sendall(b"POST /answers HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    assert send(server, scumble.perturb(RECORD, OPEN))[0] == 200
    assert [rest(connection) for connection in heads] == [b""] * 50
    assert all(rest(connection).startswith(b"HTTP/1.1 408") for connection in bodies)
    assert send(server, scumble.perturb(RECORD, OPEN))[0] == 200
    for connection in heads + bodies:
        connection.close()


def test_a_second_request_on_a_connection_is_held_to_the_same(server: Server) -> None:
    with raw(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        held = b""
        while not held.endswith(b"}"):
            held += connection.recv(4096)
        assert b"200 OK" in held
        connection.sendall(b"GET /heal")
        assert rest(connection) == b""


def test_a_head_without_end_is_cut_off(server: Server) -> None:
    with raw(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n")
        try:
            for i in range(10_000):
                connection.sendall(b"X-%d: %s\r\n" % (i, b"y" * 1000))
            ended = False
        except ConnectionError:
            ended = True
        assert ended
    assert call(f"{server.url}/health")[0] == 200


def test_one_address_cannot_take_all(server: Server) -> None:
    """Behind a proxy that is believed, by the address that it names; another one is served."""
    one = scumble.perturb(RECORD, OPEN)
    told = {send(server, one, X_Forwarded_For="203.0.113.7")[0] for _ in range(20)}
    assert told == {200, 429}
    assert send(server, one, X_Forwarded_For="203.0.113.8")[0] == 200


def test_the_administrator_has_a_token_and_a_port_of_its_own(server: Server) -> None:
    bearer = {"Authorization": "Bearer a-token-of-the-administrator"}
    assert call(f"{server.url}/status", None, **bearer)[0] == 404
    for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "Bearer "}):
        for path in ("/status", "/metrics"):
            assert call(server.admin + path, None, **headers)[0] == 401
    status, told, _ = call(f"{server.admin}/status", None, **bearer)
    assert (status, told["survey"]) == (200, OPEN.digest)
    metrics = call(f"{server.admin}/metrics", None, **bearer)[1]
    assert 'scumble_refused_total{reason="codes"}' in metrics
    assert 'scumble_answer_seconds_bucket{le="+Inf"}' in metrics
    assert call(f"{server.admin}/codes?count=x", b"", **bearer)[0] == 422


def test_nothing_of_answers_or_people_is_in_the_log_or_the_store(server: Server) -> None:
    """All that the tests above sent, and from where."""
    said = server.text()
    for word in ("203.0.113", "127.0.0.1:5", "codes", "flu", "DROP", "script", "K7QF"):
        assert word not in said
    store: Any = open_store(server.store)
    run = store._database.execute if hasattr(store, "_database") else store._run
    held = str(
        [
            run(f"SELECT * FROM {table}").fetchall()
            for table in ("answers", "spent", "codes", "batches", "refused", "closed")
        ]
    )
    store.disconnect()
    for word in ("203.0.113", "127.0.0.1", "flu", "DROP", "script", "K7QF", f"{datetime.now(UTC):%Y-%m}"):
        assert word not in held


def test_a_server_that_is_asked_to_end_writes_what_it_took(tmp_path: Path) -> None:
    with running(OPEN, tmp_path, str(tmp_path / "s.db")) as started:
        for _ in range(20):
            assert send(started, scumble.perturb(RECORD, OPEN))[0] == 200
        assert send(started, b"x")[0] == 400
        assert started.kill(signal.SIGTERM) == 0
        store = open_store(started.store)
        assert (store.tally().answers, store.tally().refused) == ({"": 20}, {"malformed": 1})
        store.disconnect()
        assert [line["event"] for line in started.lines()] == ["started", "stopped"]
        assert not (tmp_path / "s.db-wal").exists()
        started.start()
        assert started.kill(signal.SIGINT) == 0


def test_codes_let_one_answer_each(tmp_path: Path) -> None:
    asked = survey(tokens="codes", clock="month", series="ab" * 16)
    (tmp_path / "admin").write_text("another-token-of-16")
    flags = ("--admin-port", "0", "--admin-token", str(tmp_path / "admin"))
    with running(asked, tmp_path, str(tmp_path / "s.db"), *flags) as started:
        bearer = {"Authorization": "Bearer another-token-of-16"}
        codes = call(f"{started.admin}/codes?count=3", b"", **bearer)[1]["codes"]
        bare = scumble.perturb(RECORD, asked)
        assert send(started, bare)[1]["code"] == "token_missing"
        assert send(started, scumble.perturb(RECORD, asked, token="K7QF-AAAA"))[1]["code"] == "token_unknown"
        first = scumble.perturb(RECORD, asked, token=codes[0])
        assert send(started, first)[1] == {"stored": 1, "repeated": 0}
        assert send(started, first)[1] == {"stored": 0, "repeated": 1}
        assert (
            send(started, scumble.perturb(RECORD, asked, token=codes[0].lower().replace("-", " ")))[1]["code"]
            == "token_spent"
        )
        person = scumble.Client(started.url, tmp_path / "me", token=codes[1])
        assert person.answer(RECORD).state == "taken"
        assert call(f"{started.admin}/status", None, **bearer)[1]["noted"] == {f"{datetime.now(UTC):%Y-%m}": 2}
        assert call(f"{started.admin}/close", b"", **bearer)[0] == 200
        assert send(started, scumble.perturb(RECORD, asked, token=codes[2]))[0] == 410
        held = b"".join(path.read_bytes() for path in tmp_path.glob("s.db*"))
        assert not any(code.replace("-", "").encode() in held or code.encode() in held for code in codes)


def test_a_blind_token_is_had_for_a_code_and_is_good_once(tmp_path: Path) -> None:
    key = generate_private_key(65537, 2048)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (tmp_path / "issuer").write_bytes(pem)
    (tmp_path / "admin").write_text("another-token-of-16")
    asked = survey(tokens="blind", issuer=issuer_text(key.public_key()))
    flags = ("--admin-port", "0", "--admin-token", str(tmp_path / "admin"), "--issuer-key", str(tmp_path / "issuer"))
    with running(asked, tmp_path, str(tmp_path / "s.db"), *flags) as started:
        codes = call(f"{started.admin}/codes?count=2", b"", Authorization="Bearer another-token-of-16")[1]["codes"]
        person = scumble.Client(started.url, tmp_path / "me", token=codes[0])
        first = person.message(RECORD)
        assert scumble.Client(started.url, tmp_path / "me", token=codes[0]).message(RECORD) == first
        token = json.loads(first)["token"]
        assert len(token) > 300
        assert person.answer(RECORD).state == "taken"
        assert send(started, first)[1]["repeated"] == 1
        assert send(started, scumble.perturb(RECORD, asked, token=token))[1]["code"] == "token_spent"
        for wrong, said in ((codes[0], "token_unknown"), (token[:-4] + "AAAA", "token_unknown"), ("", "token_missing")):
            assert send(started, scumble.perturb(RECORD, asked, token=wrong))[1]["code"] == said
        with pytest.raises(SurveyError, match="exchanged for a token before"):
            scumble.Client(started.url, tmp_path / "other", token=codes[0]).answer(RECORD)
        with pytest.raises(SurveyError, match="no such token"):
            scumble.Client(started.url, tmp_path / "third", token="WRONG").answer(RECORD)
        for body in (b"", b"{}", b'{"v":1}', b'"' * 5000):
            assert call(f"{started.url}/tokens", body)[0] in (400, 413)
        # what the issuer saw, and what the server keeps of the answer, have nothing in common
        store: Any = open_store(started.store)
        issued, spent = (store._database.execute(f"SELECT * FROM {table}").fetchall() for table in ("issued", "spent"))
        assert not {part for row in issued for part in row if part} & {part for row in spent for part in row if part}
        store.disconnect()


def certificate(folder: Path) -> tuple[str, str]:
    """A certificate of our own for this machine."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False).sign(key, hashes.SHA256())
    )  # fmt: skip
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(pem)
    return str(folder / "cert.pem"), str(folder / "key.pem")


def test_the_server_speaks_tls_itself(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    with running(OPEN, tmp_path, str(tmp_path / "s.db"), "--tls-cert", cert, "--tls-key", key) as started:
        context = ssl.create_default_context(cafile=cert)
        with context.wrap_socket(raw(started), server_hostname="localhost") as secure:
            secure.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert rest(secure).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--port", "99999"], "see scumble collect serve --help"),
        (["--host", "192.0.2.1"], "cannot be listened at"),
        (["--tls-cert", "x"], "go together"),
        (["--admin-port", "0"], "a port and a token"),
        (["--store", "mysql://x/y"], "is neither"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    tmp_path: Path,
    flags: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "s.json").write_text(OPEN.text())
    given = ["scumble", "collect", "serve", str(tmp_path / "s.json"), "--store", str(tmp_path / "s.db"), *flags]
    monkeypatch.setattr(sys, "argv", given)
    assert run() == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
