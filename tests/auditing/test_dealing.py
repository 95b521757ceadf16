"""Sub-tables that were not dealt at random are caught. 6,000 people, seeds fixed; a sound release is called broken with probability at most 1e-5."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from auditing.attacked import people, publish

from scumble.auditing import audit
from scumble.mechanisms.partitioned import subtables

Codes = npt.NDArray[Any]


@pytest.fixture(scope="module")
def raw() -> pa.Table:
    table = people(6000)
    return table.append_column("person", pa.array(np.random.default_rng(1).permutation(10**6)[: len(table)]))


def dealt(by: Codes) -> Callable[[Codes, Codes, object], Codes]:
    """Sub-tables in their planned sizes, given one after the other to the rows of a value in some order."""

    def deal(true: Codes, state: Codes, stream: object) -> Codes:
        labels = np.empty(len(true), dtype=np.uint8)
        every = np.tile(np.arange(state.shape[1], dtype=np.uint8), len(state))
        labels[np.lexsort((by, true))] = np.repeat(every, state.ravel())
        return labels

    return deal


def in_turn(true: Codes, state: Codes, stream: object) -> Codes:
    """Sub-tables in their planned sizes, spread evenly over the rows of a value."""
    labels = np.empty(len(true), dtype=np.uint8)
    for value, counts in enumerate(state):
        due = [((np.arange(n) + 0.5) / n, np.full(n, table)) for table, n in enumerate(counts) if n]
        if due:
            times, tables = (np.concatenate(each) for each in zip(*due, strict=True))
            labels[true == value] = tables[np.argsort(times, kind="stable")]
    return labels


PUBLIC = ["age", "sex", "zip", "person"]


def verdict(raw: pa.Table) -> str:
    (found,) = audit(publish(raw, "partitioned", 1, public=PUBLIC), raw, only=["dealing"])
    return found.verdict


@pytest.mark.slow
@pytest.mark.parametrize("how", ["sex", "source", "in turn"])
def test_rows_that_were_not_dealt_at_random(how: str, raw: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    sex = np.array(raw["sex"].to_pylist())
    deals = {"sex": dealt(sex), "source": dealt(np.arange(len(raw))), "in turn": in_turn}
    monkeypatch.setattr(subtables, "deal", deals[how])
    assert verdict(raw) == "broken"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_rows_dealt_at_random_are_not_called_broken(seed: int, raw: pa.Table) -> None:
    (found,) = audit(publish(raw, "partitioned", seed, public=PUBLIC), raw, only=["dealing"])
    assert found.verdict == "holds"


def test_without_the_raw_table_it_is_not_looked_at(raw: pa.Table) -> None:
    assert audit(publish(raw, "partitioned", 1, public=PUBLIC), only=["dealing"]) == []
