"""What can be hidden in a Parquet file beside its rows; and ordinary files, which hide nothing."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from auditing.attacked import people, write_parquet

from scumble.auditing import Finding, audit
from scumble.auditing.evidence.layout import stray_bytes
from scumble.auditing.evidence.thrift import ThriftReader

FAR = 123456789012345


def told(path: Path) -> Finding:
    (found,) = (f for f in audit(path, quasi=["age", "zip"], sensitive=["disease"]) if f.attack == "metadata")
    return found


def footer_start(data: bytes) -> int:
    length: int = struct.unpack("<I", data[-8:-4])[0]
    return len(data) - 8 - length


def places(data: bytes, part: bytes) -> Iterator[int]:
    at = data.find(part)
    while at >= 0:
        yield at
        at = data.find(part, at + 1)


@pytest.mark.parametrize("group", [0, 1])
def test_statistics_of_any_row_group(group: int, raw: pa.Table, tmp_path: Path) -> None:
    """A row's number is taken back after it was written, and stays in the statistics."""
    zip = raw["zip"].to_numpy().copy()
    zip[1500 * group + 7] = FAR
    options: dict[str, Any] = {"write_statistics": True, "row_group_size": 1500, "compression": "none"}
    path = write_parquet(
        raw.set_column(2, "zip", pa.array(zip)), tmp_path / "t.parquet", **options, use_dictionary=False
    )
    data = bytearray(path.read_bytes())
    inside = [at for at in places(bytes(data), struct.pack("<q", FAR)) if at < footer_start(bytes(data))]
    data[inside[-1] : inside[-1] + 8] = struct.pack("<q", 5)
    path.write_bytes(data)
    assert pq.read_table(path)["zip"].to_numpy().max() < FAR, "the rows do not have it any more"
    assert "statistics of 'zip'" in told(path).detail


@pytest.mark.parametrize("where", ["before the footer", "in the footer"])
def test_bytes_that_no_reader_looks_at(where: str, tmp_path: Path) -> None:
    path = write_parquet(people(), tmp_path / "t.parquet")
    data, hidden = path.read_bytes(), b"the true table"
    start = footer_start(data)
    if where == "before the footer":
        data = data[:start] + hidden + data[start:]
    else:
        data = data[:-8] + hidden + struct.pack("<I", len(data) - 8 - start + len(hidden)) + data[-4:]
    path.write_bytes(data)
    assert pq.read_table(path).num_rows == 3000
    assert stray_bytes(path) == len(hidden)
    assert told(path).verdict == "broken"
    assert f"{len(hidden)} bytes" in told(path).detail


def test_a_note_at_a_column(tmp_path: Path) -> None:
    table = people()
    noted = pa.schema([f.with_metadata({"comment": "from /home/bob/hiv.csv"}) for f in table.schema])
    path = write_parquet(table.cast(noted), tmp_path / "t.parquet", store_schema=True)
    assert "the path '/home/bob/hiv.csv' at 'age'" in told(path).detail


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"write_statistics": True, "write_page_index": True},
        {"row_group_size": 500, "compression": "zstd", "data_page_version": "2.0"},
        {"use_dictionary": False, "store_schema": True, "write_page_checksum": True},
    ],
)
def test_an_ordinary_file_hides_nothing(options: dict[str, Any], tmp_path: Path) -> None:
    table = people().append_column("more", pa.array([[{"a": i, "b": str(i)}] for i in range(3000)]))
    path = write_parquet(table, tmp_path / "t.parquet", **options)
    assert stray_bytes(path) == 0
    assert told(path).verdict == "holds"


def test_zeros_between_the_parts_are_padding(tmp_path: Path) -> None:
    path = write_parquet(people(), tmp_path / "t.parquet")
    data = path.read_bytes()
    start = footer_start(data)
    path.write_bytes(data[:start] + bytes(100) + data[start:])
    assert stray_bytes(path) == 0


def test_a_structure_that_does_not_end_is_refused() -> None:
    with pytest.raises(ValueError, match="does not end"):
        ThriftReader(bytes([0x15])).struct()


def test_a_file_without_rows(tmp_path: Path) -> None:
    path = write_parquet(people().slice(0, 0), tmp_path / "t.parquet")
    assert stray_bytes(path) == 0
