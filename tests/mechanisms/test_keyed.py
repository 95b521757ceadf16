"""Keyed coins: the same person, column and value give the same published value; averaging releases gains nothing."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly
from tables import DISEASES

import scumble
from scumble.core.canonical import canonical
from scumble.core.coins import Coins
from scumble.core.domain import Categories, Domain, Grid
from scumble.core.errors import ParameterError, SchemaError
from scumble.publishing.keyed import Ids, KeyedCoins

KEY = bytes(range(32))
VALUES = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]


def averaging_attack(releases: list[scumble.Release], truth: dict[int, str]) -> float:
    """The share of people whose most frequent published value is the true one."""
    votes: dict[int, Counter[str]] = {person: Counter() for person in truth}
    for release in releases:
        for row in release.table().to_pylist():
            votes[row["place"]][row["value"]] += 1
    return sum(votes[p].most_common(1)[0][0] == truth[p] for p in truth) / len(truth)


@pytest.mark.slow
def test_averaging_wins_against_fresh_coins_and_not_against_keyed_ones() -> None:
    """40 releases of 500 people at p = 0.3, m = 10: one release guesses 37%; 40 fresh ones over 95%; 40 keyed ones stay at 37%.

    Guesses of one release are Bin(500, 0.37): within 0.37 +- 0.11 but for 1e-6.
    """
    draw = np.random.default_rng(1)
    table = pa.table({"person": np.arange(500) + 1000, "place": np.arange(500), "value": draw.choice(VALUES, 500)})
    truth = dict(zip(range(500), table.column("value").to_pylist(), strict=True))
    settings = {"sensitive": "value", "drop": "person", "public": "place", "domains": {"value": VALUES}, "retain": 0.3}
    fresh = [publish_openly(table, seed=i, **settings) for i in range(40)]
    settings["drop"] = ()
    keyed = [publish_openly(table, seed=i, key=KEY, id="person", **settings) for i in range(40)]
    assert averaging_attack(fresh[:1], truth) == pytest.approx(0.37, abs=0.11)
    assert averaging_attack(fresh, truth) > 0.95
    assert averaging_attack(keyed, truth) == pytest.approx(0.37, abs=0.11)
    assert averaging_attack(keyed, truth) == averaging_attack(keyed[:1], truth)
    assert keyed[0].manifest.randomness.keyed
    assert "person" not in keyed[0].table().column_names


def flips(key: bytes = KEY, column: str = "value", retain: float = 0.3, values: list[str] = VALUES) -> list[int]:
    domain = Categories(values, pa.string())
    coins = KeyedCoins(key, column, domain, Coins.of(scumble.Channel(retain, size=len(values))))
    codes = np.zeros(2000, dtype=np.uint8)
    return coins.flip(codes, Ids.of(pa.array([f"person {i}" for i in range(2000)]), "id")).tolist()


def test_coins_depend_on_key_column_channel_and_domain() -> None:
    """Two independent columns of coins agree in about 37% + of the places; identical ones in all."""
    assert flips() == flips()
    others = [flips(key=bytes(32)), flips(column="other"), flips(retain=0.31), flips(values=[*VALUES[:9], "z"])]
    for other in others:
        agree = np.mean(np.array(flips()) == np.array(other))
        assert agree < 0.3


def test_coins_depend_on_the_true_value() -> None:
    domain, ids = Categories(VALUES, pa.string()), Ids.of(pa.array(np.arange(4000)), "id")
    coins = KeyedCoins(KEY, "value", domain, Coins.of(scumble.Channel(0.0, size=10)))
    zeros = coins.flip(np.zeros(4000, np.uint8), ids)
    ones = coins.flip(np.ones(4000, np.uint8), ids)
    assert np.mean(zeros == ones) == pytest.approx(0.1, abs=0.03)


def test_a_number_and_its_text_are_the_same_id_and_prefixes_are_not() -> None:
    domain = Categories(VALUES, pa.string())
    coins = KeyedCoins(KEY, "value", domain, Coins.of(scumble.Channel(0.0, size=10)))
    codes = np.zeros(1000, np.uint8)
    number = coins.flip(codes, Ids.of(pa.array(np.arange(1000)), "id"))
    text = coins.flip(codes, Ids.of(pa.array([str(i) for i in range(1000)]), "id"))
    padded = coins.flip(codes, Ids.of(pa.array([f"{i}\0" for i in range(1000)]), "id"))
    assert np.array_equal(number, text)
    assert np.mean(number == padded) < 0.2


def test_keyed_coins_have_the_law_of_the_channel() -> None:
    """n = 200,000 ids, one value, m = 4, p = 0.5: the kept share is 0.625 within 5 standard errors (false alarm 6e-7)."""
    domain = Categories(VALUES[:4], pa.string())
    coins = KeyedCoins(KEY, "value", domain, Coins.of(scumble.Channel(0.5, size=4)))
    kept = np.mean(coins.flip(np.zeros(200_000, np.uint8), Ids.of(pa.array(np.arange(200_000)), "id")) == 0)
    error = np.sqrt(0.625 * 0.375 / 200_000)
    assert abs(kept - 0.625) < 5 * error
    assert abs(kept - 0.632) > 5 * error


def test_bad_keys_and_ids(publish_simply: Callable[..., scumble.Release], tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ParameterError, match="32 random bytes"):
        publish_simply(key=b"short", id="name", drop=())
    with pytest.raises(ParameterError, match="no key file"):
        publish_simply(key=tmp_path / "none", id="name", drop=())
    with pytest.raises(ParameterError, match="go together"):
        publish_simply(key=KEY)
    with pytest.raises(SchemaError, match="repeat an id"):
        publish_simply(key=KEY, id="age", rows_per_person="all")
    with pytest.raises(SchemaError, match="not in the table"):
        publish_simply(key=KEY, id="nme")
    with pytest.raises(SchemaError, match="text or a whole number"):
        publish_simply(key=KEY, id="cost")


def test_the_manifest_says_what_keyed_coins_do_not_hide(publish_simply: Callable[..., scumble.Release]) -> None:
    """Two different published values of a person prove that the value changed; and a domain must not follow the data."""
    release = publish_simply(key=KEY, id="name", drop=())
    assert all("prove that the value" in g.conditions[1] for g in release.manifest.guarantees)
    with pytest.raises(ParameterError, match="declared domain"):
        publish_simply(key=KEY, id="name", drop=(), domains={}, domain_from_data=True)


def test_the_key_is_nowhere_in_the_release(publish_simply: Callable[..., scumble.Release]) -> None:
    key = b"0123456789abcdef0123456789abcdef"
    release = publish_simply(key=key, id="name", drop=())
    for file in release.path.rglob("*"):
        if file.is_file():
            assert key not in file.read_bytes()
            assert key.hex().encode() not in file.read_bytes()


RETAINED = {"a": 0.1, "b": 0.2, "c": 0.6}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Categories(VALUES, pa.string()), Categories(VALUES[::-1], pa.string())),
        (Categories([3, 1, 2], pa.int64()), Grid("1", "3", "1", pa.int32())),
        (Categories([0.3, 0.1, 0.2], pa.float32()), Grid("0.1", "0.3", "0.1", pa.float64())),
        (Categories(["b", None, "a"], pa.string()), Categories([None, "a", "b"], pa.large_string())),
        (Categories([7, None, 2], pa.int16()), Categories([2.0, 7.0, None], pa.float64())),
        (Categories([True, False], pa.bool_()), Categories([False, True], pa.bool_())),
    ],
)
def test_a_domain_is_a_set(one: Domain, other: Domain) -> None:
    """Whatever lists the values, each has the same canonical place."""
    forms = [canonical(each) for each in (one, other)]
    assert forms[0].text == forms[1].text
    listed = [each.values.take(pa.array(form.codes)) for each, form in zip((one, other), forms, strict=True)]
    assert [str(x).removesuffix(".0") for x in listed[0].cast(pa.string()).to_pylist()] == [
        str(x).removesuffix(".0") for x in listed[1].cast(pa.string()).to_pylist()
    ]


def test_domains_of_other_values_are_others() -> None:
    """A number is not its text, and values do not run together."""
    kinds = {"text": Categories(["1", "2", "12"], pa.string()), "number": Categories([1, 2, 12], pa.int64())}
    kinds |= {"longer": Categories(["1", "21", "2"], pa.string()), "missing": Categories(["1", "2", None], pa.string())}
    assert len({canonical(each).text for each in kinds.values()}) == len(kinds)


def people(names: dict[str, str], rows: int = 3000) -> pa.Table:
    draw = np.random.default_rng(8)
    table = pa.table(
        {
            "person": [f"P{i}" for i in range(rows)],
            "place": np.arange(rows),
            "value": draw.choice(VALUES, rows),
            "level": draw.integers(0, 5, rows),
        }
    )
    return table.rename_columns([names.get(name, name) for name in table.column_names])


def test_renaming_and_reordering_draw_no_fresh_coins() -> None:
    """3,000 people: another name of the column, another order of its domain, a list in the place of a grid, rows in another order: 100% are published alike."""
    how: dict[str, Any] = {"id": "person", "key": KEY, "retain": 0.3, "public": "place"}
    first = scumble.publish(
        people({}),
        sensitive=["value", "level"],
        domains={"value": VALUES, "level": {"low": 0, "high": 4}},
        seed=1,
        **how,
    )
    renamed = people({"value": "diag", "level": "stage"}).take(pa.array(np.random.default_rng(1).permutation(3000)))
    second = scumble.publish(
        renamed,
        sensitive=["stage", "diag"],
        domains={"diag": VALUES[::-1], "stage": [4, 2, 0, 1, 3]},
        attributes={"diag": "value", "stage": "level"},
        seed=2,
        **how,
    )
    tables = [each.table().sort_by("place") for each in (first, second)]
    assert tables[0]["value"].to_pylist() == tables[1]["diag"].to_pylist()
    assert tables[0]["level"].to_pylist() == tables[1]["stage"].to_pylist()
    streams = [{s.attribute: s.commitment for s in each.manifest.randomness.streams or []} for each in (first, second)]
    assert streams[0] == streams[1]
    assert len(set(streams[0].values())) == 2


def test_without_the_attribute_a_new_name_has_fresh_coins_and_the_manifest_shows_it() -> None:
    """3,000 people at retention 0.3 of 10 values agree in 0.3^2 + (1 - 0.3^2)/10, 18%, by chance; 30% is 15 standard errors above."""
    how: dict[str, Any] = {"id": "person", "key": KEY, "retain": 0.3, "public": "place", "drop": ["level"]}
    first = scumble.publish(people({}), sensitive="value", domains={"value": VALUES}, seed=1, **how)
    second = scumble.publish(people({"value": "diag"}), sensitive="diag", domains={"diag": VALUES}, seed=2, **how)
    tables = [each.table().sort_by("place") for each in (first, second)]
    assert np.mean(tables[0]["value"].to_numpy() == tables[1]["diag"].to_numpy()) < 0.3
    assert commitment(first) != commitment(second)


def commitment(release: scumble.Release) -> str:
    (stream,) = release.manifest.randomness.streams or []
    return stream.commitment


def test_the_commitment_follows_the_arguments_of_the_coins_and_nothing_else() -> None:
    """The same for the same key, attribute, domain and thresholds; another one where any of them differs."""
    domain, channel = Categories(VALUES, pa.string()), scumble.Channel(0.3, size=10)
    base = KeyedCoins(KEY, "value", domain, Coins.of(channel)).commitment
    assert KeyedCoins(KEY, "value", Categories(VALUES[::-1], pa.string()), Coins.of(channel)).commitment == base
    others = [
        KeyedCoins(bytes(32), "value", domain, Coins.of(channel)),
        KeyedCoins(KEY, "other", domain, Coins.of(channel)),
        KeyedCoins(KEY, "value", domain, Coins.of(scumble.Channel(0.31, size=10))),
        KeyedCoins(KEY, "value", Categories([*VALUES[:9], "z"], pa.string()), Coins.of(channel)),
        KeyedCoins(KEY, "value", domain, Coins.of(channel), occurrence=True),
    ]
    assert len({base, *(each.commitment for each in others)}) == 6


def test_retentions_of_single_values_go_with_their_values() -> None:
    """A domain in another order, with a retention for each value: 2,000 people of each value are published alike."""
    ids, published = Ids.of(pa.array(np.arange(2000)), "id"), []
    for listed in (["a", "b", "c"], ["c", "a", "b"]):
        domain = Categories(listed, pa.string())
        coins = KeyedCoins(KEY, "value", domain, Coins.of(scumble.Channel([RETAINED[v] for v in listed])))
        published.append(
            {v: domain.values.take(pa.array(coins.flip(np.full(2000, i, np.uint8), ids))) for i, v in enumerate(listed)}
        )
    assert published[0] == published[1]


def visits(rows: list[tuple[str, int, str]]) -> pa.Table:
    return pa.table(
        {key: list(column) for key, column in zip(("person", "visit", "value"), zip(*rows, strict=True), strict=True)}
    )


def by_visit(rows: list[tuple[str, int, str]]) -> dict[tuple[str, int], str]:
    release = scumble.publish(
        visits(rows).append_column("who", pa.array([person for person, _, _ in rows])),
        sensitive="value",
        public=["who", "visit"],
        domains={"value": VALUES},
        retain=0.3,
        key=KEY,
        id="person",
        occurrence="visit",
        determined="value",  # by who: that is how coins are told apart here
        seed=1,
    )
    return {(row["who"], row["visit"]): row["value"] for row in release.table().to_pylist()}


@pytest.mark.slow
def test_rows_of_a_person_have_coins_of_their_own_that_neither_order_nor_growth_changes() -> None:
    """500 people of two visits with one value: two visits agree as two independent coins do, 0.18, within 5 standard errors (1e-6)."""
    rows = [(f"P{i}", visit, VALUES[i % 10]) for i in range(500) for visit in (1, 2)]
    once = by_visit(rows)
    assert by_visit(rows[::-1]) == once
    grown = by_visit([*rows[:600], *((f"P{i}", 0, "a") for i in range(500)), *rows[600:]])
    assert {place: grown[place] for place in once} == once
    alike = np.mean([once[f"P{i}", 1] == once[f"P{i}", 2] for i in range(500)])
    assert alike == pytest.approx(0.181, abs=5 * np.sqrt(0.181 * 0.819 / 500))


def test_two_rows_that_nothing_tells_apart_are_refused() -> None:
    with pytest.raises(SchemaError, match="repeat an id of 'person' and 'visit'"):
        by_visit([("P1", 1, "a"), ("P1", 1, "b"), ("P2", 1, "a")])
    with pytest.raises(ParameterError, match="give key and id"):
        scumble.publish(
            visits([("P1", 1, "a")]),
            sensitive="value",
            domains={"value": VALUES},
            retain=0.3,
            occurrence="visit",
            drop="person",
        )


def test_two_columns_of_one_attribute_are_refused(publish_simply: Callable[..., scumble.Release]) -> None:
    with pytest.raises(SchemaError, match="have one attribute"):
        publish_simply(
            attributes={"disease": "smoker"},
            sensitive=["disease", "smoker"],
            retain=0.3,
            domains={"disease": DISEASES, "smoker": [True, False]},
        )
    with pytest.raises(
        SchemaError, match="an attribute is given for 'sex', which is public; attributes are for sensitive"
    ):
        publish_simply(attributes={"sex": "gender"})
