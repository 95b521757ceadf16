"""A release that perturbs next to nothing (retention 1), and DuckDB over the table it was made from: both are asked, and must agree."""

import datetime as dt
import math
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from fuzz.kinds import refusal

import scumble
from scumble.core.errors import ScumbleError

WORDS = ["flu", "cold", "hiv", "gout", "it's", "50%", "a_b"]
TOWNS = ["Ulm", "Bonn", "", "Bad Ems", "Köln", None]
DAYS = [dt.date(2024, 2, 29) + dt.timedelta(days=37 * i) for i in range(12)]
PERTURBED = {"kind": [*WORDS, None], "grade": {"low": 0, "high": 9}, "smoker": [True, False], "level": [1, 2, 4, 8]}
ROWS = 400
AVERAGE = "AVG"
"""The average of nobody, as far as anybody knows, may be anything."""


@cache
def table() -> pa.Table:
    """Public columns of many types, with missing values, and four that a release would perturb."""
    draw = Random("the table of all questions")

    def some(values: list[Any], missing: float = 0.0) -> list[Any]:
        return [None if draw.random() < missing else draw.choice(values) for _ in range(ROWS)]

    return pa.table(
        {
            "age": pa.array(some(list(range(-5, 60)), 0.1), pa.int32()),
            "n": pa.array(some([0, 1, 2, 3, 7, 2**40]), pa.int64()),
            "cost": pa.array(some([0.0, 0.1, 0.5, -2.25, 1e6, 3.75], 0.1), pa.float64()),
            "price": pa.array(some([Decimal("1.25"), Decimal("-7.50"), Decimal("100.00")], 0.1), pa.decimal128(8, 2)),
            "town": pa.array(some(TOWNS)),
            "day": pa.array(some(DAYS, 0.1), pa.date32()),
            "seen": pa.array(
                [dt.datetime(2024, 3, 30, 22, tzinfo=dt.UTC) + dt.timedelta(hours=h) for h in some(list(range(60)))],
                pa.timestamp("us", "UTC"),
            ),
            "paid": pa.array(some([True, False], 0.1)),
            "kind": pa.array(some(WORDS, 0.1)),
            "grade": pa.array(some(list(range(10))), pa.int16()),
            "smoker": pa.array(some([True, False])),
            "level": pa.array(some([1, 2, 4, 8]), pa.int64()),
        }
    )


@cache
def release() -> scumble.Release:
    """The table published with retention 1: every estimate is the truth."""
    public = [name for name in table().column_names if name not in PERTURBED]
    return scumble.publish(table(), sensitive=list(PERTURBED), public=public, domains=PERTURBED, retain=1, seed=1)


@cache
def raw() -> duckdb.DuckDBPyConnection:
    """DuckDB itself, over the same rows, in UTC as all answers are."""
    connection = duckdb.connect()
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    connection.register("rows", table())
    connection.execute("CREATE TABLE release AS SELECT * FROM rows")
    return connection


def compared(sql: str) -> str:
    """Asks both; what is answered must be DuckDB's answer."""
    try:
        answer = release().query(sql, timeout=60)
    except ScumbleError as error:
        one_line(sql, refusal(error))
        return "refused"
    except RecursionError:
        raise AssertionError(f"{sql!r}: a RecursionError") from None
    if "limit" in sql.lower() or "offset" in sql.lower():
        return "answered, some lines"  # which lines are the first is a matter of ties, and of groups that nobody is in
    demand_same(sql, answer, raw().execute(sql).fetchall())
    return "answered"


def one_line(sql: str, sentence: str) -> None:
    """Refusals of questions have one."""
    assert "\n" not in sentence, f"{sql!r}: a refusal of several lines: {sentence}"


Line = tuple[Any, ...]


def demand_same(sql: str, answer: scumble.Estimates, truth: list[Line]) -> None:
    """Every line of the truth is in the answer; what else is there counts nobody."""
    grouped = [name in answer.groups.schema.names for name in answer.columns]
    own: dict[Line, list[Line]] = {}
    for key, numbers in _lines(answer):
        own.setdefault(key, []).append(numbers)
    for line in truth:
        key = tuple(_plain(value) for value, is_group in zip(line, grouped, strict=True) if is_group)
        numbers = tuple(value for value, is_group in zip(line, grouped, strict=True) if not is_group)
        near = [held for held in own.get(key, []) if _near(sql, held, numbers)]
        assert near, f"{sql!r}: DuckDB has {key}: {numbers}, the answer {own.get(key)}"
        own[key].remove(near[0])
    left = [(key, numbers) for key, held in own.items() for numbers in held]
    assert all(_near(sql, held, (None,) * len(held)) for _, held in left), f"{sql!r}: too many: {left}"


def _lines(answer: scumble.Estimates) -> list[tuple[Line, Line]]:
    """The groups of each line, and its numbers, each with how far it may be off: a retention of 1 is rounded, by 2^-32 or so."""
    names = [name for name in answer.columns if name in answer.groups.schema.names]
    columns = {name: answer.groups.column(name).to_pylist() for name in names}
    numbers = {estimate.name: estimate for estimate in answer.estimates}
    ordered = [numbers[name] for name in answer.columns if name in numbers]
    lines = []
    for i in range(len(answer)):
        key = tuple(_plain(columns[name][i]) for name in names)
        numbers_of = [(float(e.value[i]), 20 * float(np.nan_to_num(e.se[i]))) for e in ordered]
        lines.append((key, tuple(numbers_of)))
    return lines


def _plain(value: Any) -> Any:
    """A value as both sides write it."""
    if isinstance(value, dt.datetime):
        return (value.astimezone(dt.UTC) if value.tzinfo else value.replace(tzinfo=dt.UTC)).isoformat()
    if isinstance(value, Decimal | float):
        return "nan" if math.isnan(value) else float(f"{float(value):.12g}")
    return value


def _near(sql: str, held: Line, true: Line) -> bool:
    """The same numbers but for rounding; a sum over no rows is null, or 0 where perturbed columns choose the rows."""
    return all(_close(sql, value, off, b) for (value, off), b in zip(held, true, strict=True))


def _close(sql: str, value: float, off: float, true: Any) -> bool:
    if true is None:
        return AVERAGE in sql.upper() or math.isnan(value) or abs(value) <= off + 1e-6
    return math.isclose(value, float(true), rel_tol=1e-6, abs_tol=off + 1e-6)
