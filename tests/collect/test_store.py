"""Stores: each key once, all of a transaction or nothing, and no way to tell which token came with which answer."""

import itertools
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from collect.servers import STORES, store_of
from collect.surveys import survey

from scumble.collect.store import Arrival, Outcome, Store
from scumble.collect.stores import open_store
from scumble.errors import SurveyError

TEXT = survey().text()
STORED, REPEATED, SPENT, UNKNOWN, CLOSED = Outcome


def arrival(
    number: int, *, tag: int | None = None, period: str = "", by_code: bool = False, codes: bytes = b"\x01\x02\x03"
) -> Arrival:
    key = number.to_bytes(32, "big")
    return Arrival(key, (number if tag is None else tag).to_bytes(32, "big"), period, codes, period, by_code)


@pytest.fixture(params=STORES)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return store_of(request.param, tmp_path)


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    opened = open_store(address, TEXT)
    yield opened
    opened.disconnect()


def test_a_key_is_kept_once_and_told_again_alike(store: Store) -> None:
    assert store.take([arrival(1), arrival(2)], 100) == [STORED, STORED]
    assert store.take([arrival(1), arrival(2, tag=9), arrival(3)], 100) == [REPEATED, SPENT, STORED]
    assert store.tally().answers == {"": 3}


def test_a_key_that_comes_twice_in_one_transaction_is_kept_once(store: Store) -> None:
    given = [arrival(1), arrival(1), arrival(1, tag=2), arrival(2), arrival(1)]
    assert store.take(given, 100) == [STORED, REPEATED, SPENT, STORED, REPEATED]
    assert store.tally().answers == {"": 2}


def test_a_code_is_one_that_was_given_out(store: Store) -> None:
    store.add_codes([arrival(7).key, arrival(7).key, arrival(8).key])
    assert store.take([arrival(7, by_code=True), arrival(9, by_code=True)], 100) == [STORED, UNKNOWN]
    assert store.take([arrival(7, by_code=True), arrival(7, tag=1, by_code=True)], 100) == [REPEATED, SPENT]
    assert (store.tally().codes, store.tally().spent) == (2, 1)
    assert [store.issue(arrival(8).key, "", tag) for tag in (b"a", b"a", b"b")] == [STORED, REPEATED, SPENT]
    assert store.issue(arrival(9).key, "", b"a") is UNKNOWN
    assert store.issue(arrival(8).key, "2027", b"b") is STORED


def test_each_period_has_keys_of_its_own_and_is_closed_by_itself(store: Store) -> None:
    assert store.take([arrival(1, period="a"), arrival(1, period="b")], 100) == [STORED, STORED]
    store.close("a")
    assert store.take([arrival(2, period="a"), arrival(2, period="b"), arrival(1, period="a")], 100) == [
        CLOSED,
        STORED,
        CLOSED,
    ]
    store.released("a", "d1")
    assert store.tally().closed == {"a": "d1"}
    assert b"".join(store.answers("a")) == b"\x01\x02\x03"


def test_answers_show_in_batches_of_enough(store: Store) -> None:
    seen = []
    for start in range(0, 50, 7):
        store.take([arrival(start + i, codes=bytes([start + i] * 3)) for i in range(7)], 20)
        seen.append(sum(map(len, store.answers("", end=store.full_batches("")))) // 3)
    assert seen == [0, 0, 21, 21, 21, 42, 42, 42]
    every = b"".join(store.answers(""))
    assert sorted(every[::3]) == list(range(56))
    assert b"".join(store.answers("", 1, 2)) in every


def test_refusals_are_numbers(store: Store) -> None:
    store.refuse({"codes": 2})
    store.refuse({"codes": 1, "size": 5})
    assert store.tally().refused == {"codes": 3, "size": 5}


def test_a_store_is_of_one_survey(address: str, store: Store) -> None:
    assert open_store(address).survey == TEXT
    open_store(address, TEXT).disconnect()
    with pytest.raises(SurveyError, match="another survey"):
        open_store(address, survey(title="Another").text())


@pytest.mark.parametrize("kind", STORES)
def test_a_store_that_is_not_there_is_told_in_a_line(kind: str, tmp_path: Path) -> None:
    with pytest.raises(SurveyError, match="there is no store"):
        open_store(store_of(kind, tmp_path))
    for address, said in (
        ("mysql://host/db", "is neither"),
        ("postgresql://me:secret@host/db", "a password does not belong"),
    ):
        with pytest.raises(SurveyError, match=said) as caught:
            open_store(address, TEXT)
        assert "secret" not in str(caught.value)


def test_a_file_that_is_no_store_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a diary")
    sqlite3.connect(tmp_path / "b").execute("CREATE TABLE t (x)")
    for name in "ab":
        with pytest.raises(SurveyError):
            open_store(tmp_path / name, TEXT)
    assert (tmp_path / "a").read_text() == "a diary"


def test_two_servers_fill_one_store(address: str, store: Store) -> None:
    """Each key once, also where both have it."""
    outcomes: list[Outcome] = []

    def fill(first: int) -> None:
        own = open_store(address)
        for start in range(first, first + 60, 10):
            outcomes.extend(own.take([arrival(i) for i in range(start, start + 10)], 25))
        own.disconnect()

    threads = [threading.Thread(target=fill, args=(first,)) for first in (0, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (outcomes.count(STORED), outcomes.count(REPEATED)) == (90, 30)
    assert store.tally().answers == {"": 90}


PEOPLE = 300


def filled(store: Store) -> tuple[list[bytes], list[bytes]]:
    """Tokens and answers in the order in which they came, one at a time, each told apart from all others."""
    keys = [arrival(i * 2654435761 % 2**32).key for i in range(PEOPLE)]
    codes = [(1_000_000 + i).to_bytes(3, "little") for i in range(PEOPLE)]
    for key, code in zip(keys, codes, strict=True):
        store.take([Arrival(key, key, "", code, "", False)], 1000)
    return keys, codes


def agreement(one: list[int], other: list[int]) -> float:
    """The share of pairs of people whose order agrees in two lists of places: a half where neither tells of the other."""
    pairs = list(itertools.combinations(range(len(one)), 2))
    return sum((one[i] < one[j]) == (other[i] < other[j]) for i, j in pairs) / len(pairs)


LIMIT = 0.17
"""How far from a half the agreement of 300 people may be: its deviation is 0.0193 where nothing is told (Kendall's tau, n = 300), so that a store is falsely accused with 1e-17."""


def places_in(files: list[Path], marks: list[bytes]) -> list[int]:
    data = b"".join(file.read_bytes() for file in files)
    return [data.find(mark) for mark in marks]


def test_no_file_of_a_settled_store_links_tokens_to_answers(tmp_path: Path) -> None:
    """Where a token and an answer lie in the file tells in which order they came, before: a thief would put them side by side."""
    store = open_store(tmp_path / "s.db", TEXT)
    keys, codes = filled(store)
    files = [tmp_path / "s.db", tmp_path / "s.db-wal"]
    assert agreement(places_in(files, keys), places_in(files, codes)) > 0.5 + LIMIT, (
        "the attack works on an unsettled store"
    )
    store.settle()
    held = sorted(path for path in tmp_path.iterdir() if path.name != "s.db-shm")
    places = places_in(held, keys), places_in(held, codes)
    assert min(places[0] + places[1]) >= 0
    order = list(range(PEOPLE))
    for one, other in ((places[0], places[1]), (order, places[0]), (order, places[1])):
        assert abs(agreement(one, other) - 0.5) < LIMIT
    store.disconnect()
    assert sum(file.read_bytes().count(codes[7]) for file in held if file.exists()) == 1, "no copy of a row is left"


def test_no_row_of_a_settled_database_links_tokens_to_answers(tmp_path: Path) -> None:
    """PostgreSQL shows the place of a row and the transaction that wrote it."""
    address = store_of("postgres", tmp_path)
    store: Any = open_store(address, TEXT)
    keys, codes = filled(store)

    def shown(table: str, column: str, marks: list[bytes]) -> tuple[list[int], set[str]]:
        rows = store._run(f"SELECT {column}, ctid::text, xmin::text FROM {table}").fetchall()
        held = {bytes(value): tuple(map(int, place.strip("()").split(","))) for value, place, _ in rows}
        order = {place: i for i, place in enumerate(sorted(held.values()))}
        return [order[held[mark]] for mark in marks], {transaction for _, _, transaction in rows}

    before = shown("spent", "key", keys), shown("answers", "codes", codes)
    assert agreement(before[0][0], before[1][0]) > 0.5 + LIMIT, "the attack works on an unsettled store"
    assert len(before[0][1] & before[1][1]) == PEOPLE
    store.settle()
    after = shown("spent", "key", keys), shown("answers", "codes", codes)
    order = list(range(PEOPLE))
    for one, other in ((after[0][0], after[1][0]), (order, after[0][0]), (order, after[1][0])):
        assert abs(agreement(one, other) - 0.5) < LIMIT
    assert len(after[0][1]) == len(after[1][1]) == 1
    assert store.take([arrival(1)], 1000) == [STORED]
    store.disconnect()
