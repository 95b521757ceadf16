"""The type gate: every Arrow type in every role is published and verifies, or is refused by name with a way out."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz.column_types import ROWS, SHUFFLED, VALUES, array, given

import scumble
from scumble.core.errors import SchemaError, TableError
from scumble.publishing.kinds import can_be

HOW: dict[str, Any] = {"sensitive": ["s"], "domains": {"s": ["u", "v", "w"]}, "retain": 0.5}
PLAIN = {"g": ["a", "b"] * (ROWS // 2), "s": SHUFFLED}


def of_types(role: str, allowed: bool) -> list[pa.DataType]:
    return [kind for kind in VALUES if can_be(kind, role) == allowed]


def column(kind: pa.DataType) -> pa.Array:
    return array((VALUES[kind] * ROWS)[:ROWS], kind)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["arrow", "parquet", "pandas", "polars"])
@pytest.mark.parametrize("role", ["public", "sensitive"])
def test_what_can_have_a_role_is_published_and_verifies(role: str, how: str, tmp_path: Path) -> None:
    """All types in one table; a library that has no such type is given those that it has."""
    kinds = of_types(role, True)
    columns = {f"x{place}": column(kind) for place, kind in enumerate(kinds)}
    if how == "polars":  # whose bytes are views
        columns = {
            name: c
            for name, c in columns.items()
            if not pa.types.is_binary(c.type) and not pa.types.is_large_binary(c.type)
        }
    fitting = {n: c for n, c in columns.items() if given(pa.table({n: c}), how, tmp_path) is not None}
    assert len(fitting) > 15
    table = given(pa.table({**PLAIN, **fitting}), how, tmp_path)
    roles = (
        {"public": ["g", *fitting], "sensitive": ["s"]}
        if role == "public"
        else {"public": ["g"], "sensitive": ["s", *fitting]}
    )
    release = scumble.publish(table, tmp_path / "r", **{**HOW, **roles}, domain_from_data=True)
    assert [check.detail for check in scumble.verify(release.path) if not check.passed] == []
    for name in list(fitting)[::4]:
        assert len(list(release.query(f"SELECT {name}, COUNT(*) AS n FROM release GROUP BY {name}"))) >= 1


@pytest.mark.parametrize("role", ["public", "sensitive"])
def test_what_cannot_is_refused_by_name_with_a_way_out(role: str, tmp_path: Path) -> None:
    refused = of_types(role, False)
    assert len(refused) > 8
    for kind in refused:
        table = pa.table({**PLAIN, "x": column(kind)})
        roles = {"public": ["g", "x"]} if role == "public" else {"public": ["g"], "sensitive": ["s", "x"]}
        with pytest.raises(SchemaError, match=f"'x' has the type .* cannot be {role}; cast it"):
            scumble.publish(table, tmp_path / "r", **{**HOW, **roles}, domain_from_data=True)


def test_a_dropped_column_may_have_any_type(tmp_path: Path) -> None:
    table = pa.table({**PLAIN, **{f"x{place}": column(kind) for place, kind in enumerate(VALUES)}})
    release = scumble.publish(table, tmp_path / "r", public=["g"], drop=["x*"], **HOW)
    assert release.table().column_names == ["g", "s"]


def test_an_identifier_that_cannot_be_counted_is_refused(tmp_path: Path) -> None:
    for kind in (pa.float16(), pa.decimal256(50, 2)):
        table = pa.table({**PLAIN, "x": column(kind)})
        with pytest.raises(SchemaError, match="'x' has the type"):
            scumble.publish(table, tmp_path / "r", public=["g"], person="x", **HOW)


def test_names_that_differ_in_capitals_alone_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "t.parquet"
    pq.write_table(pa.table({**PLAIN, "G": PLAIN["g"]}), table)
    with pytest.raises(SchemaError, match="'g' and 'G' differ in capitals"):
        scumble.publish(table, tmp_path / "r", public=["g", "G"], **HOW)
    assert scumble.publish(table, tmp_path / "r", public=["g"], drop=["G"], **HOW).manifest.public == ["g"]


def test_hidden_files_are_left_aside_and_columns_in_names_of_folders_are_refused(tmp_path: Path) -> None:
    table, folder = pa.table(PLAIN), tmp_path / "t"
    (folder / ".hidden").mkdir(parents=True)
    for path in ("part-0.parquet", "_part.parquet", ".part.parquet", ".hidden/part.parquet"):
        pq.write_table(table, folder / path)
    assert scumble.publish(folder, tmp_path / "r", public=["g"], **HOW).manifest.rows == ROWS
    (folder / "year=2020").mkdir()
    pq.write_table(table, folder / "year=2020" / "part.parquet")
    with pytest.raises(TableError, match="year=2020"):
        scumble.publish(folder, tmp_path / "r2", public=["g"], **HOW)


FAR = {
    "infinite day": pa.array([2**31 - 1, 0, 0], pa.int32()).cast(pa.date32()),
    "before the year 1": pa.array([-719_163, 0, 0], pa.int32()).cast(pa.date32()),
    "infinite moment": pa.array([2**63 - 1, 0, 0], pa.int64()).cast(pa.timestamp("us")),
    "in milliseconds": pa.array([-(2**63), 0, 0], pa.int64()).cast(pa.timestamp("ms")),
}
"""Dates that no reader can show, and the first day of 1970 twice."""


@pytest.mark.parametrize("what", FAR)
def test_dates_of_no_calendar_are_refused_where_rows_are_published(what: str) -> None:
    table = pa.table({"x": FAR[what], "d": ["a", "b", "a"]})
    how: dict[str, Any] = {"sensitive": "d", "domains": {"d": ["a", "b"]}, "gamma": 3, "persons": "one row each"}
    with pytest.raises(SchemaError, match="column 'x' has dates outside of the years 1 to 9999"):
        scumble.publish(table, public="x", determined="d", **how)


@pytest.mark.parametrize("what", FAR)
def test_dates_of_no_calendar_are_missing_where_no_single_row_may_show(what: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": pa.chunked_array([FAR[what]] * 3)}), tmp_path / "t.parquet")
    for table in (tmp_path / "t.parquet", pq.read_table(tmp_path / "t.parquet")):
        release = scumble.publish(table, public="x", mechanism="k_dgs", settings={"k": 2}, persons="one row each")
        values = release.table()["x"]
        assert (len(values), values.null_count) == (9, 3)
        assert len(release.query("SELECT x, COUNT(*) AS n FROM release GROUP BY x").to_list()) == 2
