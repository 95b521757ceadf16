"""A source is one file and one line in a list, and whatever reads tables reads it."""

import gzip
import importlib.metadata
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from every_mechanism import on_one_column
from naming import publish_openly
from toys.source import TABLES

from scumble.auditing import audit
from scumble.core.errors import TableError
from scumble.release.verify import verify
from scumble.sources import source
from scumble.sources.source import read

PEOPLE = pa.table({"town": ["Bonn", "Ulm"] * 200, "ill": ["flu", "cold", "flu", "hiv"] * 100})
HOW = on_one_column("ill")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(source, "REGISTRY", [*source.REGISTRY, "toys.source:ToySource"])
    monkeypatch.setitem(TABLES, "toy://people", PEOPLE)
    return "toy://people"


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["uniform", "sps", "k_dgs", "noisy_counts"])
def test_a_source_of_one_file_is_published_and_audited_like_any_other(toy: str, mechanism: str) -> None:
    release = publish_openly(toy, mechanism=mechanism, seed=1, **HOW[mechanism])
    same = publish_openly(PEOPLE, mechanism=mechanism, seed=1, **HOW[mechanism])
    assert [f.sha256 for f in release.manifest.files] == [f.sha256 for f in same.manifest.files]
    assert verify(release) == verify(same)
    assert list(audit(release, toy)) == list(audit(same, PEOPLE))


def test_a_package_adds_a_source_by_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABLES, "toy://people", PEOPLE)
    with pytest.raises(TableError, match="there is no table"):
        read("toy://people")
    entry = importlib.metadata.EntryPoint("toy", "toys.source:ToySource", "scumble.sources")
    monkeypatch.setattr(source, "entry_points", lambda group: [entry] if group == "scumble.sources" else [])
    assert read("toy://people").schema == PEOPLE.schema


def test_every_source_says_what_it_is_and_gives_the_same_rows(tmp_path: Path, toy: str) -> None:
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    pa.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    (tmp_path / "folder").mkdir()
    pq.write_table(PEOPLE, tmp_path / "folder" / "part.parquet")
    for thing in [tmp_path / "people.parquet", str(tmp_path / "people.csv"), tmp_path / "folder", PEOPLE, toy]:
        found = read(thing)
        assert found.name
        assert found.stable
        assert found.rows in (None, 400)
        assert found.schema.names == ["town", "ill"]
        for _ in range(2):
            batches = pa.Table.from_batches(list(found.batches(["ill"])))
            assert batches.column("ill").to_pylist() == PEOPLE.column("ill").to_pylist()


def test_a_stream_is_not_stable() -> None:
    stream = read(pa.RecordBatchReader.from_batches(PEOPLE.schema, PEOPLE.to_batches()))
    assert not stream.stable
    list(stream.batches(["ill"]))
    with pytest.raises(TableError, match="was read once and is spent"):
        list(stream.batches(["ill"]))


@pytest.mark.parametrize("missing", ["nothing.csv", "nothing.parquet", "nothing.xyz"])
def test_what_is_not_there_is_named(tmp_path: Path, missing: str) -> None:
    with pytest.raises(TableError, match=f"there is no table at .*{missing}"):
        read(tmp_path / missing)


def test_what_no_source_opens_is_refused_with_what_would_do(tmp_path: Path) -> None:
    (tmp_path / "people.xyz").write_text("x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match=r"none of .csv, .tsv, .parquet"):
        read(tmp_path / "people.xyz")
    with pytest.raises(TableError, match=r"the folder 'empty' holds no \.parquet and no \.csv file"):
        read(tmp_path / "empty")
    with pytest.raises(TableError, match="a table is a path or a data frame"):
        read(3)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_csv_file_is_looked_at_once(tmp_path: Path, ends: str, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its types are those of the beginning in every reading, also where a date is not written as SQL would."""
    lines = ["day,at,size,name", "13/02/2020,2020-01-01 10:00:00,1.5,x", "14/02/2020,2020-01-01 11:00:00,2,"]
    path, text = tmp_path / f"t{ending}", "".join(line + ends for line in lines).encode()
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    found = read(path)
    assert [str(kind) for kind in found.schema.types] == ["date32[day]", "timestamp[us]", "double", "string"]
    asked: list[dict[str, Any]] = []
    plain = duckdb.DuckDBPyConnection.read_csv

    def noted(connection: duckdb.DuckDBPyConnection, *places: Any, **shape: Any) -> duckdb.DuckDBPyRelation:
        asked.append(shape)
        return plain(connection, *places, **shape)

    monkeypatch.setattr(duckdb.DuckDBPyConnection, "read_csv", noted)
    for _ in range(2):
        rows = pa.Table.from_batches(list(found.batches(["day", "size", "name"]))).to_pylist()
        assert [str(row["day"]) for row in rows] == ["2020-02-13", "2020-02-14"]
        assert [(row["size"], row["name"]) for row in rows] == [(1.5, "x"), (2.0, None)]
    assert [shape["auto_detect"] for shape in asked] == [False, False]
