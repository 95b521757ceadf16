"""Persons, not rows: counted, capped, stated or not answered, and said everywhere."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from forged import forged, restated
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.errors import ParameterError, SchemaError
from scumble.reporting.promises import belief, headline

DOMAIN = ["a", "b", "c"]
HOW: dict[str, Any] = {"sensitive": "d", "public": ["place"], "domains": {"d": DOMAIN}, "gamma": 3}


def visits(persons: int = 60, most: int = 4) -> pa.Table:
    """Person i has 1 + i % most rows, which a public column numbers; each row has a number of its own."""
    who = np.repeat(np.arange(persons), 1 + np.arange(persons) % most)
    place = np.concatenate([np.arange(1 + i % most) for i in range(persons)])
    order = np.random.default_rng(7).permutation(len(who))
    d = np.array(DOMAIN)[np.arange(len(who)) % 3]
    return pa.table({"pid": who[order], "place": place[order], "d": d[order], "visit": np.arange(len(who))})


def codes(release: scumble.Release) -> set[str]:
    return {clause.code for clause in release.terms.clauses} | {c.code for c in release.terms.depends_on_data}


def test_the_persons_factor_stands_before_the_rows_and_is_derived_again() -> None:
    release = scumble.publish(visits(), **HOW, person="pid", drop="visit")
    first, second = release.terms.guarantees[:2]
    assert (first.kind, first.parameters["rows"], second.kind) == ("person_amplification", 4, "amplification")
    assert first.parameters["gamma"] == pytest.approx(second.parameters["gamma"] ** 4, rel=1e-12)
    assert first.parameters["gamma"] == pytest.approx(81, rel=1e-6)
    assert second.under("one_of_rows")
    assert not second.under("one_row")
    assert {"rows_counted", "rows_tell"} <= codes(release)
    assert all(check.passed for check in scumble.verify(release))
    assert "81" in str(release)


@pytest.mark.slow
def test_a_rewritten_number_of_rows_or_factor_is_found() -> None:
    release = scumble.publish(visits(), **HOW, person="pid", drop="visit")
    assert release.manifest.persons is not None
    fewer = forged(release, persons=release.manifest.persons.model_copy(update={"rows": 2}))
    for changed in (fewer, forged(release, persons=None), restated(release, 0, gamma=3.0)):
        assert not all(check.passed for check in scumble.verify(changed))


def test_of_identifiers_the_one_with_the_most_rows_is_taken() -> None:
    release = scumble.publish(visits(), **HOW, rest="drop", id="visit", key=bytes(32), person="pid")
    assert release.manifest.persons is not None
    assert release.manifest.persons.rows == 4
    plan = scumble.plan(visits(), **HOW, id="visit", person="pid")
    assert "pid: 60 persons, 2.5 rows each on average, 4 at most" in repr(plan)


def test_what_tells_rows_of_a_person_apart_counts_nobody() -> None:
    """With coins by key the id is the person's: the number of a visit has many rows a value, and is of no person."""
    table = visits().append_column("turn", visits().column("place"))
    release = scumble.publish(table, **HOW, rest="drop", id="pid", occurrence="turn", key=bytes(32))
    assert release.manifest.persons is not None
    assert (release.manifest.persons.how, release.manifest.persons.rows) == ("counted", 4)


def test_a_spec_without_a_person_takes_an_identifier_and_says_which(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(visits(), tmp_path / "t.parquet")
    roles = {"pid": "identifier", "visit": "identifier", "place": "public"}
    columns = "".join(f'[columns.{name}]\nrole = "{role}"\n' for name, role in roles.items())
    (tmp_path / "t.toml").write_text(
        f'table = "t.parquet"\n[privacy]\ngamma = 3\n{columns}[columns.d]\nrole = "sensitive"\nvalues = ["a", "b", "c"]\n'
    )
    shown = CliRunner().invoke(app, ["publish", str(tmp_path / "t.toml"), "-o", str(tmp_path / "r")])
    assert shown.exit_code == 0, shown.output
    assert "persons: pid (no person was named" in shown.output
    assert "up to 4 of them" in shown.output


@pytest.mark.parametrize("most", [1, 2])
def test_a_cap_keeps_so_many_rows_of_each_and_says_what_is_answered(most: int) -> None:
    release = scumble.publish(visits(), **HOW, person="pid", drop="visit", rows_per_person=most)
    assert release.manifest.rows == (60 if most == 1 else 15 + 45 * 2)
    assert release.manifest.persons is not None
    assert (release.manifest.persons.how, release.manifest.persons.rows) == ("capped", most)
    assert "rows_tell" not in codes(release), "a cap is the publisher's number, and tells nothing of the table"
    notes = release.query("SELECT COUNT(*) FROM release").notes
    assert ("persons, by one row of each" if most == 1 else "not all rows of the table") in notes[0]
    assert all(check.passed for check in scumble.verify(release))


def test_each_row_of_a_person_is_drawn_alike() -> None:
    """2,000 persons of four rows each, one drawn: the counts of the four places by chi-square, 3 degrees, false alarm 1e-6 at 30.66."""
    table = pa.table(
        {"pid": np.repeat(np.arange(2000), 4), "place": np.tile(np.arange(4), 2000), "d": ["a", "b"] * 4000}
    )
    release = scumble.publish(table, **HOW, person="pid", rows_per_person=1, seed=5, determined="d")
    seen = np.bincount(release.table().column("place").to_numpy(), minlength=4)
    assert seen.sum() == 2000
    assert ((seen - 500) ** 2 / 500).sum() < 30.66
    later = np.array([620, 460, 460, 460])  # to be expected where the first row is drawn with 0.31 in place of 0.25
    assert ((later - 500) ** 2 / 500).sum() > 30.66


def test_what_is_left_of_nothing_is_refused_unless_it_is_accepted() -> None:
    strong = {**HOW, "gamma": 40, "drop": "visit", "person": "pid"}
    with pytest.raises(
        SchemaError, match=r"nothing is left of a promise.*depends on the data.*Ways out: rows_per_person = 1"
    ):
        scumble.publish(visits(), **strong)
    accepted = scumble.publish(visits(), **strong, rows_per_person="all")
    assert accepted.terms.guarantees[0].parameters["gamma"] == pytest.approx(40**4, rel=1e-6)
    with pytest.raises(SchemaError, match="promises nothing of several rows together"):
        scumble.publish(
            visits(), sensitive="d", public=["place"], drop="visit", person="pid", mechanism="k_dgs", settings={"k": 2}
        )


def test_missing_persons_count_as_one_and_are_not_capped() -> None:
    table = pa.table({"pid": [1, 2, None, None, None], "place": [0] * 5, "d": ["a", "b", "c", "a", "b"]})
    release = scumble.publish(table, **HOW, person="pid")
    assert release.manifest.persons is not None
    assert release.manifest.persons.rows == 3
    with pytest.raises(SchemaError, match="3 rows have no 'pid'"):
        scumble.publish(table, **HOW, person="pid", rows_per_person=1)


@pytest.mark.slow
def test_a_question_that_nobody_answers_is_printed_as_one_everywhere(tmp_path: Path) -> None:
    table = visits().select(["place", "d"])
    release = scumble.publish(table, tmp_path / "r", **HOW)
    plan = scumble.plan(table, **HOW)
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "r")]).output
    readme = (tmp_path / "r" / "README.md").read_text()
    page = scumble.report(release, tmp_path / "report.html").read_text()
    for text in (str(release), repr(plan), shown, readme):
        assert "UNANSWERED: is each person one row" in text
    assert "Nobody answered" in page
    stated = scumble.publish(table, **HOW, persons="one row each")
    assert "one_row_stated" in codes(stated)
    assert "UNANSWERED" not in str(stated)


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"person": "pidd"}, SchemaError, "did you mean 'pid'"),
        ({"person": "place"}, ParameterError, "which is public"),
        ({"person": "pid", "rows_per_person": 0}, ParameterError, "whole number from 1 on"),
        ({"person": "pid", "rows_per_person": True}, ParameterError, "whole number from 1 on"),
        ({"person": "pid", "persons": "one row each"}, SchemaError, "a value of 'pid' has 4 rows"),
        ({"drop": "pid", "rows_per_person": 1}, ParameterError, "whose row it is"),
        ({"drop": "pid", "persons": "yes"}, ParameterError, "one row each"),
    ],
)
def test_what_does_not_fit_is_refused(more: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        scumble.publish(visits().drop_columns("visit"), **HOW, **more)


def numbered(name: str) -> pa.Table:
    """Three rows of each person."""
    who = np.repeat(np.arange(400), 3)
    ids = who if name == "pid" else [f"P{i:04d}" for i in who]
    return pa.table({name: ids, "d": np.random.default_rng(3).choice(DOMAIN, 1200)})


ILL: dict[str, Any] = {"sensitive": "d", "domains": {"d": DOMAIN}, "gamma": 3}


@pytest.mark.parametrize("name", ["pid", "who"])
def test_a_published_column_that_looks_like_persons_is_counted_by(name: str) -> None:
    """Whoever has the release puts the rows of a person together: what is promised is promised to a person, or refused."""
    with pytest.warns(
        UserWarning, match=f"'{name}' is PUBLISHED as it is and looks as if people were told apart by it"
    ):
        release = scumble.publish(numbered(name), **ILL, public=name)
    assert release.manifest.persons is not None
    assert (release.manifest.persons.how, release.manifest.persons.rows) == ("counted", 3)
    assert round(release.terms.guarantees[0].parameters["gamma"], 3) == 27
    with pytest.raises(SchemaError, match="a person has up to 3 rows"):
        scumble.publish(numbered(name), **{**ILL, "gamma": 1000}, public=name)


def test_a_published_number_of_each_row_counts_nobody() -> None:
    table = pa.table({"row": np.arange(1200), "d": np.random.default_rng(3).choice(DOMAIN, 1200)})
    with pytest.warns(UserWarning, match="rows a person were NOT counted, and 'row' looks"):
        release = scumble.publish(table, **ILL, public="row")
    assert release.manifest.persons is not None
    assert release.manifest.persons.how == "unanswered"


@pytest.mark.parametrize(("name", "more"), [("who", {"coarsen": {"who": {"prefix": 2}}}), ("zip", {"public": "zip"})])
def test_what_is_coarsened_and_where_people_live_counts_nobody(name: str, more: dict[str, Any]) -> None:
    """Nobody puts the rows of a person together by values that are not published, or that neighbours share."""
    ids = [f"P{i:04d}" if name == "who" else str(10000 + i) for i in np.repeat(np.arange(400), 3)]
    table = pa.table({name: ids, "d": np.random.default_rng(3).choice(DOMAIN, 1200)})
    with pytest.warns(UserWarning, match="rows a person were NOT counted"):
        release = scumble.publish(table, **{**ILL, "gamma": 1000}, **more)
    assert release.manifest.persons is not None
    assert release.manifest.persons.how == "unanswered"


def test_a_published_name_of_few_places_counts_nobody() -> None:
    table = pa.table({"hospital_name": ["north", "south"] * 600, "d": np.random.default_rng(3).choice(DOMAIN, 1200)})
    with pytest.warns(UserWarning, match="rows a person were NOT counted"):
        release = scumble.publish(table, **ILL, public="hospital_name")
    assert release.manifest.persons is not None
    assert release.manifest.persons.how == "unanswered"


@pytest.mark.parametrize("name", ["pid", "who"])
def test_a_column_that_looks_like_persons_is_named_where_nobody_named_it(name: str) -> None:
    """Three rows of each person, left out without a word about persons."""
    table, how = numbered(name), {**ILL, "public": [], "drop": [name]}
    with pytest.warns(UserWarning, match=f"rows a person were NOT counted, and '{name}' looks .* --person {name}"):
        release = scumble.publish(table, **how)
    known = belief(release.terms.guarantees)
    assert known is not None
    assert known.about == "anything about a row's d"
    assert "row's d" in headline(release.terms.guarantees)
    assert "person" not in headline(release.terms.guarantees)


def test_who_says_one_row_each_is_not_warned() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = scumble.publish(visits(), **HOW, drop=["pid", "visit"], persons="one row each")
    assert "person's d" in headline(release.terms.guarantees)
