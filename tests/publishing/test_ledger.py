"""The ledger: what was published of whom is on the disk before a release is in place, and a second one that tells more is refused."""

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.atomic import whole_folder
from scumble.core.errors import LedgerError, ParameterError
from scumble.publishing.entries import Entry, Look, joint
from scumble.publishing.ledger import Ledger

VALUES = ["a", "b", "c", "d"]


def people(start: int, end: int) -> pa.Table:
    """Person i has the value i % 4, in whichever table."""
    who = np.arange(start, end)
    return pa.table({"pid": who, "place": who % 7, "v": np.array(VALUES)[who % 4], "w": np.array(VALUES)[who % 3]})


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "scumble.key"
    path.write_bytes(bytes(range(32)))
    return path


def publish(table: pa.Table, key: Path, **changes: Any) -> scumble.Release:
    how: dict[str, Any] = {"sensitive": "v", "public": "place", "drop": "w", "domains": {"v": VALUES}, "epsilon": 1}
    how |= {"key": key, "id": "pid", "seed": 1} | changes
    if "w" in how["sensitive"]:
        how["drop"] = ["v"] if how["sensitive"] == "w" else []
    return scumble.publish(table, **how)


def entries(key: Path) -> list[Entry]:
    return list(scumble.ledger(f"{key}.ledger").entries)


def test_the_same_coins_are_one_look(key: Path) -> None:
    """The same people, and a hundred more, by the same key: nothing is refused, and all releases come to epsilon = 1."""
    for end in (300, 300, 400):
        publish(people(0, end), key)
    found = entries(key)
    assert [(entry.status, entry.people) for entry in found] == [("published", n) for n in (300, 300, 400)]
    assert joint(look for entry in found for look in entry.looks).epsilon == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"epsilon": 0.5}, "300 of 300 people were published .* and 'v' has fresh coins now, .* epsilon = 1.5"),
        ({"domains": {"v": [*VALUES, "e"]}}, "'v' has fresh coins now"),
        ({"attributes": {"v": "other"}}, "with no budget declared; .* epsilon = 2"),
        ({"sensitive": "w", "domains": {"w": VALUES}}, "with no budget declared; .* epsilon = 2"),
        ({"budget": 1.5, "sensitive": "w", "domains": {"w": VALUES}}, "the budget is epsilon = 1.5, .* epsilon = 2"),
    ],
)
def test_a_second_look_is_refused_and_accepted_by_again(
    key: Path, changes: dict[str, Any], told: str, tmp_path: Path
) -> None:
    publish(people(0, 300), key, out=tmp_path / "first")
    with pytest.raises(LedgerError, match=told):
        publish(people(0, 300), key, out=tmp_path / "second", **changes)
    assert not (tmp_path / "second").exists()
    assert len(entries(key)) == 1
    with pytest.warns(UserWarning, match="people"):
        publish(people(0, 300), key, out=tmp_path / "second", again=True, **changes)
    assert [entry.again for entry in entries(key)] == [False, True]


def test_other_people_are_no_second_look(key: Path) -> None:
    publish(people(0, 300), key)
    publish(people(300, 600), key, epsilon=0.5)
    with pytest.raises(LedgerError, match="1 of 100 people"):
        publish(people(599, 699), key, epsilon=0.25)


def test_a_budget_holds_new_attributes(key: Path) -> None:
    """Two attributes at epsilon 1 within a budget of 2; a third would pass it."""
    publish(people(0, 300), key, budget=2)
    publish(people(0, 300), key, sensitive="w", domains={"w": VALUES}, budget=2)
    with pytest.raises(LedgerError, match=r"the budget is epsilon = 2, .* epsilon = 3"):
        publish(people(0, 300), key, attributes={"v": "third"}, budget=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "changes"),
    [
        ("swapped", {"epsilon": None, "retain": 0.5}),
        ("anatomy", {"epsilon": None, "settings": {"l": 2}}),
        ("k_dgs", {"epsilon": None, "settings": {"k": 3}, "persons": None}),
    ],
)
def test_one_person_more_is_told_with_certainty(key: Path, mechanism: str, changes: dict[str, Any]) -> None:
    """t2 = t1 plus one person, where counts are those of the table: the refusal says so."""
    ledger = Path(f"{key}.ledger")
    publish(people(0, 300), key, mechanism=mechanism, ledger=ledger, **changes)
    with pytest.raises(LedgerError, match=r"1 came and 0 went\. .* that person's values are told with certainty"):
        publish(people(0, 301), key, mechanism=mechanism, ledger=ledger, **changes)
    with pytest.raises(LedgerError, match="the values of these 3 are told"):
        publish(people(2, 301), key, mechanism=mechanism, ledger=ledger, **changes)
    with pytest.raises(LedgerError, match="are fresh each time"):
        publish(people(150, 450), key, mechanism=mechanism, ledger=ledger, **changes)


def test_the_difference_of_two_releases_does_tell_it(key: Path) -> None:
    """The claim of the refusal, measured: the published counts of swapped differ by the one person's value."""
    tables = []
    for end in (300, 301):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            how = {"mechanism": "swapped", "ledger": f"{key}.ledger", "again": True, "epsilon": None, "retain": 0.5}
            tables.append(publish(people(0, end), key, **how).table()["v"].to_pylist())
    counts = [{value: published.count(value) for value in VALUES} for published in tables]
    assert [value for value in VALUES if counts[1][value] != counts[0][value]] == [VALUES[300 % 4]]


def test_coins_that_belong_to_no_row_need_a_named_ledger(key: Path) -> None:
    with pytest.raises(ParameterError, match="the key is for the ledger alone"):
        publish(people(0, 300), key, mechanism="swapped", epsilon=None, retain=0.5)


def test_a_crash_leaves_the_entry_pending_and_it_counts(
    key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies between the entry and the release: the entry is on the disk, and a second look is refused."""

    def fall(ledger: Ledger, number: int) -> None:
        raise RuntimeError("the power went")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "confirm", fall)
        with pytest.raises(RuntimeError):
            publish(people(0, 300), key, out=tmp_path / "first")
    assert [entry.status for entry in entries(key)] == ["pending"]
    with pytest.raises(LedgerError, match="fresh coins now"):
        publish(people(0, 300), key, epsilon=0.5)


def test_the_entry_is_there_before_the_release(key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the release takes its place, the ledger on the disk has its digest already."""
    seen: list[tuple[bool, list[str]]] = []
    take = whole_folder

    def watched(out: Path, *rest: Any, **more: Any) -> Any:
        made = take(out, *rest, **more)

        class Watched:
            def __enter__(self) -> Path:
                return made.__enter__()

            def __exit__(self, *args: Any) -> Any:
                seen.append((out.exists(), [entry.status for entry in entries(key)]))
                return made.__exit__(*args)

        return Watched()

    monkeypatch.setattr("scumble.publishing.publish.whole_folder", watched)
    release = publish(people(0, 300), key, out=tmp_path / "first")
    assert seen == [(False, ["pending"])]
    assert [(entry.status, entry.digest) for entry in entries(key)] == [("published", release.manifest.digest)]


def test_a_publication_that_fails_leaves_no_entry(key: Path, tmp_path: Path) -> None:
    with pytest.raises(scumble.ScumbleError, match="outside its domain"):
        publish(people(0, 300), key, domains={"v": ["a", "b", "c"]})
    assert not Path(f"{key}.ledger").exists()


def test_a_ledger_of_another_key_or_another_id_is_refused(key: Path, tmp_path: Path) -> None:
    publish(people(0, 300), key)
    with pytest.raises(LedgerError, match="another key"):
        publish(people(0, 300), bytes(32), ledger=f"{key}.ledger")  # type: ignore[arg-type]
    with pytest.raises(LedgerError, match="by 'pid', and these are named by 'who'"):
        publish(people(300, 400).rename_columns(["who", "place", "v", "w"]), key, id="who")


def test_what_is_lost_is_not_taken_for_nobody(key: Path) -> None:
    """A list of people that is cut off, or a ledger that is none, refuses; it does not count as empty."""
    publish(people(0, 300), key)
    (file,) = Path(f"{key}.ledger.people").glob("0*")
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(LedgerError, match="cut off"):
        publish(people(0, 300), key)
    Path(f"{key}.ledger").write_text("{}")
    with pytest.raises(LedgerError, match="is no ledger"):
        publish(people(0, 300), key)


def test_neither_ids_nor_the_key_are_in_the_ledger_and_it_is_in_no_release(key: Path, tmp_path: Path) -> None:
    table = people(0, 300).set_column(0, "pid", pa.array([f"person-{i:04d}" for i in range(300)]))
    release = publish(table, key, out=tmp_path / "first")
    beside = [Path(f"{key}.ledger"), *Path(f"{key}.ledger.people").glob("*")]
    for file in beside:
        assert b"person-" not in file.read_bytes()
        assert key.read_bytes()[:16] not in file.read_bytes()
    assert not [file for file in release.path.rglob("*") if "ledger" in file.name]
    with pytest.raises(ParameterError, match="outside of the release"):
        publish(table, key, out=tmp_path / "second", ledger=tmp_path / "second" / "ledger")


def test_rows_of_a_person_multiply(key: Path) -> None:
    """Three visits with coins of their own come to three times the epsilon."""
    visits = pa.concat_tables([people(0, 100)] * 3)
    visits = visits.append_column("visit", pa.array(np.repeat([1, 2, 3], 100)))
    publish(visits, key, occurrence="visit", person="pid")
    (entry,) = entries(key)
    assert (entry.people, entry.rows_of_a_person) == (100, 3)
    assert joint(entry.looks).epsilon == pytest.approx(3, rel=1e-6)


def test_looks_without_a_bound_have_none_together() -> None:
    assert joint([Look(epsilon=1.0), Look()]).words == "no bound"
    assert joint([Look(epsilon=1.0, delta=1e-6)] * 2).words == "epsilon = 2, delta = 0.000002"
    assert math.isclose(joint([Look(commitment="x", epsilon=1.0), Look(commitment="x", epsilon=2.0)]).epsilon or 0, 2.0)


def test_without_a_key_there_is_none() -> None:
    with pytest.raises(ParameterError, match="give key and id"):
        publish(people(0, 10), None, id=None, drop=["w", "pid"], ledger="x")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="which a ledger knows"):
        publish(people(0, 10), None, id=None, drop=["w", "pid"], again=True)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_commands(key: Path, tmp_path: Path) -> None:
    """publish says what it wrote into the ledger, refuses with code 2, and ledger shows all of it."""
    csv.write_csv(people(0, 200), tmp_path / "people.csv")
    common = ["publish", str(tmp_path / "people.csv"), "--sensitive", "v", "--public", "place", "--drop", "w"]
    common += ["--domain", "v=a,b,c,d", "--key", str(key), "--id", "pid"]
    run = CliRunner()
    first = run.invoke(app, [*common, "--epsilon", "1", "-o", str(tmp_path / "one")])
    assert "ledger: scumble.key.ledger, entry 1, 200 people" in first.output
    second = run.invoke(app, [*common, "--epsilon", "2", "-o", str(tmp_path / "two")])
    assert isinstance(second.exception, LedgerError)
    with pytest.warns(UserWarning, match="averaged"):
        third = run.invoke(app, [*common, "--epsilon", "2", "--again", "-o", str(tmp_path / "two")])
    assert "all 2 releases of these people together: epsilon = 3" in third.output
    shown = run.invoke(app, ["ledger", f"{key}.ledger"]).output
    assert "whoever is in all of them: epsilon = 3" in shown
    assert '"commitment":' in run.invoke(app, ["ledger", f"{key}.ledger", "--format", "json"]).output
    bare = run.invoke(app, [*common[:-4], "--drop", "pid", "--epsilon", "1", "-o", str(tmp_path / "three")]).output
    assert "ledger: none" in bare


def test_a_link_to_the_key_leads_to_the_same_ledger(key: Path, tmp_path: Path) -> None:
    publish(people(0, 300), key)
    link = tmp_path / "elsewhere"
    link.symlink_to(key)
    with pytest.raises(LedgerError, match="300 of 300 people"):
        publish(people(0, 300), link, epsilon=0.5)
    assert not Path(f"{link}.ledger").exists()


def test_another_ledger_than_the_one_beside_the_key_is_warned_of(key: Path, tmp_path: Path) -> None:
    publish(people(0, 300), key)
    with pytest.warns(UserWarning, match=r"scumble\.key\.ledger' lies beside the key and was NOT looked at"):
        publish(people(0, 300), key, epsilon=0.5, ledger=tmp_path / "other.ledger")


def test_a_ledger_beside_a_link_is_warned_of(key: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere"
    link.symlink_to(key)
    publish(people(0, 300), key, ledger=tmp_path / "elsewhere.ledger")
    with pytest.warns(UserWarning, match=r"elsewhere\.ledger' lies beside the key"):
        publish(people(0, 300), link, epsilon=0.5)


def test_the_ledger_beside_the_key_may_be_named_by_another_path(key: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    publish(people(0, 300), key)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        publish(people(0, 300), key, ledger=tmp_path / "more" / ".." / "scumble.key.ledger")
