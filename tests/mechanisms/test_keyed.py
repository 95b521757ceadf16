"""Keyed coins: the same person, column and value give the same published value; averaging releases gains nothing."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

import scumble
from scumble.core.coins import Coins
from scumble.core.domain import Categories
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
    others = [flips(key=bytes(32)), flips(column="other"), flips(retain=0.31), flips(values=VALUES[::-1])]
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
        publish_simply(key=KEY, id="age")
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
