"""Overwriting replaces a release, or a report, and costs nobody any other file."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.atomic import whole_folder
from scumble.core.errors import ParameterError, ReleaseError
from scumble.release.keys import new_key
from scumble.release.signing import sign
from scumble.reporting import report

Publish = Callable[..., scumble.Release]


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("foreign", ["raw.csv", ".notes", "data/mine.parquet", "deep/er/raw.csv"])
def test_a_release_with_a_foreign_file_is_kept(publish_simply: Publish, tmp_path: Path, foreign: str) -> None:
    publish_simply(out=tmp_path / "r")
    (tmp_path / "r" / foreign).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "r" / foreign).write_text("the only copy")
    before = everything(tmp_path / "r")
    with pytest.raises(ReleaseError, match=f"holds '{foreign}', which the release did not write, so it is kept"):
        publish_simply(out=tmp_path / "r", overwrite=True)
    assert everything(tmp_path / "r") == before
    (tmp_path / "r" / foreign).unlink()
    for folder in sorted((each for each in (tmp_path / "r").rglob("*") if each.is_dir()), reverse=True):
        folder.rmdir()
    publish_simply(out=tmp_path / "r", overwrite=True)
    assert sorted(everything(tmp_path / "r")) == ["README.md", "data.parquet", "explore.html", "manifest.json"]


@pytest.mark.parametrize("manifest", ['{"name": "a web page"}', "no json", '{"format": "scumble-release"}'])
def test_a_folder_with_another_manifest_is_kept(publish_simply: Publish, tmp_path: Path, manifest: str) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "manifest.json").write_text(manifest)
    (tmp_path / "site" / "raw.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ReleaseError, match="not a release of this scumble, so it is kept"):
        publish_simply(out=tmp_path / "site", overwrite=True)
    assert sorted(everything(tmp_path / "site")) == ["manifest.json", "raw.csv"]


def test_a_file_of_the_release_that_was_changed_is_kept(publish_simply: Publish, tmp_path: Path) -> None:
    publish_simply(out=tmp_path / "r")
    shutil.copy(tmp_path / "r" / "README.md", tmp_path / "r" / "data.parquet")
    with pytest.raises(ReleaseError, match=r"'data\.parquet', which the release did not write"):
        publish_simply(out=tmp_path / "r", overwrite=True)


def test_a_manifest_that_lists_files_elsewhere_costs_none_of_them(publish_simply: Publish, tmp_path: Path) -> None:
    release = publish_simply(out=tmp_path / "r")
    (tmp_path / "raw.csv").write_text("the only copy")
    outside = release.manifest.files[0].model_copy(update={"path": "../raw.csv"})
    listed = release.manifest.model_copy(update={"files": [*release.manifest.files, outside]})
    (tmp_path / "r" / "manifest.json").write_text(listed.text())
    with pytest.raises(ReleaseError, match="is not a release"):
        publish_simply(out=tmp_path / "r", overwrite=True)
    assert (tmp_path / "raw.csv").read_text() == "the only copy"


def test_a_file_that_comes_while_the_new_release_is_written_is_kept(publish_simply: Publish, tmp_path: Path) -> None:
    def put(done: int, of: int | None) -> None:
        (tmp_path / "r" / "late.csv").write_text("the only copy")

    publish_simply(out=tmp_path / "r")
    before = everything(tmp_path / "r")
    with pytest.raises(ReleaseError, match=r"'late\.csv'"):
        publish_simply(out=tmp_path / "r", overwrite=True, progress=put)
    assert everything(tmp_path / "r") == {**before, "late.csv": b"the only copy"}
    assert [each.name for each in tmp_path.iterdir()] == ["r"]


def test_what_a_folder_has_beyond_the_named_files_is_never_removed(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "other").write_text("the only copy")
    with pytest.warns(UserWarning, match=r"is kept in .*r\.former'"), whole_folder(tmp_path / "r", lambda former: []):
        pass
    assert (tmp_path / "r.former" / "other").read_text() == "the only copy"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r", "r.former"]


def test_the_table_itself_is_never_overwritten(publish_simply: Publish, patients: pa.Table, tmp_path: Path) -> None:
    publish_simply(out=tmp_path / "r")
    data = tmp_path / "r" / "data.parquet"
    before = data.read_bytes()
    for table in (data, tmp_path / "r"):
        with pytest.raises(ReleaseError, match=r"where the table itself lies \(data\.parquet\)"):
            publish_simply(table=table, drop=[], out=tmp_path / "r", overwrite=True)
    assert data.read_bytes() == before
    pq.write_table(patients, tmp_path / "t.parquet")
    for out in (tmp_path / "t.parquet", tmp_path):
        with pytest.raises(ReleaseError, match="where the table itself lies"):
            publish_simply(table=tmp_path / "t.parquet", out=out, overwrite=True)


def test_a_release_is_not_written_into_the_table_that_it_is_made_from(
    publish_simply: Publish, patients: pa.Table, tmp_path: Path
) -> None:
    """The next publication would read it as rows of the table."""
    (tmp_path / "table").mkdir()
    pq.write_table(patients, tmp_path / "table" / "a.parquet")
    for out in (tmp_path / "table" / "r", tmp_path / "table" / "deep" / "r"):
        with pytest.raises(ReleaseError, match="inside of the table"):
            publish_simply(table=tmp_path / "table", out=out)
    publish_simply(table=tmp_path / "table" / "a.parquet", out=tmp_path / "table" / "r")


def test_a_link_to_a_release_is_kept(publish_simply: Publish, tmp_path: Path) -> None:
    publish_simply(out=tmp_path / "r")
    (tmp_path / "link").symlink_to(tmp_path / "r")
    with pytest.raises(ReleaseError, match="not a release but a link"):
        publish_simply(out=tmp_path / "link", overwrite=True)


@pytest.mark.slow
def test_a_report_replaces_a_report_and_no_other_file(release: scumble.Release, tmp_path: Path) -> None:
    pytest.importorskip("altair", reason="the page is drawn by altair: pip install 'scumble[report]'")
    page, raw = tmp_path / "report.html", tmp_path / "raw.csv"
    raw.write_text("the only copy")
    with pytest.raises(ParameterError, match=r"is no report of scumble, so it is kept; .* --overwrite"):
        report(release, raw)
    assert raw.read_text() == "the only copy"
    report(release, page)
    report(release, page)
    said = CliRunner().invoke(app, ["report", str(release.path), "-o", str(raw)])
    assert said.exit_code != 0
    assert raw.read_text() == "the only copy"
    said = CliRunner().invoke(app, ["report", str(release.path), "-o", str(raw), "--overwrite"])
    assert said.exit_code == 0, said.output
    assert raw.read_text().startswith("<!doctype html>")


def signed(folder: Path) -> Path:
    """A release that was published with coins of the system, and signed."""
    table = pa.table({"sex": ["f", "m"] * 50, "ill": ["yes", "yes", "no", "no"] * 25})
    scumble.publish(
        table, folder, sensitive="ill", public="sex", domains={"ill": ["yes", "no"]}, gamma=3, overwrite=True
    )
    key = folder.parent / f"{folder.name}.key"
    if not key.exists():
        new_key(key)
    return sign(folder, key)


@pytest.mark.slow
def test_signatures_go_with_the_release_that_is_replaced(tmp_path: Path) -> None:
    first = signed(tmp_path / "r").read_bytes()
    assert signed(tmp_path / "r").read_bytes() != first
    assert sorted(everything(tmp_path / "r")) == [
        "README.md",
        "data.parquet",
        "explore.html",
        "manifest.json",
        "signatures/r.sig",
    ]


@pytest.mark.slow
def test_what_is_no_signature_of_the_release_is_kept(tmp_path: Path) -> None:
    signed(tmp_path / "other")
    path = signed(tmp_path / "r")
    shutil.copy(tmp_path / "other" / "signatures" / "other.sig", path.parent)
    with pytest.raises(ReleaseError, match=r"holds 'signatures/other\.sig', which the release did not write"):
        signed(tmp_path / "r")
    (path.parent / "other.sig").write_text("the only copy")
    with pytest.raises(ReleaseError, match=r"holds 'signatures/other\.sig'"):
        signed(tmp_path / "r")
