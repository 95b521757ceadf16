"""Two stages: their product is a channel of whole numbers, and averaging releases finds the memoised response and no more."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import scumble
from scumble.core.coins import Coins
from scumble.core.errors import ParameterError, ReleaseError
from scumble.core.staged_coins import StagedCoins
from scumble.release.records import ChannelRecord

KEY = bytes(range(32))
VALUES = list("abcdefghij")


@pytest.mark.parametrize("retain", [0.3, [0.0, 0.1, 0.7, 0.5], 0.999])
@pytest.mark.parametrize("fresh", [0.01, 0.8, 1 - 1e-9])
def test_the_product_is_exact(retain: Any, fresh: float) -> None:
    """P = F M, entry by entry, in fractions; and as coins, which 2^64 - T U must be a multiple of m for."""
    first, second = Coins.of(scumble.Channel(retain, size=4)), Coins.of(scumble.Channel(fresh, size=4))
    product = StagedCoins.product(first, second)
    kept = [Fraction(int(t), 1 << 32) for t in first.thresholds]
    assert [Fraction(int(t), 1 << 64) for t in product.thresholds] == [
        p * Fraction(int(second.thresholds[0]), 1 << 32) for p in kept
    ]
    assert all((2**64 - int(t)) % 4 == 0 for t in product.thresholds if t)
    assert np.allclose(second.channel().matrix() @ first.channel().matrix(), product.channel().matrix(), atol=1e-15)
    assert product.amplification <= first.amplification
    back = ChannelRecord.of(product).coins(4)
    assert isinstance(back, StagedCoins)
    assert back.thresholds.tolist() == product.thresholds.tolist()


def test_stages_that_are_not_those_of_the_product_are_refused() -> None:
    record = ChannelRecord.of(StagedCoins.product(*[Coins.of(scumble.Channel(p, size=4)) for p in (0.3, 0.8)]))
    assert record.stages is not None
    stronger = record.stages.model_copy(update={"fresh": record.stages.fresh - 4})
    with pytest.raises(ReleaseError, match="product of its two stages"):
        record.model_copy(update={"stages": stronger}).coins(4)


def people(rows: int) -> pa.Table:
    draw = np.random.default_rng(1)
    return pa.table({"person": np.arange(rows), "place": np.arange(rows), "value": draw.choice(VALUES, rows)})


def releases(count: int, rows: int, **changes: Any) -> list[scumble.Release]:
    how: dict[str, Any] = {
        "sensitive": "value",
        "public": "place",
        "domains": {"value": VALUES},
        "key": KEY,
        "id": "person",
    }
    how |= {"gamma": 4, "fresh": 0.6} | changes
    return [scumble.publish(people(rows), seed=seed, **how) for seed in range(count)]


@pytest.mark.slow
def test_averaging_converges_to_the_memoised_response_and_not_to_the_truth() -> None:
    """60 releases of 400 people, m = 10, gamma = 4, fresh = 0.6. The most frequent published value is the memoised one for all of
    them: it has 38 of 60 expected against 2.4 of each other value. It is the true one for Bin(400, P_M[i, i] = 4/13), 0.308 +- 0.115 but for 1e-6;
    by fresh coins of the product 60 releases would find nearly everybody's true value."""
    every = [release.table().sort_by("place")["value"].to_numpy() for release in releases(60, 400)]
    codes = np.array([np.searchsorted(VALUES, column) for column in every])
    votes = np.stack([(codes == value).sum(axis=0) for value in range(10)])
    (memo,) = releases(1, 400, fresh=None)
    found, truth = votes.argmax(axis=0), np.searchsorted(VALUES, people(400)["value"].to_numpy())
    assert np.array_equal(found, np.searchsorted(VALUES, memo.table().sort_by("place")["value"].to_numpy()))
    assert np.mean(found == truth) == pytest.approx(4 / 13, abs=0.115)
    fresh = [np.mean(column == people(400)["value"].to_numpy()) for column in every]
    kept = 0.6 * 3 / 13
    assert np.mean(fresh) == pytest.approx(kept + (1 - kept) / 10, abs=0.115)


def test_both_guarantees_are_derived() -> None:
    """gamma = 4 of M for ever; of one release gamma of retention u p = 0.6 * 3 / 13 at m = 10. Rounded toward privacy by at most 1e-6."""
    (release,) = releases(1, 200)
    found = {g.kind: g.parameters for g in release.terms.guarantees}
    kept = 0.6 * 3 / 13
    assert found["memoised"]["gamma"] == pytest.approx(4, rel=1e-6)
    assert found["memoised"]["fresh_gamma"] == pytest.approx(1 + 0.6 * 10 / 0.4, rel=1e-6)
    assert found["amplification"]["epsilon"] == pytest.approx(math.log(1 + 10 * kept / (1 - kept)), rel=1e-6)
    assert not release.doubts
    assert all(check.passed for check in scumble.verify(release))
    assert all(not g.under("fresh_coins") for g in release.terms.guarantees)


def test_answers_are_those_of_the_product() -> None:
    """4,000 people: the count of a value within 5 standard errors (6e-7); one that took the stages for one of retention 3/13 would be 8 off."""
    (release,) = releases(1, 4000, gamma=20)
    answer = release.query("SELECT COUNT(*) AS n FROM release WHERE value = 'a'")["n"]
    truth = sum(value == "a" for value in people(4000)["value"].to_pylist())
    assert abs(answer.value[0] - truth) < 5 * answer.se[0]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"fresh": 1.0}, "between 0 and 1"),
        ({"fresh": 0}, "between 0 and 1"),
        ({"key": None, "id": None, "drop": "person"}, "need a key"),
        ({"domains": {"value": [*VALUES, *map(str, range(5000))]}}, "at most 4,096 values"),
    ],
)
def test_what_cannot_be_memoised_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        releases(1, 50, **changes)


@pytest.mark.parametrize(
    ("size", "sentence"),
    [
        (10, "design would publish this by uniform, .* name uniform"),
        (46, "design publishes codes, over which no fresh"),
    ],
)
def test_no_fresh_response_is_laid_over_a_design(size: int, sentence: str, tmp_path: Path) -> None:
    """Whether it comes to codes or not: a refusal, and nothing is written."""
    (tmp_path / "key").write_bytes(KEY)
    table = pa.table({"pid": range(200), "value": [i % size for i in range(200)]})
    how: dict[str, Any] = {"sensitive": "value", "domains": {"value": list(range(size))}, "gamma": 4, "fresh": 0.6}
    with pytest.raises(ParameterError, match=sentence):
        scumble.publish(table, tmp_path / "r", mechanism="design", key=tmp_path / "key", id="pid", **how)
    assert not (tmp_path / "r").exists()
