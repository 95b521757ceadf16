"""Truth values are asked for once, and never taken for those of another condition or of other values."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
import sqlglot

from scumble.engines import known_truths
from scumble.engines.duckdb.engine import DuckDB
from scumble.engines.engine import Predicates
from scumble.engines.known_truths import KnownTruths

ILLS = pa.array(["flu", "cold", "Flu"])


def asked(*conditions: str, values: pa.Array = ILLS) -> Predicates:
    return [(sqlglot.parse_one(condition, dialect="duckdb"), "ill", values) for condition in conditions]


class Counted:
    """An engine of one column, and what it was asked."""

    def __init__(self) -> None:
        self.questions: list[Sequence[str]] = []
        self._engine = DuckDB({"release": pa.table({"ill": ILLS})})

    def __call__(self, predicates: Predicates) -> list[npt.NDArray[np.int8]]:
        self.questions.append([predicate.sql() for predicate, _, _ in predicates])
        return self._engine.truths(predicates)


def test_what_is_known_is_not_asked_again_and_what_is_not_is_asked_at_once() -> None:
    known, ask = KnownTruths(), Counted()
    first = known.of(asked("ill = 'flu'", "ill = 'cold'"), ask)
    second = known.of(asked("ill = 'cold'", "ill = 'Flu'", "ill = 'flu'"), ask)
    assert ask.questions == [["ill = 'flu'", "ill = 'cold'"], ["ill = 'Flu'"]]
    assert [truth.tolist() for truth in (*first, *second)] == [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize("others", [pa.array(["cold", "flu", "Flu"]), pa.array(["flu"]), ILLS.cast(pa.large_string())])
def test_other_values_of_a_column_of_that_name_are_asked_for(others: pa.Array) -> None:
    known, ask = KnownTruths(), Counted()
    known.of(asked("ill = 'flu'"), ask)
    (truth,) = known.of(asked("ill = 'flu'", values=others), ask)
    assert len(ask.questions) == 2
    assert truth.tolist() == [int(value == "flu") for value in others.to_pylist()]


def test_nobody_changes_what_is_kept() -> None:
    known, ask = KnownTruths(), Counted()
    (truth,) = known.of(asked("ill = 'flu'"), ask)
    with pytest.raises(ValueError, match="read-only"):
        truth[0] = 0


def test_what_is_kept_does_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_truths, "MOST", 3)
    known, ask = KnownTruths(), Counted()
    for place in range(10):
        known.of(asked(f"ill <> 'x{place}'"), ask)
        assert len(known._known) <= 3
    long = f"ill IN ({', '.join(repr(str(place)) for place in range(2000))})"
    for _ in range(2):
        known.of(asked(long), ask)
    assert len(ask.questions) == 12
