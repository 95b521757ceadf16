"""CSV files in other encodings, folders of CSV files, files of Arrow batches and lazy frames."""

import codecs
import gc
import gzip
import os
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest

import scumble
from scumble.core.errors import TableError
from scumble.core.scratch import private_folder
from scumble.sources.source import EVERY, read

TEXT = "town,ill,cost\nKöln,flu,1\nMünchen,cold,2\nBonn,flu,3\n"
ROWS = [
    {"town": "Köln", "ill": "flu", "cost": 1},
    {"town": "München", "ill": "cold", "cost": 2},
    {"town": "Bonn", "ill": "flu", "cost": 3},
]


def whole(source: Any) -> list[dict[str, Any]]:
    return pa.Table.from_batches(list(source.batches(source.schema.names)), source.schema).to_pylist()


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("said", ["", "?encoding=utf-8"])
def test_utf8_is_read_with_and_without_a_mark(tmp_path: Path, mark: bytes, said: str) -> None:
    (tmp_path / "t.csv").write_bytes(mark + TEXT.encode())
    assert whole(read(f"{tmp_path / 't.csv'}{said}")) == ROWS


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_mark_says_what_a_file_is(tmp_path: Path, encoding: str, packed: bool) -> None:
    path = tmp_path / ("t.csv.gz" if packed else "t.csv")
    path.write_bytes(gzip.compress(TEXT.encode(encoding)) if packed else TEXT.encode(encoding))
    source = read(path)
    assert whole(source) == whole(source) == ROWS
    assert source.files == [path]
    assert whole(read(f"{path}?encoding={encoding}")) == ROWS


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16-le", "utf-16-be", "cp850", "iso8859-15"])
def test_an_encoding_that_is_said_is_read(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "t.csv").write_bytes(TEXT.encode(encoding))
    assert whole(read(f"{tmp_path / 't.csv'}?encoding={encoding}")) == ROWS


def test_a_private_file_is_gone_with_its_source(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(TEXT.encode("utf-16"))
    source = read(tmp_path / "t.csv")
    (private,) = private_folder(os.getpid()).glob("*.csv")
    assert private.stat().st_mode & 0o777 == 0o600
    del source
    gc.collect()
    assert not private.exists()


REFUSED: list[tuple[bytes, str, str]] = [
    (
        TEXT.encode("cp1252"),
        "",
        r"line 2 has bytes that its encoding does not have; say which it has \(\?encoding=cp1252",
    ),
    (TEXT.encode("utf-16-le"), "", r"zero bytes in its first line.*\?encoding=utf-16-le"),
    (TEXT.encode("utf-16-le"), "?encoding=utf-16", "no byte order mark; say whether it is utf-16-le"),
    (TEXT.encode("utf-16"), "?encoding=cp1252", "begins with the mark of utf-16-le"),
    (TEXT.encode("utf-16"), "?encoding=utf-16-be", "begins with the mark of utf-16-le"),
    (TEXT.encode(), "?encoding=cp1252", "all its bytes are UTF-8"),
    (TEXT.encode("cp1252").replace(b"Bonn", b"B\x81nn"), "?encoding=cp1252", "line 4 has bytes"),
    (TEXT.replace("Bonn", "5 €").encode("cp1252"), "?encoding=latin-1", "line 4 has bytes"),
    (TEXT.encode("utf-16")[:-1], "", "line 4 has bytes"),
    (TEXT.encode("utf-16") + b"\x00\xd8x\x00", "", "line 5 has bytes"),
    (TEXT.encode(), "?encoding=klingon", "there is no encoding 'klingon'"),
    (TEXT.encode(), "?encoding=rot13", "there is no encoding 'rot13'"),
    (TEXT.encode(), "?encodign=cp1252", r"takes \?encoding=... behind it"),
    (TEXT.encode(), "?encoding=", r"takes \?encoding=... behind it"),
]


@pytest.mark.parametrize(("content", "said", "message"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_what_is_in_doubt_is_refused_with_the_way_out(tmp_path: Path, content: bytes, said: str, message: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(TableError, match=message) as raised:
        whole(read(f"{tmp_path / 't.csv'}{said}"))
    assert "\n" not in str(raised.value)
    assert "t.csv" in str(raised.value) or "klingon" in said or "rot13" in said


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le"])
def test_where_no_row_may_show_a_line_without_sense_is_left_out(tmp_path: Path, encoding: str) -> None:
    """As one in broken UTF-8 is: neither a refusal nor a character of its own follows from it."""
    broken = (
        b"B\x81nn,flu,3" if encoding == "cp1252" else "B".encode(encoding) + b"\x00\xd8" + "nn,flu,3".encode(encoding)
    )
    (tmp_path / "t.csv").write_bytes(TEXT.encode(encoding).replace("Bonn,flu,3".encode(encoding), broken))
    found = whole(read(f"{tmp_path / 't.csv'}?encoding={encoding}", text=EVERY))
    assert [row["town"] for row in found] == ["Köln", "München"]
    (tmp_path / "t.csv").write_bytes(TEXT.encode())
    assert len(whole(read(f"{tmp_path / 't.csv'}?encoding=cp1252", text=EVERY))) == 3


def test_an_encoding_is_said_in_a_spec(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(TEXT.encode("cp1252"))
    spec = 'table = "t.csv?encoding=cp1252"\nrest = "drop"\n[privacy]\ngamma = 3\n[columns.town]\nrole = "public"\n'
    (tmp_path / "t.toml").write_text(spec + '[columns.ill]\nrole = "sensitive"\nvalues = ["flu", "cold"]\n')
    release = scumble.publish(tmp_path / "t.toml", tmp_path / "r")
    assert sorted(release.table().column("town").to_pylist()) == ["Bonn", "Köln", "München"]


def test_a_name_with_a_question_mark_is_a_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv?encoding=cp1252.csv").write_text(TEXT, encoding="utf-8")
    (tmp_path / "t.csv").write_text("other\n1\n")
    assert whole(read(tmp_path / "t.csv?encoding=cp1252.csv")) == ROWS


def folder(path: Path, **files: str) -> Path:
    path.mkdir()
    for name, content in files.items():
        (path / f"{name}.csv").write_text(content, encoding="utf-8")
    return path


def test_a_folder_of_csv_files_is_one_table(tmp_path: Path) -> None:
    both = folder(tmp_path / "both", a=TEXT, b="town;ill;cost\nUlm;hiv;4\n")
    (both / "_left_aside.csv").write_text("x\n1\n")
    source = read(both)
    assert whole(source) == [*ROWS, {"town": "Ulm", "ill": "hiv", "cost": 4}]
    assert source.files == [both / "a.csv", both / "b.csv"]
    assert source.name == "both"


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("ill,town,cost\nflu,Ulm,4\n", r"b\.csv names other columns than a\.csv, or in another order"),
        ("town,ill\nUlm,flu\n", r"b\.csv names other columns"),
        ("", r"b\.csv is empty"),
        ("town,ill,cost\nUlm,flu,4\nUlm,flu,much\n", r"b\.csv cannot be read: line 3: column 'cost' has 'much'"),
    ],
)
def test_a_file_that_does_not_fit_its_folder_is_named(tmp_path: Path, second: str, message: str) -> None:
    both = folder(tmp_path / "both", a=TEXT, b=second)
    with pytest.raises(TableError, match=message):
        whole(read(both))


def test_a_file_that_is_there_twice_does_not_count_twice(tmp_path: Path) -> None:
    both = folder(tmp_path / "both", a=TEXT)
    (both / "a.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    with pytest.raises(TableError, match=r"a\.csv and a\.csv\.gz are one file twice"):
        read(both)


@pytest.mark.parametrize("encoding", ["idna", "punycode", "unicode_escape", "cp1252\0"])
def test_a_codec_that_no_file_is_written_in_is_refused(tmp_path: Path, encoding: str) -> None:
    path = folder(tmp_path / "f", a=TEXT) / "a.csv"
    with pytest.raises(TableError, match="there is no encoding"):
        read(f"{path}?encoding={encoding}")


def test_a_folder_has_one_encoding(tmp_path: Path) -> None:
    both = folder(tmp_path / "both", a=TEXT)
    for name in "ab":
        (both / f"{name}.csv").write_bytes(TEXT.encode("cp1252"))
    assert whole(read(f"{both}?encoding=cp1252")) == ROWS + ROWS
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match=r"holds no .parquet and no .csv file"):
        read(tmp_path / "empty")


PEOPLE = pa.table({"town": ["Bonn", "Ulm"] * 300, "ill": pa.array(["flu", "cold", "hiv"] * 200).dictionary_encode()})


@pytest.mark.parametrize("ending", ["arrow", "arrows", "feather"])
def test_batches_in_a_file_are_a_table(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    if ending == "feather":
        pa.feather.write_feather(PEOPLE, path)
    else:
        writer = pa.ipc.new_file if ending == "arrow" else pa.ipc.new_stream
        with pa.OSFile(str(path), "wb") as file, writer(file, PEOPLE.schema) as output:
            output.write_table(PEOPLE, max_chunksize=100)
    source = read(path)
    assert source.schema == PEOPLE.schema
    assert whole(source) == whole(source) == PEOPLE.to_pylist()


@pytest.mark.parametrize("content", [b"", b"FEA1....", b"ARROW1\0\0nothing", b"\xff\xff\xff\xff\x10\0\0\0"])
def test_a_broken_file_of_batches_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.arrow").write_bytes(content)
    with pytest.raises(TableError, match=r"t\.arrow") as raised:
        whole(read(tmp_path / "t.arrow"))
    assert "\n" not in str(raised.value)


def test_a_lazy_frame_runs_once_and_is_read_twice() -> None:
    runs: list[int] = []

    def counted(frame: Any) -> Any:
        runs.append(1)
        return frame

    source = read(pl.from_arrow(PEOPLE.select(["town"])).lazy().map_batches(counted))
    assert source.stable
    assert source.files == []
    assert whole(source) == whole(source) == PEOPLE.select(["town"]).to_pylist()
    assert len(runs) == 1


def test_a_lazy_frame_that_cannot_run_is_one_line() -> None:
    with pytest.raises(TableError, match="the lazy frame cannot be read") as raised:
        read(pl.LazyFrame({"a": [1]}).select("b"))
    assert "\n" not in str(raised.value)


def test_a_stream_says_that_it_is_read_once() -> None:
    def stream() -> Any:
        return pa.RecordBatchReader.from_batches(PEOPLE.schema, PEOPLE.to_batches())

    assert not read(stream()).stable
    how: dict[str, Any] = {"sensitive": "ill", "public": "town", "gamma": 3}
    assert scumble.publish(stream(), domains={"ill": ["flu", "cold", "hiv"]}, **how).table().num_rows == 600
    with pytest.raises(TableError, match="read once and is spent; give the domains, or pass a table"):
        scumble.publish(stream(), domain_from_data=True, **how)
