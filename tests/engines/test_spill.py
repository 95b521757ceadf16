"""Rows that do not fit into memory are put aside where nobody else can read them, and never into the working directory."""

import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from naming import publish_openly

from scumble.engines.duckdb import connection as engine
from scumble.engines.duckdb.connection import connect, spilling_into

TOO_MUCH = "CREATE TEMP TABLE t AS SELECT range AS i, hash(range) AS h FROM range(8_000_000)"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and little memory for every connection."""
    monkeypatch.setattr(engine, "OFFLINE", {**engine.OFFLINE, "memory_limit": "48MB", "threads": "1"})
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def is_private(folder: Path) -> bool:
    return stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.slow
def test_a_connection_spills_into_a_private_folder_and_clears_it(work: Path) -> None:
    with connect() as connection:
        connection.execute(TOO_MUCH)
        place = connection.sql("SELECT current_setting('temp_directory')").fetchall()[0][0]
        assert sum(file.stat().st_size for file in Path(place).iterdir()) > 1e6
        assert is_private(Path(place).parent)
        assert Path(place).parent.parent == Path(tempfile.gettempdir())
    assert not Path(place).exists()
    assert not list(work.iterdir())


@pytest.mark.slow
def test_while_publishing_it_spills_into_the_folder_that_is_being_written(work: Path, tmp_path: Path) -> None:
    with spilling_into(tmp_path):
        connection = connect()
        connection.execute(TOO_MUCH)
        (place,) = tmp_path.glob("spill-*")
        assert is_private(place)
        assert list(place.rglob("*.tmp"))
    assert not place.exists()
    assert not list(work.iterdir())


def test_publishing_spills_beside_the_release_and_asking_into_the_private_folder(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places: list[Path] = []

    def noted(config: dict[str, str]) -> duckdb.DuckDBPyConnection:
        places.append(Path(config["temp_directory"]))
        return make(config=config)

    make = duckdb.connect
    monkeypatch.setattr(duckdb, "connect", noted)
    table = pa.table({"x": [0.5, 1.5] * 50})
    release = publish_openly(table, work / "r", mechanism="k_dgs", settings={"k": 2})
    beside = [place.relative_to(work).parts[0] for place in places]
    assert beside
    assert all(name.startswith(".r.") for name in beside)
    places.clear()
    release.query("SELECT COUNT(*) AS n FROM release WHERE x > 1")
    assert {place.parent for place in places} == {engine._private()}
    assert [each.name for each in work.iterdir()] == ["r"]
    assert {each.name for each in (work / "r").iterdir()} == {
        "data.parquet",
        "README.md",
        "explore.html",
        "manifest.json",
    }


@pytest.mark.slow
def test_the_private_folder_is_gone_when_python_ends() -> None:
    code = "from scumble.engines.duckdb.connection import connect, _private; connect(); print(_private())"
    place = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert place
    assert not Path(place).exists()
