"""The page of a release: in every one, made anew by verify, and written elsewhere where somebody asks for it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from every_mechanism import EVERY, published
from forged import refiled, rewritten
from naming import publish_openly
from tables import DISEASES

import scumble
from scumble.core.errors import InputError, ReleaseError
from scumble.release.explore_facts import document_of, explore_page

Copied = Callable[[], Path]


@pytest.fixture
def copied(release: scumble.Release, tmp_path: Path) -> Copied:
    """A copy of a release, to be changed."""
    return lambda: Path(shutil.copytree(release.path, tmp_path / "copy.release"))


def failed(folder: Path) -> set[str]:
    return {check.name for check in scumble.verify(folder) if not check.passed}


@pytest.mark.parametrize("name", EVERY)
def test_every_mechanism_publishes_a_page_that_verifies(name: str, patients: pa.Table, tmp_path: Path) -> None:
    release = published(name, patients, tmp_path / "r", seed=3)
    assert "explore.html" in [file.path for file in release.manifest.files]
    assert "explore.html" not in failed(tmp_path / "r")


def test_a_page_that_somebody_wrote_in_is_found(copied: Copied) -> None:
    folder = copied()
    text = (folder / "explore.html").read_text().replace("A single row proves nothing.", "This is the truth.")
    refiled(folder, "explore.html", text.encode())
    assert failed(folder) == {"explore.html"}


def test_a_release_of_before_there_was_a_page_verifies(copied: Copied) -> None:
    folder = copied()
    (folder / "explore.html").unlink()
    rewritten(folder, lambda d: d.update(files=[f for f in d["files"] if f["path"] != "explore.html"]))
    assert failed(folder) == set()


def test_the_page_has_the_manifest_without_its_files_and_digest(release: scumble.Release) -> None:
    document = document_of(release.manifest)
    assert "files" not in document
    assert "digest" not in document
    written = (release.path / "explore.html").read_text()
    assert release.manifest.digest not in written
    assert explore_page(release.manifest, lambda name: (release.path / name).read_bytes()) == written


def test_it_is_written_elsewhere_and_is_the_same(release: scumble.Release, tmp_path: Path) -> None:
    path = scumble.explore(release, tmp_path / "page.html")
    assert path.read_bytes() == (release.path / "explore.html").read_bytes()
    with pytest.raises(InputError, match="exists and is kept"):
        scumble.explore(release, path)
    assert scumble.explore(release.path, path, overwrite=True) == path


def test_the_folder_of_a_release_is_no_place_for_another_file(copied: Copied) -> None:
    folder = copied()
    with pytest.raises(ReleaseError, match="outside"):
        scumble.explore(folder, folder / "page.html")


def test_several_releases_have_a_page_each(tmp_path: Path, patients: pa.Table) -> None:
    how = {"sensitive": "disease", "domains": {"disease": DISEASES}, "retain": 0.5, "drop": "name"}
    parts = [publish_openly(patients, tmp_path / name, seed=seed, **how) for seed, name in enumerate("ab")]
    with pytest.raises(ReleaseError, match="one for each"):
        scumble.explore(scumble.open(*(part.path for part in parts)), tmp_path / "page.html")
