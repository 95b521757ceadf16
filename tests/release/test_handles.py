"""An open release answers for the version that was opened, or not at all."""

import gc
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import scumble
from scumble.core.errors import ChangedRelease
from scumble.release import handles

Publish = Callable[..., scumble.Release]
ASKED = "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease ORDER BY disease"

by_handle = pytest.mark.skipif(not handles.DOOR.is_dir(), reason="this system lets nobody read by an open handle")


def answer(release: scumble.Release) -> list[dict[str, object]]:
    return release.query(ASKED).to_list()


@pytest.mark.slow
@by_handle
@pytest.mark.parametrize("asked_before", [True, False])
def test_a_release_that_is_replaced_goes_on_answering_for_itself(
    asked_before: bool, publish_simply: Publish, tmp_path: Path
) -> None:
    """Another retention: its rows with our channel would be wrong by many standard errors."""
    publish_simply(out=tmp_path / "r", retain=0.2)
    opened = scumble.open(tmp_path / "r")
    right = answer(scumble.open(tmp_path / "r")) if not asked_before else answer(opened)
    rows = opened.table()
    replaced = publish_simply(out=tmp_path / "r", retain=0.9, overwrite=True, seed=2)
    assert answer(opened) == right
    assert opened.table().equals(rows)
    assert answer(scumble.open(tmp_path / "r")) == answer(replaced) != right
    shutil.rmtree(tmp_path / "r")
    assert answer(opened) == right


@pytest.fixture
def by_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handles, "DOOR", Path("/nowhere"))


@pytest.mark.slow
def test_without_handles_a_release_that_is_replaced_is_refused(
    by_names: None, publish_simply: Publish, tmp_path: Path
) -> None:
    publish_simply(out=tmp_path / "r", retain=0.2)
    opened = scumble.open(tmp_path / "r")
    answer(opened)
    publish_simply(out=tmp_path / "r", retain=0.9, overwrite=True, seed=2)
    with pytest.raises(
        ChangedRelease, match=r"of 'r' was changed since the release was opened.*open the release again"
    ):
        answer(opened)
    answer(scumble.open(tmp_path / "r"))


@pytest.mark.parametrize("way", ["by_handle", "by_names"])
def test_a_file_that_is_written_into_is_refused(
    way: str, publish_simply: Publish, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if way == "by_names":
        request.getfixturevalue("by_names")
    publish_simply(out=tmp_path / "r")
    publish_simply(out=tmp_path / "other", retain=0.9, seed=2)
    opened = scumble.open(tmp_path / "r")
    with (tmp_path / "r" / "data.parquet").open("wb") as file:
        file.write((tmp_path / "other" / "data.parquet").read_bytes())
    with pytest.raises(ChangedRelease, match=r"data\.parquet of 'r' was changed since"):
        answer(opened)


@pytest.mark.slow
@by_handle
def test_handles_are_closed_with_the_release(publish_simply: Publish, tmp_path: Path) -> None:
    publish_simply(out=tmp_path / "r")
    gc.collect()
    before = len(os.listdir(handles.DOOR))
    for _ in range(20):
        scumble.open(tmp_path / "r")
    gc.collect()
    assert len(os.listdir(handles.DOOR)) <= before


@by_handle
def test_where_no_more_files_can_be_open_names_are_used(
    publish_simply: Publish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*_: object, **__: object) -> int:
        raise OSError(24, "Too many open files")

    publish_simply(out=tmp_path / "r")
    with monkeypatch.context() as patch:
        patch.setattr("scumble.release.handles.os.open", none_left)
        held = handles.Handles(tmp_path / "r", ["data.parquet"])
    assert held.path("data.parquet") == tmp_path / "r" / "data.parquet"
    held.demand_same()


@pytest.mark.skipif(sys.platform != "linux", reason="folders are exchanged in one step on Linux")
def test_a_version_that_comes_while_one_is_opened_is_opened_whole(
    publish_simply: Publish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the manifest and the files: those of the new one do not fit the old manifest."""
    publish_simply(out=tmp_path / "r")
    made = handles.Handles

    def late(*arguments: object) -> object:
        monkeypatch.setattr("scumble.release.release.Handles", made)
        digests.append(publish_simply(out=tmp_path / "r", retain=0.9, overwrite=True, seed=2).manifest.digest)
        return made(*arguments)  # type: ignore[arg-type]

    digests: list[str] = []
    monkeypatch.setattr("scumble.release.release.Handles", late)
    opened = scumble.open(tmp_path / "r")
    assert [opened.manifest.digest] == digests
    answer(opened)
