"""A closed survey is an ordinary release: whole, verified, in an order of its own; and every command works on it."""

import json
import struct
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.test_cli import run
from collect.servers import STORES, store_of
from collect.surveys import COLUMNS, ILLNESSES, survey

import scumble
from scumble.collect.admission import Admission
from scumble.collect.closing import close_survey
from scumble.collect.store import Outcome
from scumble.collect.stores import open_store
from scumble.collect.survey import Survey
from scumble.collect.tokens import code_key, new_code
from scumble.errors import SurveyError
from scumble.reporting.sections.standards import standards
from scumble.reporting.subject import Subject

SHARES = [0.55, 0.25, 0.15, 0.05]


def answered(address: str, asked: Survey, records: list[dict[str, Any]], **how: Any) -> list[dict[str, Any]]:
    """A store with the answers of people, each through the door that a server has."""
    store, door = open_store(address, asked.text()), Admission(asked)
    messages = [scumble.perturb(record, asked, **how) for record in records]
    arrivals: list[Any] = [door.admit(message) for message in messages]
    live = asked.record.live
    assert set(store.take(arrivals, live.batch if live else 1 << 60)) == {Outcome.STORED}
    store.disconnect()
    return [json.loads(message) for message in messages]


def people(count: int, seed: int = 3) -> list[dict[str, Any]]:
    draw = np.random.default_rng(seed)
    sexes, ills = draw.choice(["F", "M"], count), draw.choice(ILLNESSES, count, p=SHARES)
    days = draw.integers(0, 11, count)
    return [{"sex": str(s), "illness": str(i), "days": int(d)} for s, i, d in zip(sexes, ills, days, strict=True)]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> scumble.Release:
    folder = tmp_path_factory.mktemp("closed")
    answered(str(folder / "s.db"), survey(), people(1500))
    closed = close_survey(str(folder / "s.db"), folder / "r")
    assert closed.sound
    return closed.release


@pytest.mark.slow
@pytest.mark.parametrize("kind", STORES)
def test_a_release_has_exactly_what_was_stored(kind: str, tmp_path: Path) -> None:
    address, asked = store_of(kind, tmp_path), survey()
    sent = answered(address, asked, people(300))
    closed = close_survey(address, tmp_path / "r")
    assert closed.sound
    rows = closed.release.table().to_pylist()
    codes = Counter((["F", "M"].index(r["sex"]), ILLNESSES.index(r["illness"]), r["days"]) for r in rows)
    assert codes == Counter(tuple(message["codes"]) for message in sent)
    store = open_store(address)
    assert store.tally().closed == {"": closed.release.manifest.digest}
    assert store.take([Admission(asked).admit(scumble.perturb(people(1)[0], asked))], 10) == [Outcome.CLOSED]  # type: ignore[list-item]
    store.disconnect()


def test_what_is_promised_is_what_the_survey_promised(release: scumble.Release) -> None:
    assert release.terms.guarantees == survey().record.guarantees
    assert release.manifest.randomness.source.startswith("the respondents' own devices")
    assert "every respondent randomized" in str(standards(Subject(release)))


def test_estimates_cover_the_truth(release: scumble.Release) -> None:
    """Twelve intervals of level 1 - 1e-8: a false alarm in eight million runs."""
    true = Counter((r["sex"], r["illness"]) for r in people(1500))
    answer = release.query("SELECT sex, illness, COUNT(*) AS n FROM release GROUP BY sex, illness", level=1 - 1e-8)
    for row in answer:
        assert row["n_low"] <= true[(row["sex"], row["illness"])] <= row["n_high"]
    (mean,) = release.query("SELECT AVG(days) AS d FROM release", level=1 - 1e-8)
    assert mean["d_low"] <= np.mean([r["days"] for r in people(1500)]) <= mean["d_high"]


@pytest.mark.slow
def test_every_command_works_on_it(release: scumble.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = str(release.path)
    assert "own devices" in run("verify", path)
    assert "perturbed: kept with probability" in run("show", path)
    assert "none" in run("query", path, "SELECT illness, COUNT(*) AS n FROM release GROUP BY illness")
    assert " 0 broken, 0 open" in run("audit", path)
    run("report", path, "-o", "r.html")
    assert "before they were sent" in Path("r.html").read_text()
    run("sign", "--new-key", "k")
    run("sign", path, "--key", "k")


def test_the_order_of_arrival_is_gone(tmp_path: Path) -> None:
    """People come in the order of their numbers; of 900, Spearman's correlation with their place in the release is within 0.2 of 0 but once in 1e9 runs."""
    asked = survey(columns={"serial": {"role": "public", "low": 0, "high": 899}, "illness": COLUMNS["illness"]})
    records = [{"serial": i, "illness": "flu"} for i in range(900)]
    answered(str(tmp_path / "s.db"), asked, records)
    order = close_survey(str(tmp_path / "s.db"), tmp_path / "r").release.table().column("serial").to_numpy()
    assert sorted(order) == list(range(900))
    assert abs(np.corrcoef(order, np.arange(900))[0, 1]) < 0.2


def test_answers_that_nobody_perturbed_do_not_verify(tmp_path: Path) -> None:
    """Who stuffs the box with one and the same code is not taken for a crowd that was perturbed."""
    asked = survey()
    store, door = open_store(tmp_path / "s.db", asked.text()), Admission(asked)
    forged = [json.dumps({**json.loads(scumble.perturb(r, asked)), "codes": [0, 3, 0]}).encode() for r in people(400)]
    store.take([door.admit(message) for message in forged], 1 << 60)  # type: ignore[misc]
    store.disconnect()
    closed = close_survey(str(tmp_path / "s.db"), tmp_path / "r")
    assert not closed.sound
    assert "NOT VERIFIED" in run("collect", "close", str(tmp_path / "s.db"), "-o", str(tmp_path / "r2"), code=1)


def test_values_of_every_kind_come_back(tmp_path: Path) -> None:
    columns = {
        "when": {"role": "public", "values": [date(2027, 1, 1), date(2027, 1, 2)]},
        "yes": {"role": "sensitive", "values": [True, False]},
        "share": {"role": "sensitive", "low": 0, "high": 1, "step": 0.25},
        "code": {"role": "sensitive", "low": 0, "high": 299},
        "maybe": {"role": "sensitive", "values": ["a", "b"], "missing": True},
        "size": {"role": "public", "values": [1, 2, 3], "missing": True},
    }
    asked = survey(columns=columns, privacy={"epsilon": 8}, mechanism="design")
    records = [
        {"when": date(2027, 1, 1 + i % 2), "yes": i % 3 == 0, "share": 0.25 * (i % 5), "code": i, "maybe": "a" if i % 2 else None, "size": 1 + i % 3 if i % 4 else None}
        for i in range(300)
    ]  # fmt: skip
    answered(str(tmp_path / "s.db"), asked, records)
    closed = close_survey(str(tmp_path / "s.db"), tmp_path / "r")
    assert [check.name for check in closed.checks if not check.passed] == []
    table = closed.release.table()
    assert Counter(table.column("when").to_pylist()) == Counter(record["when"] for record in records)
    assert Counter(table.column("size").to_pylist()) == Counter(record["size"] for record in records)
    assert closed.release.manifest.column("share").rounded is not None
    (line,) = closed.release.query("SELECT COUNT(*) AS n FROM release WHERE code < 150", level=1 - 1e-8)
    assert line["n_low"] <= 150 <= line["n_high"]


def test_a_survey_of_periods_is_closed_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, address = survey(period="month", tokens="codes"), str(tmp_path / "s.db")
    codes = [new_code() for _ in range(40)]
    store = open_store(address, asked.text())
    store.add_codes([code_key(code) for code in codes])
    now = asked.period()
    door = Admission(asked)
    former = asked.period.__func__  # type: ignore[attr-defined]
    for period in ("2020-01", "2020-02", now):
        arrivals: list[Any] = []
        for code, record in zip(codes, people(40), strict=True):
            person = scumble.Client(asked, tmp_path / f"device-{code}", token=code)
            with monkeypatch.context() as patch:
                patch.setattr(Survey, "period", lambda self, moment=None, period=period: period)
                arrivals.append(door.admit(person.message(record)))
        assert set(store.take(arrivals, 10)) == {Outcome.STORED}
    assert Survey.period is former
    store.disconnect()
    with pytest.raises(SurveyError, match="these are over: 2020-01, 2020-02"):
        close_survey(address, tmp_path / "r")
    first, second = (close_survey(address, tmp_path / period, period=period) for period in ("2020-01", "2020-02"))
    assert first.sound
    streams = first.release.manifest.randomness.streams
    assert streams == second.release.manifest.randomness.streams
    assert len(streams or ()) == 2

    def rows(release: scumble.Release) -> Counter[Any]:
        return Counter(tuple(row.values()) for row in release.table().to_pylist())

    assert rows(first.release) == rows(second.release), "who gives the same answers sends the same codes"
    with pytest.raises(SurveyError, match="is not over"):
        close_survey(address, tmp_path / "now", period=now)
    assert close_survey(address, tmp_path / "now", period=now, early=True).release.manifest.rows == 40
    with pytest.raises(SurveyError, match="nobody answered in '2021-01'"):
        close_survey(address, tmp_path / "x", period="2021-01")


Refused = Callable[[Path], Any]


def _empty(tmp_path: Path) -> Any:
    open_store(tmp_path / "s.db", survey().text()).disconnect()
    return close_survey(str(tmp_path / "s.db"), tmp_path / "r")


def _nowhere(tmp_path: Path) -> Any:
    return close_survey(str(tmp_path / "none.db"), tmp_path / "r")


def _with_period(tmp_path: Path) -> Any:
    answered(str(tmp_path / "s.db"), survey(), people(3))
    return close_survey(str(tmp_path / "s.db"), tmp_path / "r", period="2027-01")


@pytest.mark.parametrize(
    ("way", "said"),
    [(_empty, "nobody has answered"), (_nowhere, "there is no store"), (_with_period, "has no periods")],
)
def test_what_cannot_be_closed_is_said_in_a_sentence(tmp_path: Path, way: Refused, said: str) -> None:
    with pytest.raises(SurveyError, match=said):
        way(tmp_path)
    assert not (tmp_path / "r").exists()


def test_an_output_that_exists_is_kept_and_the_survey_stays_open(tmp_path: Path) -> None:
    asked = survey()
    answered(str(tmp_path / "s.db"), asked, people(3))
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "diary").write_text("mine")
    with pytest.raises(scumble.ScumbleError):
        close_survey(str(tmp_path / "s.db"), tmp_path / "r")
    store = open_store(tmp_path / "s.db")
    assert store.tally().closed == {}
    store.disconnect()


def test_codes_are_kept_in_as_few_bytes_as_they_need() -> None:
    assert Admission(survey()).packing.size == struct.calcsize("<BBB")
    wide = {**COLUMNS, "code": {"role": "sensitive", "low": 0, "high": 70_000}}
    assert Admission(survey(columns=wide)).packing.size == struct.calcsize("<BBBI")
