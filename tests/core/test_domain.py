"""Domains: grids that fit the type of their column, and values of every type through a release."""

import datetime
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from naming import publish_openly

import scumble
from scumble.core.domain import Grid
from scumble.core.errors import NotOnGrid, SchemaError

FITTING = [
    ("int8", "-128", "127", "1"),
    ("uint8", "0", "255", "1"),
    ("int32", "-2000000000", "2000000000", "1000"),
    ("int64", str(2**53 - 99), str(2**53), "1"),
    ("float", "-5", "5", "0.1"),
    ("float", "0", "16777216", "2"),
    ("double", "1000000", "1000100", "0.01"),
]

MISFITS = [
    ("int8", "0", "128", "1"),
    ("uint8", "-1", "99", "1"),
    ("int64", str(10**17), str(10**17 + 99), "1"),
    ("float", "1000000", "1000100", "0.01"),
    ("halffloat", "0", "70000", "1"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "low", "high", "step"), FITTING)
def test_every_point_of_a_grid_is_published_as_itself(kind: str, low: str, high: str, step: str) -> None:
    grid = Grid(low, high, step, pa.type_for_alias(kind))
    assert (grid.encode(grid.values, "x") == np.arange(grid.size)).all()
    np.testing.assert_allclose(grid.values.cast(pa.float64()).to_numpy(), grid.numbers, rtol=1e-6)


@pytest.mark.parametrize(("kind", "low", "high", "step"), MISFITS)
def test_a_grid_that_the_type_of_the_column_cannot_hold_is_refused(kind: str, low: str, high: str, step: str) -> None:
    with pytest.raises(SchemaError, match=f"type {kind} cannot hold"):
        Grid(low, high, step, pa.type_for_alias(kind))


def test_a_grid_finer_or_longer_than_the_decimals_of_its_column_is_refused() -> None:
    assert Grid("0", "99.99", "0.01", pa.decimal128(4, 2)).size == 10_000
    for high, step in (("100", "0.01"), ("1", "0.001")):
        with pytest.raises(SchemaError, match="cannot hold"):
            Grid("0", high, step, pa.decimal128(4, 2))


def test_ages_in_eight_bits_are_not_replaced_by_negative_ones(tmp_path: Path) -> None:
    """A replaced age of 130 would be published as -126: known to be replaced, and no answer would come of the release."""
    table = pa.table({"age": pa.array([30, 40] * 100, pa.int8())})
    with pytest.raises(SchemaError, match="wider type, or narrow the grid"):
        publish_openly(table, tmp_path / "r", sensitive="age", domains={"age": {"low": 0, "high": 150}}, retain=0.5)
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("mechanism", ["uniform", "swapped"])
def test_numbers_that_are_none_are_counted_over_all_rows(mechanism: str, tmp_path: Path) -> None:
    """Rows are read in batches; the count is that of the table."""
    x = pa.array([1.0, None, float("nan"), 2.0] * 5 + [float("inf")])
    batches = pa.chunked_array([x.slice(i, 4) for i in range(0, 21, 4)])
    grid = {"x": {"low": 0, "high": 9}}
    with pytest.raises(NotOnGrid, match="'x' has 5 missing values and 6 values that are NaN or infinite") as caught:
        publish_openly(
            pa.table({"x": batches}), tmp_path / "r", sensitive="x", domains=grid, retain=0.5, mechanism=mechanism
        )
    assert pickle.loads(pickle.dumps(caught.value)).infinite == 6
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("domain", "kind", "condition"),
    [
        ([Decimal(i) / 100 for i in range(10)], pa.decimal128(6, 2), "x < 0.05"),
        ([datetime.date(2024, 1, 1 + i) for i in range(10)], pa.date32(), "x < '2024-01-06'"),
        ([datetime.time(i) for i in range(10)], pa.time64("us"), "x < '05:00:00'"),
        ([datetime.datetime(2024, 1, 1, i) for i in range(10)], pa.timestamp("us"), "x < '2024-01-01 05:00:00'"),
        (
            [datetime.datetime(2024, 1, 1, i, tzinfo=datetime.UTC) for i in range(10)],
            pa.timestamp("ms", "UTC"),
            "EXTRACT(hour FROM x) < 5",
        ),
    ],
    ids=["decimals", "dates", "times", "timestamps", "timestamps of a zone"],
)
def test_values_of_every_type_are_published_opened_and_asked(
    domain: list[Any], kind: pa.DataType, condition: str, tmp_path: Path
) -> None:
    table = pa.table({"x": pa.array(domain * 200, kind)})
    publish_openly(table, tmp_path / "r", sensitive="x", domains={"x": domain}, retain=0.9, seed=1)
    release = scumble.open(tmp_path / "r")
    assert release.table().schema.field("x").type == kind
    answer = release.query(f"SELECT COUNT(*) AS n FROM release WHERE {condition}").to_arrow().to_pylist()[0]
    assert abs(answer["n"] - 1000) < 5 * answer["n_se"]


def test_cents_of_a_decimal_column_on_a_grid(tmp_path: Path) -> None:
    paid = pa.array([Decimal(i % 1000) / 100 for i in range(5000)], pa.decimal128(8, 2))
    grid = {"low": 0, "high": "9.99", "step": "0.01"}
    with pytest.warns(UserWarning, match="hardly protected"):
        publish_openly(
            pa.table({"paid": paid}), tmp_path / "r", sensitive="paid", domains={"paid": grid}, retain=0.8, seed=1
        )
    release = scumble.open(tmp_path / "r")
    answer = release.query("SELECT COUNT(*) AS n FROM release WHERE paid <= 0.29").to_arrow().to_pylist()[0]
    assert abs(answer["n"] - 150) < 5 * answer["n_se"]
