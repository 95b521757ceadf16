"""Boxes of perturbed generalization: people are found in theirs, and a release whose coins, draws or sizes are not those of its manifest is caught.

3,000 people in some 440 boxes, seeds fixed; each finding calls a sound release broken with probability at most 1e-4.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from auditing.attacked import COARSE, DISEASES, ONE, people
from naming import publish_openly

from scumble.auditing import Finding, audit, case_of
from scumble.auditing.evidence.boxes import _right, guessed
from scumble.auditing.evidence.column_law import ColumnLaw
from scumble.core.errors import ParameterError
from scumble.release.release import Release

Forge = Callable[[Release, pa.Table], Release]


def publish(raw: pa.Table, seed: int = 1, **how: Any) -> Release:
    given = ONE | {"retain": 0.3, "settings": {"k": 5}} | how
    return publish_openly(raw, mechanism="perturbed_generalization", seed=seed, **given)


def mixed(rows: int = 2000) -> pa.Table:
    """Numbers, days, text with missing values and truth values."""
    draw = np.random.default_rng(4)
    wards = np.array(["north", "south", "west", None], dtype=object)[draw.integers(0, 4, rows)]
    return pa.table(
        {
            "age": draw.integers(0, 90, rows),
            "cost": draw.random(rows) * 100,
            "day": pa.array(np.datetime64("2020-01-01") + draw.integers(0, 100, rows)),
            "ward": pa.array(wards.tolist(), pa.string()),
            "smoker": draw.random(rows) < 0.3,
            "disease": draw.choice(DISEASES, rows),
        }
    )


def found(release: Release, raw: pa.Table | None) -> dict[str, Finding]:
    return {each.attack: each for each in audit(release, raw)}


def broken(release: Release, raw: pa.Table | None) -> set[str]:
    return {name for name, each in found(release, raw).items() if each.verdict == "broken"}


@pytest.mark.parametrize("how", [{}, {"drop": []}, COARSE])
def test_everybody_lies_in_one_box(how: dict[str, Any]) -> None:
    raw = mixed() if how == {"drop": []} else people()
    release = publish(raw, **how)
    case = case_of(release, raw)
    assert (case.boxes >= 0).all()
    assert np.bincount(case.boxes).tolist() == release.table()["group_rows"].to_pylist()


def test_a_raw_table_that_is_another_is_refused() -> None:
    raw = people()
    for other in (raw.slice(0, 0), raw.set_column(0, "age", pa.array(raw["age"].to_numpy() + 1000))):
        with pytest.raises(ParameterError, match="is it the table that was published"):
            audit(publish(raw), other)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_sound_release_is_attacked_and_holds(seed: int) -> None:
    raw = people(seed=seed)
    release = publish(raw, seed)
    assert broken(release, None) == broken(release, raw) == set()
    assert {"crowds", "inference", "corruption", "retention", "order"} <= set(found(release, raw))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "kept", "caught"),
    [(5, 0.6, {"retention"}), (2, 0.9, {"retention", "inference", "corruption", "dealing"})],
)
def test_a_channel_weaker_than_the_manifest(k: int, kept: float, caught: set[str], forge: Forge) -> None:
    """More values are kept than the promised three in ten. Where five share a box its value tells little of each, whatever the coins; of two it tells more."""
    raw = people()
    sound, weak = (publish(raw, 2, retain=retain, settings={"k": k}) for retain in (0.3, kept))
    assert broken(forge(sound, weak.table()), raw) == caught


@pytest.mark.slow
def test_a_row_that_is_not_drawn_at_random(forge: Forge) -> None:
    """Boxes with somebody who has hiv show that one: as many values are kept as should be, of the wrong people."""
    raw, draw = people(), np.random.default_rng(1)
    release = publish(raw)
    box = case_of(release, raw).boxes
    with_hiv = np.unique(box[np.array(raw["disease"].to_pylist()) == "hiv"])
    shown = np.array(release.table()["disease"].to_pylist(), dtype=object)
    shown[with_hiv] = np.where(draw.random(len(with_hiv)) < 0.3 + 0.7 / 8, "hiv", shown[with_hiv])
    table = release.table()
    forged = forge(release, table.set_column(table.column_names.index("disease"), "disease", pa.array(shown.tolist())))
    assert "true disease = hiv" in found(forged, raw)["retention"].detail
    assert "retention" in broken(forged, raw)


@pytest.mark.slow
@pytest.mark.parametrize("given", [True, False])
def test_boxes_of_fewer_people_than_promised(given: bool, forge: Forge) -> None:
    """k = 3 was taken, and the manifest says 5."""
    raw = people()
    assert broken(forge(publish(raw), publish(raw, settings={"k": 3}).table()), raw if given else None) == {"crowds"}


def test_sizes_that_are_not_those_of_the_boxes(forge: Forge) -> None:
    raw = people()
    table = publish(raw).table()
    more = pa.array(np.maximum(table["group_rows"].to_numpy(), 7))
    claimed = forge(publish(raw), table.set_column(table.column_names.index("group_rows"), "group_rows", more))
    assert broken(claimed, raw) == {"crowds"}
    assert broken(claimed, None) == set(), "nothing but the raw table shows it"


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_guesses_are_right_as_often_as_is_said(known: bool) -> None:
    """400 boxes, published 500 times: the mean of the hits is what is expected, within 5 deviations (1e-6), and their variance within 25% (about 4 deviations)."""
    draw, size = np.random.default_rng(1), 4
    box = draw.integers(0, 400, 3000)
    truth = draw.choice(size, 3000, p=[0.5, 0.3, 0.15, 0.05])
    counts = np.zeros((400, size), dtype=np.int64)
    np.add.at(counts, (box, truth), 1)
    prior = np.bincount(truth) / 3000
    law = ColumnLaw(np.ones((1, size)), np.full((1, size), 0.8), np.full((1, size), 1 / size), prior)
    right, chance = _right(counts, law, known)
    assert chance.sum(axis=1) == pytest.approx(np.ones(400))
    assert len({tuple(row) for row in (right > counts).tolist()}) > 1, "not every box is guessed at face value"
    hits, below = [], counts.cumsum(axis=1)[:, :-1] / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for _ in range(500):
        chosen = (draw.random((400, 1)) > below).sum(axis=1)
        seen = np.where(draw.random(400) < 0.8, chosen, draw.integers(0, size, 400))
        judged = guessed(box, truth, seen, law, 1e-4, known=known)
        hits.append(judged.success * judged.people)
    mean, variance = judged.expected * 3000, ((chance * right**2).sum() - ((chance * right).sum(axis=1) ** 2).sum())
    assert abs(np.mean(hits) - mean) < 5 * (variance / 500) ** 0.5
    assert np.var(hits) == pytest.approx(variance, rel=0.25)
