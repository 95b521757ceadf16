"""The page of who answers, in Chromium: what it shows is what it sends, once, and nothing else leaves the device or stays on it."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from browser import violations
from collect.browsing import visit
from collect.servers import Server, call, running
from collect.surveys import COLUMNS, KEY, survey
from collect.vectors import FILE
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

import scumble
from scumble.collect.admission import Admission
from scumble.collect.blind import issuer_text, read_issuer
from scumble.collect.pages import Pages, message_file
from scumble.collect.promise import messages
from scumble.collect.stores import open_store
from scumble.collect.survey import Survey
from scumble.collect.tokens import code_key, new_code
from scumble.core.errors import SurveyError

pytestmark = pytest.mark.slow

OPEN = survey(live={"batch": 10, "readers": "public"})
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("page")
    with running(OPEN, folder, str(folder / "s.db")) as started:
        yield started


def answer(page: Any, illness: str = "flu", days: str = "3") -> dict[str, Any]:
    """Answers, and reads the message that the page shows before it is sent."""
    page.get_by_label("female", exact=True).check()
    page.get_by_label(illness, exact=True).check()
    page.get_by_label("Days away from work").fill(days)
    page.get_by_role("button", name="Look at what will be sent").click()
    page.wait_for_selector(".picture")
    return dict(json.loads(page.locator("#message").text_content()))


def stored(address: str) -> list[tuple[int, ...]]:
    """The codes of every answer in a store."""
    store = open_store(address)
    try:
        size = Admission(OPEN).packing
        return [codes for part in store.answers("") for codes in size.iter_unpack(part)]
    finally:
        store.disconnect()


def test_what_is_shown_is_what_is_sent_and_stored_once(chromium: Any, server: Server) -> None:
    before = len(stored(server.store))
    with visit(chromium, server.url) as visiting:
        page = visiting.page
        shown = answer(page)
        assert visiting.posted == []
        picture = page.locator(".picture .goes .what").all_text_contents()
        illnesses = COLUMNS["illness"]["values"]
        assert picture == ["female", illnesses[shown["codes"][1]], str(shown["codes"][2])]
        page.get_by_role("button", name="Send").click()
        page.wait_for_selector("text=Your answer is stored")
        assert [(path, json.loads(body)) for path, body in visiting.posted] == [("answers", shown)]
        assert Admission(OPEN).admit(visiting.posted[0][1].encode()) is not None
        kept = visiting.kept()
        for secret_word in ("flu", "female", "illness", "days"):
            assert secret_word not in kept, "no answer stays on the device"
        page.reload()
        page.wait_for_selector("text=This device has answered already")
        assert len(visiting.posted) == 1
        assert tuple(shown["codes"]) in stored(server.store)
        assert len(stored(server.store)) == before + 1
        page.get_by_role("button", name="Somebody else").click()
        page.wait_for_selector("form")
        assert answer(page)["id"] != shown["id"]


def test_the_same_answer_has_the_same_coin_and_another_person_has_another(chromium: Any, server: Server) -> None:
    """Of 11 numbers looked at twice none differs; two persons agree on all of them in fewer than 1 of 1e6 runs."""
    sent = []
    for _ in range(2):
        with visit(chromium, server.url) as visiting:
            codes = []
            for days in [*map(str, range(11)), *map(str, range(11))]:
                codes.append(answer(visiting.page, "none", days)["codes"][2])
                visiting.page.get_by_role("button", name="Change my answers").click()
            assert codes[:11] == codes[11:]
            sent.append(codes)
    assert sent[0] != sent[1]


def test_who_answers_wrongly_is_told_and_nothing_is_sent(chromium: Any, server: Server) -> None:
    with visit(chromium, server.url) as visiting:
        page = visiting.page
        page.get_by_role("button", name="Look at what will be sent").click()
        assert page.get_by_role("alert").text_content() == "Please answer: Your sex"
        page.get_by_label("female", exact=True).check()
        page.get_by_label("flu", exact=True).check()
        for wrong in ("11", "-1", "2.5", "three", "1e1"):
            page.get_by_label("Days away from work").fill(wrong)
            page.get_by_role("button", name="Look at what will be sent").click()
            assert page.get_by_role("alert").text_content() == "This is no answer to: Days away from work"
            assert page.evaluate("document.activeElement.name") == "q2"
        assert visiting.posted == []


def test_an_answer_waits_for_a_server_that_is_gone(chromium: Any, tmp_path: Path) -> None:
    with running(OPEN, tmp_path, str(tmp_path / "s.db")) as server:
        with visit(chromium, server.url) as visiting:
            page = visiting.page
            shown = answer(page)
            server.kill()
            page.get_by_role("button", name="Send").click()
            page.wait_for_selector("text=waits on this device")
            server.start()
            page.wait_for_selector("h2:has-text('stored')")
        assert stored(server.store) == [tuple(shown["codes"])]


@pytest.mark.parametrize("tokens", ["codes", "blind"])
def test_a_code_is_good_for_one_answer(chromium: Any, tmp_path: Path, tokens: str) -> None:
    flags: list[str] = []
    issuer = None
    if tokens == "blind":
        key = generate_private_key(65537, 2048)
        (tmp_path / "issuer").write_bytes(
            key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
        )
        issuer, flags = (
            issuer_text(read_issuer(tmp_path / "issuer").public_key()),
            ["--issuer-key", str(tmp_path / "issuer")],
        )
    asked = survey(tokens=tokens, issuer=issuer)
    code = new_code()
    store = open_store(tmp_path / "s.db", asked.text())
    store.add_codes([code_key(code)])
    store.disconnect()
    with running(asked, tmp_path, str(tmp_path / "s.db"), *flags) as server:
        for expected in ("Your answer is stored", "The server did not take it"):
            with visit(chromium, server.url) as visiting:
                visiting.page.get_by_label("Your code").fill(code.lower())
                answer(visiting.page)
                visiting.page.get_by_role("button", name="Send").click()
                visiting.page.wait_for_selector(f"text={expected}")
                bodies = [body for path, body in visiting.posted if path == "answers"]
                assert all(code not in body.upper() for body in bodies) is (tokens == "blind")
        assert sum(open_tally(server.store).values()) == 1


def open_tally(address: str) -> Mapping[str, int]:
    store = open_store(address)
    try:
        return store.tally().answers
    finally:
        store.disconnect()


HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


def test_what_a_survey_says_is_text(chromium: Any, tmp_path: Path) -> None:
    """HTML in every word of a survey is shown, letter by letter, and runs nowhere."""
    columns = {
        "a": {"role": "sensitive", "ask": HOSTILE, "help": HOSTILE, "values": [HOSTILE, "b"], "labels": {"b": HOSTILE}}
    }
    asked = survey(title=HOSTILE, purpose=HOSTILE, collector=HOSTILE, contact=HOSTILE, columns=columns)
    with running(asked, tmp_path, str(tmp_path / "s.db")) as server, visit(chromium, server.url) as visiting:
        page = visiting.page
        page.wait_for_selector("form")
        page.locator("input[type=radio]").first.check()
        page.get_by_role("button", name="Look at what will be sent").click()
        page.wait_for_selector(".picture")
        assert page.locator("h1").text_content() == HOSTILE
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 1


def fulfil(body: str, route: Any) -> None:
    """Answers a request as a server would that lies."""
    route.fulfill(body=body, content_type="application/json")


def test_a_survey_that_promises_too_much_is_not_asked(chromium: Any, server: Server) -> None:
    text = OPEN.text()
    forged = re.sub(r"factor of at most [0-9.]*[0-9]", "factor of at most 2", text)
    assert forged != text
    claim = OPEN.promise.replace("at most", "surely at most")
    signed = Survey(OPEN.record.model_copy(update={"promise": claim})).signed(KEY).text()
    for body, said in (
        (forged, "its digest is another"),
        (signed, "promises what does not follow"),
        (text[:-40], "The survey cannot be used"),
        ("{}", "this is no survey"),
    ):
        with visit(chromium, "about:blank") as visiting:
            visiting.page.route("**/survey", partial(fulfil, body))
            visiting.page.goto(server.url)
            visiting.page.wait_for_selector("[role=alert]")
            assert said in visiting.page.get_by_role("alert").text_content()
            assert visiting.page.locator("form").count() == 0


def test_the_browser_comes_to_every_vector(chromium: Any, server: Server) -> None:
    source = (HERE / "page" / "vectors.mjs").read_text().replace("export async", "async")
    script = f"""async ([vectors, english]) => {{
        const modules = {{}};
        for (const name of ["document", "coins", "survey", "answers"]) modules[name] = await import(`/page/${{name}}.js`);
        {source}
        return failures(modules, vectors, english);
    }}"""
    with visit(chromium, server.url) as visiting:
        assert visiting.page.evaluate(script, [json.loads(FILE.read_text()), messages()]) == []


def test_estimates_show_in_batches(chromium: Any, tmp_path: Path) -> None:
    with running(OPEN, tmp_path, str(tmp_path / "s.db")) as server:
        with visit(chromium, f"{server.url}/live") as visiting:
            visiting.page.wait_for_selector("text=Fewer than 10 answers have come in")
        lines = [scumble.perturb({"sex": "F", "illness": "flu", "days": 3}, OPEN) for _ in range(12)]
        assert call(f"{server.url}/answers", b"\n".join(lines))[0] == 200
        with visit(chromium, f"{server.url}/live", locale="de") as visiting:
            visiting.page.wait_for_selector("text=12 Antworten sind darin gezählt")
            assert visiting.page.locator("table").count() == 3
            assert visiting.page.locator("tbody tr").count() >= 3


def test_languages_are_chosen_and_remembered(chromium: Any, server: Server) -> None:
    with visit(chromium, server.url, locale="fr-CH") as visiting:
        page = visiting.page
        page.wait_for_selector("text=Ce qui vous est promis")
        assert page.evaluate("document.documentElement.lang") == "fr"
        page.locator(".language select").select_option("de")
        page.wait_for_selector("text=Was Ihnen versprochen ist")
        page.goto(server.url)
        page.wait_for_selector("text=Was Ihnen versprochen ist")


def test_a_link_with_a_language_that_is_none_does_no_harm(chromium: Any, server: Server) -> None:
    for language in ("constructor", "__proto__", "xx", "<b>"):
        with visit(chromium, f"{server.url}/?{urlencode({'lang': language})}") as visiting:
            visiting.page.wait_for_selector("form")


def test_files_of_the_page_are_given_out_and_no_others(server: Server) -> None:
    status, _, headers = call(f"{server.url}/")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    for path in (
        "page/../serving.py",
        "page/..%2fserving.py",
        "page/messages/../../wire.py",
        "page//etc/passwd",
        "page/",
        "page/messages/xx.json",
    ):
        assert call(f"{server.url}/{path}")[0] == 404


@pytest.mark.parametrize("language", sorted(Pages()._languages))
def test_every_language_says_everything(language: str) -> None:
    english, words = messages(), messages(language)
    places = re.compile(r"\{\w+\}")
    assert set(words) == set(english)
    assert [name for name in english if set(places.findall(words[name])) != set(places.findall(english[name]))] == []


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("it.json", "{", "is no message file"),
        ("it.json", "[1]", "one object of texts"),
        ("it.json", '{"look": "x"}', "what its language is called"),
        ("it.json", '{"language": "Italiano", "lok": "x"}', "which no page says"),
        ("it.json", '{"language": "Italiano", "range": "{hight}"}', "{hight}"),
        ("Italiano.json", '{"language": "Italiano"}', "by the code of its language"),
    ],
)
def test_a_message_file_that_is_none_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(SurveyError, match=re.escape(said)):
        message_file(tmp_path / name)


def test_a_message_file_of_the_operator_is_one_more_language(tmp_path: Path) -> None:
    (tmp_path / "it.json").write_text('{"language": "Italiano"}')
    assert "Italiano" in json.loads(Pages([tmp_path / "it.json"])._files["languages"]).values()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_left_out(chromium: Any, axe: str, server: Server, scheme: str) -> None:
    """Every screen by axe, levels A and AA of WCAG."""
    with visit(chromium, server.url, color_scheme=scheme, bypass_csp=True) as visiting:
        page = visiting.page
        page.wait_for_selector("form")
        page.get_by_role("button", name="Look at what will be sent").click()
        assert violations(page, axe) == []
        answer(page)
        page.locator("summary").click()
        assert violations(page, axe) == []
        page.get_by_role("button", name="Send").click()
        page.wait_for_selector("h2:has-text('stored')")
        assert violations(page, axe) == []


def test_a_keyboard_is_enough_on_the_narrowest_screen(chromium: Any, server: Server) -> None:
    with visit(chromium, server.url) as visiting:
        page, keys = visiting.page, visiting.page.keyboard
        page.set_viewport_size({"width": 320, "height": 600})
        page.wait_for_selector("form")
        for key in ("Tab", "Space", "Tab", "ArrowDown", "Tab", "3", "Enter"):
            keys.press(key)
        page.wait_for_selector(".picture")
        assert page.evaluate("document.activeElement.id") == "review", "a screen reader is led to what is new"
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.get_by_role("button", name="Send").focus()
        keys.press("Enter")
        page.wait_for_selector("h2:has-text('stored')")
        assert len(visiting.posted) == 1
