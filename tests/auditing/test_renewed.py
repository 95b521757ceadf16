"""Keyed coins for most people and fresh ones for some: with the raw table that shows, and people who changed are not taken for them.

Tables of 3,000 people, half of them linked, seeds fixed; a false alarm has probability below 1e-5 for each audit.
"""

import numpy as np
import pyarrow as pa
import pytest
from auditing.attacked import DISEASES

import scumble
from scumble.auditing import Finding, audit
from scumble.auditing.evidence.column_law import ColumnLaw
from scumble.auditing.evidence.renewed import renewed

pytestmark = pytest.mark.slow

KEY = bytes(range(32))
ROWS = 3000


def patients(values: list[str], seed: int = 1) -> pa.Table:
    """People who have a number of their own, which is published, and an id, which is not."""
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "person": draw.permutation(10 * ROWS)[:ROWS],
            "id": np.arange(ROWS),
            "disease": draw.choice(values, ROWS, p=np.arange(len(values), 0, -1) / np.arange(len(values) + 1).sum()),
        }
    )


def twice(values: list[str], again: pa.Table, given: bool) -> Finding:
    """The second publication of the same people, attacked together with the first."""
    first, second = (
        scumble.publish(
            table,
            sensitive="disease",
            public=["person"],
            domains={"disease": values},
            retain=0.4,
            key=KEY,
            id="id",
            seed=s,
        )
        for s, table in ((1, patients(values)), (2, again))
    )
    (found,) = audit(first, patients(values) if given else None, others=[second], only=["averaging"])
    return found


def with_column(table: pa.Table, name: str, values: object) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(values))


@pytest.mark.parametrize(("values", "share"), [(DISEASES, 0.1), (DISEASES, 0.3), (["no", "yes"], 0.3)])
def test_some_people_have_fresh_coins(values: list[str], share: float) -> None:
    """They got another id by the second time, so that their coins are others."""
    table = patients(values)
    other = np.where(np.random.default_rng(5).random(ROWS) < share, ROWS + np.arange(ROWS), np.arange(ROWS))
    found = twice(values, with_column(table, "id", other), given=True)
    assert found.verdict == "broken"
    assert "some people have fresh ones" in found.detail
    assert twice(values, with_column(table, "id", other), given=False).verdict == "holds", "they may have changed"


@pytest.mark.parametrize("values", [DISEASES, ["no", "yes"]])
@pytest.mark.parametrize("how", ["any", "next", "back"])
def test_people_who_changed_are_not_taken_for_them(values: list[str], how: str) -> None:
    """Three in ten have another true value by the second time: any, the next one, or the most frequent one."""
    table, draw = patients(values), np.random.default_rng(5)
    before = np.array([values.index(each) for each in table["disease"].to_pylist()])
    to = {"any": draw.integers(0, len(values), ROWS), "next": before + 1, "back": 0 * before}[how] % len(values)
    later = np.array(values)[np.where(draw.random(ROWS) < 0.3, to, before)]
    assert twice(values, with_column(table, "disease", later.tolist()), given=True).verdict == "holds"


@pytest.mark.parametrize("size", [2, 3, 8])
def test_both_signs_have_one_error(size: int) -> None:
    """2,000 pairs of publications of 400 people by keyed coins, of whom all changed to what makes alarms likeliest, at an error of 2%: at most 2% are alarms (beyond 2.95%: probability 1e-3).

    Where half of them have fresh coins and nobody changed, most are.
    """
    draw, keep, alarms, found = np.random.default_rng(size), 0.4, 0, 0
    law = ColumnLaw(*(np.full((1, size), each) for each in (1.0, keep, 1 / size)), np.full(size, 1 / size))
    for _ in range(2000):
        truth = draw.integers(0, size, 400)
        first, fresh = (np.where(draw.random(400) < keep, truth, draw.integers(0, size, 400)) for _ in range(2))
        wish = np.where(first != truth, first, (truth + 1) % size)
        later = np.where(draw.random(400) < keep, wish, draw.integers(0, size, 400))
        half = np.where(draw.random(400) < 0.5, fresh, first)
        changed, mixed = (renewed(law, truth, first, second, 0.02) for second in (later, half))
        alarms += changed is not None and changed.broken
        found += mixed is not None and mixed.broken
    assert alarms < 0.0295 * 2000
    assert found > 0.8 * 2000
