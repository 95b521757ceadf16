"""Workbooks, JSON lines, and files of statistics packages."""

import datetime
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import scumble
from scumble.core.errors import TableError
from scumble.sources.source import read

ROWS: list[dict[str, Any]] = [
    {"town": "Bonn", "age": 34, "cost": 1.5, "seen": datetime.date(2024, 2, 29)},
    {"town": "Ulm", "age": None, "cost": 2.0, "seen": datetime.date(1999, 1, 1)},
]


def book(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(row)
    workbook.save(path)
    return path


def whole(source: Any) -> list[dict[str, Any]]:
    return pa.Table.from_batches(list(source.batches(source.schema.names)), source.schema).to_pylist()


def test_a_sheet_is_a_table(tmp_path: Path) -> None:
    path = book(tmp_path / "b.xlsx", {"only": [list(ROWS[0]), *(list(row.values()) for row in ROWS)]})
    source = read(path)
    assert [str(kind) for kind in source.schema.types] == ["string", "int64", "double", "date32[day]"]
    assert whole(source) == ROWS
    assert source.rows == 2


def test_one_of_several_sheets_is_named(tmp_path: Path) -> None:
    path = book(tmp_path / "b.xlsx", {"first": [["a"], [1]], "second": [["b"], ["x"]]})
    assert whole(read(f"{path}?sheet=second")) == [{"b": "x"}]
    with pytest.raises(TableError, match=r"sheets first, second; name one: b.xlsx\?sheet=first"):
        read(path)
    with pytest.raises(TableError, match="did you mean 'second'"):
        read(f"{path}?sheet=secnd")


def test_a_cell_of_another_kind_is_named_by_its_row(tmp_path: Path) -> None:
    path = book(tmp_path / "b.xlsx", {"s": [["code"], [7], ["A7"]]})
    with pytest.raises(TableError, match="row 3: column 'code' has 'A7'"):
        read(path)
    assert whole(read(path, text=["code"])) == [{"code": "7"}, {"code": "A7"}]


def test_a_sheet_is_published(tmp_path: Path) -> None:
    rows = [["town", "disease"], *(["Bonn", ("flu", "cold")[i % 2]] for i in range(50))]
    path = book(tmp_path / "b.xlsx", {"s": rows})
    domains = {"disease": ["flu", "cold"]}
    release = scumble.publish(path, sensitive="disease", public="town", domains=domains, gamma=3)
    assert release.query("SELECT COUNT(*) AS n FROM release")[0]["n"] == 50


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not a workbook", b"\x00" * 100])
def test_a_broken_workbook_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "b.xlsx").write_bytes(content)
    with pytest.raises(TableError, match=r"b\.xlsx") as raised:
        read(tmp_path / "b.xlsx")
    assert "\n" not in str(raised.value)


def test_json_lines_are_a_table(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps({"a": i, "b": "x" if i else None}) for i in range(3)))
    source = read(path)
    assert whole(source) == [{"a": 0, "b": None}, {"a": 1, "b": "x"}, {"a": 2, "b": "x"}]
    assert whole(source) == whole(read(path))


@pytest.mark.parametrize("content", ["", "{]", '{"a": 1}\n{"a": "x"}\n', "[1, 2]"])
def test_broken_json_lines_are_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(content)
    with pytest.raises(TableError) as raised:
        whole(read(path))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("ending", ["dta", "sav"])
def test_a_file_of_a_statistics_package_is_a_table(tmp_path: Path, ending: str) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"town": ["Bonn", "Ulm"], "cost": [1.5, 2.0]})
    path = tmp_path / f"t.{ending}"
    (pyreadstat.write_dta if ending == "dta" else pyreadstat.write_sav)(frame, str(path))
    source = read(path)
    assert whole(source) == [{"town": "Bonn", "cost": 1.5}, {"town": "Ulm", "cost": 2.0}]
    assert source.rows == 2
    assert whole(read(path, text=["cost"]))[0]["cost"] == "1.5"


def test_a_broken_file_of_a_statistics_package_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("pyreadstat")
    (tmp_path / "t.sav").write_bytes(b"nothing")
    with pytest.raises(TableError, match=r"t\.sav cannot be read"):
        read(tmp_path / "t.sav")
