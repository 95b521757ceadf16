"""Scales: numbers or days at equal distances, and a place for a missing value."""

from datetime import date, datetime

import pyarrow as pa
import pytest

from scumble.core.domain import Grid
from scumble.core.errors import SchemaError
from scumble.core.scale import Scale, grid_of, points_of, reach_of, scale

DAYS = scale("2024-02-28", "2024-03-02", "1", pa.date32())
GAPS = scale(0, 10, "2.5", pa.float64(), missing=True)


def test_numbers_without_a_missing_one_are_a_grid() -> None:
    made = scale(0, 9, 1, pa.int64())
    assert isinstance(made, Grid)
    assert points_of(made) == (10, False)
    assert grid_of(DAYS) is None
    assert points_of(DAYS) == (4, False)


def test_days_are_told_by_their_numbers() -> None:
    values = [date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1), date(2024, 3, 2)]
    assert DAYS.values.to_pylist() == values
    assert DAYS.encode(pa.array(values[::-1]), "day").tolist() == [3, 2, 1, 0]
    assert DAYS.encode(pa.array([datetime(2024, 3, 1, 17, 30)]), "day").tolist() == [2]
    with pytest.raises(SchemaError, match="not numbers"):
        _ = DAYS.numbers


def test_a_missing_value_is_the_last() -> None:
    assert isinstance(GAPS, Scale)
    assert (GAPS.size, str(reach_of(GAPS))) == (6, "1.25")
    column = pa.array([None, 2.4, 10.0])
    assert GAPS.encode(column, "x").tolist() == [5, 1, 4]
    assert GAPS.encode(pa.array([7.5]), "x").tolist() == [3]
    assert GAPS.values.to_pylist() == [0.0, 2.5, 5.0, 7.5, 10.0, None]


def test_what_it_holds_is_what_it_encodes() -> None:
    assert GAPS.holds(pa.array([None, -3.0, 4.0, 12.0])).to_pylist() == [True, False, True, False]
    assert DAYS.holds(pa.array([date(2024, 3, 1), date(2024, 3, 3)])).to_pylist() == [True, False]


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([date(2024, 3, 3)]), "outside its range 2024-02-28 .. 2024-03-02: 2024-03-03; widen the range"),
        (pa.array([3]), "its domain is a range of days"),
        (pa.array([date(2024, 3, 1), None]), "declare a missing value to be one more"),
    ],
)
def test_other_values_are_refused(column: pa.Array, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        DAYS.encode(column, "day")


@pytest.mark.parametrize(("high", "step"), [("2024-03-02", "2"), ("2024-03-02", "0.5"), ("2024-02-28", "1")])
def test_a_range_that_steps_do_not_fill_is_refused(high: str, step: str) -> None:
    with pytest.raises(SchemaError, match=f"not 2024-02-28 .. {high} by {step}"):
        scale("2024-02-28", high, step, pa.date32())


def test_ends_that_are_no_days_are_refused() -> None:
    with pytest.raises(SchemaError, match="needs days such as 2024-12-31, not '5'"):
        scale("5", "2024-03-02", 1, pa.date32())
