"""A column may be called anything, also what SQL would take for its own words: names reach a statement in quotes."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from every_mechanism import on_one_column
from naming import publish_openly

import scumble
from scumble.publishing.write import file_record
from scumble.release.explore_facts import explore_page
from scumble.release.readme import readme
from scumble.release.verify import verify

CALLED = 'x") FROM release; DROP VIEW release; --'
ILL, TOWN, AGE = f"ill{CALLED}", f"town{CALLED}", 'age\' OR "1"="1'
MECHANISMS = on_one_column(ILL)


def published(mechanism: str, out: Path | None = None, **more: Any) -> scumble.Release:
    draw = np.random.default_rng(1)
    columns = {TOWN: ["Bonn", "Ulm"] * 300, AGE: draw.integers(0, 6, 600), ILL: draw.choice(["flu", "cold"], 600)}
    return publish_openly(pa.table(columns), out, mechanism=mechanism, seed=1, **MECHANISMS[mechanism], **more)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_columns_with_hostile_names_are_published_asked_and_verified(mechanism: str) -> None:
    release = published(mechanism)
    where = f"{quoted(ILL)} = 'flu' AND {quoted(AGE)} < 9"
    answer = release.query(f"SELECT {quoted(TOWN)}, COUNT(*) AS n FROM release WHERE {where} GROUP BY 1").to_list()
    assert sorted(row[TOWN] for row in answer) == ["Bonn", "Ulm"]
    assert {check.name for check in verify(release) if not check.passed} <= {"randomness"}


@pytest.mark.slow
@pytest.mark.parametrize("role", ["copies", "weight"])
def test_what_a_manifest_calls_its_own_columns_reaches_no_statement_unquoted(tmp_path: Path, role: str) -> None:
    out = published("sps", tmp_path / "sps", settings={"duplicates": role == "copies"}).path
    plain = scumble.open(out)
    old = plain.manifest.role(role)
    assert old is not None
    folder = Path(shutil.copytree(out, tmp_path / "renamed"))
    (file,) = plain.manifest.data
    rows = pq.read_table(folder / file, read_dictionary=[ILL])  # in the order of the file, which verify looks at
    rows = rows.rename_columns([CALLED if name == old else name for name in rows.column_names])
    pq.write_table(rows, folder / file, store_schema=False)
    columns = [c.model_copy(update={"name": CALLED}) if c.name == old else c for c in plain.manifest.columns]
    manifest = plain.manifest.model_copy(update={"columns": columns})
    (folder / "README.md").write_text(readme(manifest), encoding="utf-8")
    fresh = manifest.model_copy(update={"files": [file_record(folder, file, manifest.rows)]})
    page = explore_page(fresh, lambda name: (folder / name).read_bytes())
    (folder / "explore.html").write_text(page, encoding="utf-8")
    files = [file_record(folder, each.path, each.rows) for each in plain.manifest.files]
    (folder / "manifest.json").write_text(manifest.model_copy(update={"files": files}).text())
    renamed = scumble.open(folder)
    assert verify(renamed) == verify(plain)
    assert renamed.published_counts(ILL).tolist() == plain.published_counts(ILL).tolist()
    sql = f"SELECT COUNT(*) AS n FROM release WHERE {quoted(ILL)} = 'flu'"
    assert renamed.query(sql).to_list() == plain.query(sql).to_list()
