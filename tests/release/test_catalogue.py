"""Files for catalogues of data: in a release on request, made anew by verify, and no way in for what somebody wrote."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from every_mechanism import published
from forged import refiled, rewritten

import scumble
from scumble.core.errors import ParameterError, ReleaseError
from scumble.release.catalogue import CATALOGUES
from scumble.release.verify import verify

pytestmark = pytest.mark.filterwarnings("ignore")

SAID = {
    "title": 'Flu <script>alert(1)</script> "in" town',
    "publisher": "St. Mary",
    "contact": "data@example.org",
    "licence": "CC-BY-4.0",
    "address": "https://example.org/flu",
    "issued": "2026-11-18",
    "keywords": ["flu", "Krankenhaus"],
    "theme": "HEAL",
    "access": "PUBLIC",
}


@pytest.fixture(scope="module")
def told(patients: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with all that can be said about it."""
    return published("uniform", patients, tmp_path_factory.mktemp("told") / "r", metadata=SAID).path


def _read(folder: Path, name: str) -> dict[str, Any]:
    return dict(json.loads((folder / name).read_text(encoding="utf-8")))


def _failed(folder: Path) -> set[str]:
    return {check.name for check in verify(scumble.open(folder)) if not check.passed}


@pytest.mark.parametrize("name", ["uniform", "anatomy", "columnized", "k_dgs", "perturbed_generalization"])
def test_a_release_of_every_form_tells_catalogues_of_its_files(name: str, patients: pa.Table, tmp_path: Path) -> None:
    release = published(name, patients, tmp_path / "r", metadata=True)
    croissant, dcat = (_read(release.path, file) for file in CATALOGUES)
    assert not _failed(release.path)
    hashes = {path: hashlib.sha256((release.path / path).read_bytes()).hexdigest() for path in release.manifest.data}
    assert {file["contentUrl"]: file["sha256"] for file in croissant["distribution"]} == hashes
    assert [d["dcat:accessURL"]["@id"] for d in dcat["dcat:distribution"]] == list(hashes)
    for records in croissant["recordSet"]:
        (path,) = {field["source"]["fileObject"]["@id"] for field in records["field"]}
        columns = pa.parquet.read_schema(release.path / path).names
        assert {field["source"]["extract"]["column"] for field in records["field"]} <= set(columns)
    assert {r["@id"].partition("#")[0] for r in croissant["recordSet"]} == set(hashes)


def test_what_the_publisher_says_is_said_as_his_word(told: Path) -> None:
    croissant, dcat = (_read(told, name) for name in CATALOGUES)
    assert croissant["name"] == dcat["dct:title"]["@value"] == SAID["title"]
    assert croissant["license"] == "https://spdx.org/licenses/CC-BY-4.0"
    assert croissant["distribution"][0]["contentUrl"] == "https://example.org/flu/data.parquet"
    assert dcat["healthdcatap:numberOfRecords"]["@value"] == "3000"
    assert "local differential privacy" in croissant["description"]
    (word,) = [check for check in verify(scumble.open(told)) if check.name == "metadata"]
    assert word.standing == "word"
    assert "St. Mary" in word.detail


def test_without_a_request_there_are_none(patients: pa.Table, tmp_path: Path) -> None:
    folder = published("uniform", patients, tmp_path / "r").path
    assert not [name for name in CATALOGUES if (folder / name).exists()]


def test_a_file_that_somebody_wrote_in_fails(patients: pa.Table, tmp_path: Path) -> None:
    for name in CATALOGUES:
        folder = published("uniform", patients, tmp_path / name, metadata=True).path
        refiled(
            folder, name, (folder / name).read_bytes().replace(b"perturb", b"PERTURB").replace(b"Published", b"Hidden")
        )
        assert name in _failed(folder)


def test_a_file_for_catalogues_without_metadata_is_no_part_of_a_release(patients: pa.Table, tmp_path: Path) -> None:
    folder = published("uniform", patients, tmp_path / "r", metadata=True).path
    rewritten(folder, lambda document: document.pop("metadata"))
    assert "listed files" in _failed(folder)
    folder = published("uniform", patients, tmp_path / "s", metadata=True).path
    rewritten(folder, lambda d: d.update(files=[f for f in d["files"] if f["path"] not in CATALOGUES]))
    assert set(CATALOGUES) <= _failed(folder)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("address", "javascript:alert(1)"),
        ("address", 'https://a/"><script>'),
        ("licence", "CC BY"),
        ("contact", "nobody"),
        ("issued", "yesterday"),
        ("theme", "health"),
        ("language", "HEAL"),
        ("access", "OPEN"),
        ("title", " "),
        ("colour", "red"),
    ],
)
def test_what_no_catalogue_can_read_is_refused_by_name(
    field: str, value: str, told: Path, patients: pa.Table, tmp_path: Path
) -> None:
    with pytest.raises(ParameterError, match=field if field != "title" else "empty"):
        published("uniform", patients, tmp_path / "r", metadata={field: value})
    assert not (tmp_path / "r").exists()
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in told.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    rewritten(copy, lambda document: document["metadata"].update({field: value}))
    with pytest.raises(ReleaseError):
        scumble.open(copy)


def test_a_spec_says_it_in_a_table_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,ill\n" + "F,flu\nM,cold\nF,cold\nM,flu\n" * 20)
    spec = tmp_path / "s.toml"
    spec.write_text(
        'table = "t.csv"\npersons = "one row each"\n[metadata]\ntitle = "Flu"\nissued = 2026-11-18\n[privacy]\ngamma = 3\n[columns.sex]\nrole = "public"\n'
        '[columns.ill]\nrole = "sensitive"\nvalues = ["flu", "cold"]\n'
    )
    release = scumble.publish(spec, tmp_path / "r", metadata={"publisher": "St. Mary"})
    assert release.manifest.metadata is not None
    assert release.manifest.metadata.model_dump(exclude_defaults=True) == {
        "title": "Flu",
        "issued": "2026-11-18",
        "publisher": "St. Mary",
    }


def test_the_reader_of_croissant_takes_it(told: Path) -> None:
    """By the format's own tool. Offline: it reads the file alone."""
    mlcroissant = pytest.importorskip("mlcroissant", reason="pip install mlcroissant; it has parts without wheels")
    dataset = mlcroissant.Dataset(told / "croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    names = [field.name for field in dataset.metadata.record_sets[0].fields]
    assert names == [column.name for column in scumble.open(told).manifest.columns]
