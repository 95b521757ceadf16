"""Columns of every Arrow type in every role, from files and frames: published and verified, or refused by name with a way out."""

import datetime as dt
import decimal
import random
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import scumble
from scumble.core.errors import InputError

DAY = dt.date(2020, 5, 17)
MOMENT = dt.datetime(2020, 5, 17, 12, 30)
TENTHS = [decimal.Decimal("1.10"), decimal.Decimal("2.20"), decimal.Decimal("3.30")]
TEXT = ["one", "two", "three"]
BYTES = [b"one", b"two", b"six"]
NUMBERS = [1, 2, 3]

VALUES: dict[pa.DataType, list[Any]] = {
    **dict.fromkeys(
        (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()), NUMBERS
    ),
    **{kind: [0.5, 1.5, 2.5] for kind in (pa.float16(), pa.float32(), pa.float64())},
    pa.decimal128(10, 2): TENTHS,
    pa.decimal256(50, 2): TENTHS,
    pa.bool_(): [True, False, True],
    **dict.fromkeys((pa.string(), pa.large_string(), pa.string_view()), TEXT),
    **dict.fromkeys((pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3)), BYTES),
    **{kind: [DAY, DAY + dt.timedelta(1), DAY + dt.timedelta(2)] for kind in (pa.date32(), pa.date64())},
    **{
        pa.timestamp(unit, zone): [MOMENT, MOMENT + dt.timedelta(1), MOMENT + dt.timedelta(2)]
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "Europe/Vienna")
    },
    **{
        kind: [dt.time(1), dt.time(2), dt.time(3)]
        for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))
    },
    **{pa.duration(unit): [dt.timedelta(seconds=n) for n in NUMBERS] for unit in ("s", "ms", "us", "ns")},
    pa.month_day_nano_interval(): [(1, 2, 3), (2, 3, 4), (3, 4, 5)],
    pa.list_(pa.int64()): [[1], [2, 3], []],
    pa.large_list(pa.string()): [["a"], ["b"], []],
    pa.list_(pa.int64(), 2): [[1, 2], [3, 4], [5, 6]],
    pa.struct([("a", pa.int64())]): [{"a": 1}, {"a": 2}, {"a": 3}],
    pa.map_(pa.string(), pa.int64()): [[("a", 1)], [("b", 2)], []],
    pa.dictionary(pa.int32(), pa.string()): TEXT,
    pa.dictionary(pa.int8(), pa.int64()): NUMBERS,
    pa.null(): [None, None, None],
    pa.run_end_encoded(pa.int32(), pa.string()): TEXT,
}
"""Three values of each type."""

ROLES = ("public", "sensitive", "drop", "id", "person")
SOURCES = ("arrow", "parquet", "pandas", "polars")
ROWS = 60
SHUFFLED = random.Random(7).choices(["u", "v", "w"], k=ROWS)
"""Of which no other column tells anything."""


def made(kind: pa.DataType) -> pa.Table:
    """A table with a column `x` of that type beside two plain ones."""
    values = (VALUES[kind] * ROWS)[:ROWS]
    return pa.table({"g": ["a", "b"] * (ROWS // 2), "s": SHUFFLED, "x": array(values, kind)})


def array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """An array of any type."""
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode().cast(kind)
    if pa.types.is_run_end_encoded(kind):
        ends = pa.array(range(1, len(values) + 1), pa.int32())
        return pa.RunEndEncodedArray.from_arrays(ends, pa.array(values, kind.value_type))
    if pa.types.is_interval(kind):
        return pa.array([pa.MonthDayNano(value) for value in values], kind)
    return pa.array(values, kind)


def given(table: pa.Table, how: str, folder: Path) -> Any:
    """The table as somebody has it; None where that library or format has no such type."""
    try:
        if how == "parquet":
            pq.write_table(table, folder / "t.parquet")
            return folder / "t.parquet"
        if how == "pandas":
            return table.to_pandas()
        if how == "polars":
            import polars

            return polars.from_arrow(table)
    except Exception:  # noqa: BLE001  each library has its own
        return None
    return table


def arguments(role: str, folder: Path) -> dict[str, Any]:
    """How a column `x` of that role is published."""
    rest: dict[str, Any] = {
        "public": ["g"],
        "sensitive": ["s"],
        "domains": {"s": ["u", "v", "w"]},
        "gamma": 3,
        "seed": 1,
    }
    if role == "public":
        return {**rest, "public": ["g", "x"]}
    if role == "sensitive":
        return {**rest, "sensitive": ["s", "x"], "domain_from_data": True}
    if role == "drop":
        return {**rest, "drop": ["x"]}
    if role == "id":
        (folder / "key").write_text("ab" * 32)
        return {**rest, "key": folder / "key", "id": "x"} | {"seed": None}
    return {**rest, "person": "x"}


def outcome(kind: pa.DataType, role: str, how: str) -> str:
    """What became of it: published, "no such type there", the sentence of a refusal, or BROKEN and why."""
    with tempfile.TemporaryDirectory(prefix="scumble-types-") as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(place)
        table = given(made(kind), how, folder)
        if table is None:
            return "no such type there"
        try:
            release = scumble.publish(table, folder / "r", **arguments(role, folder))
            bad = [check.detail for check in scumble.verify(release) if not check.passed and check.name != "coins"]
            release.query("SELECT g, COUNT(*) AS n FROM release GROUP BY g")
            if role in ("public", "sensitive"):
                release.query("SELECT x, COUNT(*) AS n FROM release GROUP BY x")
            return f"BROKEN: {bad[0]}" if bad else "published"
        except InputError as error:
            text = str(error)
            return text if "'x'" in text or "x:" in text else f"BROKEN: the column is not named: {text}"
        except Exception as error:  # noqa: BLE001  this is what is looked for
            return f"BROKEN: {type(error).__name__}: {str(error)[:160]}"


def case(draw: random.Random) -> str:
    """A type in a role, from a file or a frame."""
    kind, role, how = draw.choice(list(VALUES)), draw.choice(ROLES), draw.choice(SOURCES)
    result = outcome(kind, role, how)
    assert not result.startswith("BROKEN"), f"{kind} as {role} from {how}: {result}"
    return result if result in ("published", "no such type there") else "refused"
