"""A file's name is a name: no character in it stands for other files, and no folder in its path adds a column."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from every_mechanism import on_one_column
from naming import plan_openly, publish_openly

import scumble
from scumble.auditing import audit
from scumble.core.errors import TableError
from scumble.engines.sql import literal
from scumble.release.verify import verify

NAMES = {"survey[12]": "survey1", "a*": "ab", "q?": "qq", "[!x]{1,2}": "y{1,2}"}
"""Names of files, and of decoys that they would stand for as patterns."""

MECHANISMS = on_one_column("ill")


def people(seed: int, town: str) -> pa.Table:
    draw = np.random.default_rng(seed)
    ill = draw.choice(["flu", "cold", "hiv"], 600)
    return pa.table({"town": [town, "Ulm"] * 300, "age": draw.integers(0, 6, 600) / 2, "ill": ill})


def written(table: pa.Table, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    else:
        with path.open("wb") as file:
            pq.write_table(table, file)
    return path


def published(table: Path, mechanism: str, out: Path | None = None) -> scumble.Release:
    return publish_openly(table, out, mechanism=mechanism, seed=1, **MECHANISMS[mechanism])


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_publishes_the_table_that_was_named(tmp_path: Path, mechanism: str, ending: str) -> None:
    plain = published(written(people(1, "Bonn"), tmp_path / "plain" / f"t{ending}"), mechanism)
    for name, decoy in NAMES.items():
        written(people(2, "Rome"), tmp_path / f"{decoy}{ending}")
        found = published(written(people(1, "Bonn"), tmp_path / f"{name}{ending}"), mechanism)
        assert [f.sha256 for f in found.manifest.files] == [f.sha256 for f in plain.manifest.files], name


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_release_answers_from_its_own_folder(tmp_path: Path, mechanism: str) -> None:
    table = written(people(1, "Bonn"), tmp_path / "table[1].parquet")
    written(people(2, "Rome"), tmp_path / "table1.parquet")
    published(tmp_path / "table1.parquet", mechanism, tmp_path / "rx1")
    plain = published(table, mechanism, tmp_path / "plain")
    shutil.copytree(tmp_path / "plain", tmp_path / "r*[1]")
    release = scumble.open(tmp_path / "r*[1]")
    sql = "SELECT COUNT(*) AS n FROM release WHERE town = 'Bonn'"
    assert release.query(sql).to_list() == plain.query(sql).to_list()
    assert verify(release) == verify(plain)
    assert list(audit(release, table)) == list(audit(plain, people(1, "Bonn")))


@pytest.mark.slow
def test_a_forecast_is_of_the_table_that_was_named(tmp_path: Path) -> None:
    sql = "SELECT COUNT(*) AS n FROM release WHERE town = 'Bonn'"
    written(people(2, "Rome"), tmp_path / "survey1.csv")
    written(people(1, "Bonn"), tmp_path / "survey[12].csv")
    forecast = plan_openly(tmp_path / "survey[12].csv", sql, **MECHANISMS["uniform"])
    assert str(plan_openly(people(1, "Bonn"), sql, **MECHANISMS["uniform"])) == str(forecast)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("mechanism", ["uniform", "k_dgs"])
def test_a_folder_called_like_a_column_changes_no_value(tmp_path: Path, mechanism: str, ending: str) -> None:
    plain = published(written(people(1, "Bonn"), tmp_path / f"t{ending}"), mechanism)
    folder = tmp_path / "town=Rome"
    found = published(written(people(1, "Bonn"), folder / f"t{ending}"), mechanism, folder / "r")
    sql = "SELECT town, COUNT(*) AS n FROM release GROUP BY town"
    assert found.query(sql).to_list() == plain.query(sql).to_list()


def test_a_name_that_cannot_be_made_literal_is_refused() -> None:
    with pytest.raises(TableError, match=r"backslash.*rename it"):
        literal(Path("/a\\[1].csv"))
    assert literal(Path("/a\\b.csv")) == "/a\\b.csv"
    assert literal(Path("~x.csv")) == str(Path.cwd() / "~x.csv")
