"""A name is the old folder or the new one, and whole, whoever dies when; and nothing of anybody else's is lost."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scumble.core import atomic, durable, exchange
from scumble.core.atomic import complete, demand_file, in_place, whole_file, whole_folder
from scumble.core.errors import InputError
from scumble.core.scratch import held, scratch_of


def listed(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


def put(path: Path, text: str) -> None:
    with whole_folder(path, listed) as folder:
        (folder / "data").mkdir()
        (folder / "data" / f"{text}.txt").write_text(text)


def texts(folder: Path) -> list[str]:
    return [path.read_text() for path in sorted(folder.rglob("*.txt"))]


@pytest.fixture
def without_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system that knows neither call."""
    monkeypatch.setattr(exchange, "_system_call", lambda: None)


@pytest.mark.skipif(sys.platform != "linux", reason="the call is Linux's")
def test_linux_exchanges_two_folders_in_one_step(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(name)
    assert exchange.exchange(tmp_path / "a", tmp_path / "b")
    assert (texts(tmp_path / "a"), texts(tmp_path / "b")) == (["b"], ["a"])
    with pytest.raises(FileExistsError):
        exchange.rename_anew(tmp_path / "a", tmp_path / "b")
    with pytest.raises(FileNotFoundError):
        exchange.exchange(tmp_path / "a", tmp_path / "none")


@pytest.mark.parametrize("way", ["exchange", "two renames"])
def test_one_folder_takes_the_place_of_another(way: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if way == "two renames":
        request.getfixturevalue("without_exchange")
    for text in ("one", "two", "three"):
        put(tmp_path / "r", text)
    assert texts(tmp_path / "r") == ["three"]
    assert [path.name for path in tmp_path.iterdir()] == ["r"]
    assert in_place(tmp_path / "r")
    assert not in_place(tmp_path / "s")


def test_bytes_are_on_the_disk_before_the_name_is_and_the_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "r", "one")
    seen: list[str] = []

    def noted(module: object, name: str, told: Callable[..., str]) -> None:
        original = getattr(module, name)

        def call(*arguments: Path) -> object:
            seen.append(told(*arguments))
            return original(*arguments)

        monkeypatch.setattr(module, name, call)

    for module in (durable, atomic):
        noted(module, "sync_file", lambda path: path.name)
    noted(atomic, "exchange", lambda one, other: "exchange")
    put(tmp_path / "r", "two")
    assert seen == ["two.txt", "data", "new", "exchange.json", ".r.scumble", "exchange", tmp_path.name]


def test_a_disk_that_does_not_take_the_bytes_leaves_the_old_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    put(tmp_path / "r", "one")
    monkeypatch.setattr(durable, "sync_file", full)
    with pytest.raises(OSError, match="No space"):
        put(tmp_path / "r", "two")
    assert texts(tmp_path) == ["one"]
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_who_writes_the_same_output_at_the_same_time_is_refused(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "r") as folder:
        (folder / "a.txt").write_text("first")
        with pytest.raises(InputError, match="another run is writing"), whole_folder(tmp_path / "r"):
            pass
        with whole_folder(tmp_path / "s"):
            pass
    assert texts(tmp_path / "r") == ["first"]


def test_the_folder_aside_is_private(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "r") as folder:
        assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "r").stat().st_mode) == 0o755


DYING = """
import os, sys
from pathlib import Path
from scumble.core import atomic, exchange
if sys.argv[2] == "between":
    exchange._system_call = lambda: None
    Path.rename, taken = lambda self, to, rename=Path.rename: os._exit(9) if self.name == "new" else rename(self, to), None
if sys.argv[2] == "after":
    atomic._settle = lambda *_: os._exit(9)
with atomic.whole_folder(Path(sys.argv[1]), lambda folder: [str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()]) as folder:
    (folder / "new.txt").write_text("new")
    if sys.argv[2] == "before":
        os._exit(9)
"""


def die(path: Path, when: str) -> None:
    done = subprocess.run([sys.executable, "-c", DYING, str(path), when], env={"PYTHONPATH": ":".join(sys.path)})
    assert done.returncode == 9


@pytest.mark.parametrize(("when", "left"), [("before", "old"), ("after", "new")])
def test_what_a_dead_run_left_is_cleared_by_the_next(when: str, left: str, tmp_path: Path) -> None:
    put(tmp_path / "r", "old")
    die(tmp_path / "r", when)
    assert texts(tmp_path / "r") == [left]
    assert scratch_of(tmp_path / "r").exists()
    put(tmp_path / "r", "next")
    assert texts(tmp_path) == ["next"]
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_between_two_renames_the_next_reader_gives_the_name_back(tmp_path: Path) -> None:
    put(tmp_path / "r", "old")
    die(tmp_path / "r", "between")
    assert not (tmp_path / "r").exists()
    complete(tmp_path / "r")
    assert texts(tmp_path) == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_between_two_renames_the_next_writer_does_too(tmp_path: Path) -> None:
    put(tmp_path / "r", "old")
    die(tmp_path / "r", "between")
    with pytest.raises(InputError, match="somebody else"), whole_folder(tmp_path / "r"):
        pass
    assert texts(tmp_path) == ["new"]


def test_what_was_put_into_the_former_folder_outlives_a_dead_run(tmp_path: Path) -> None:
    put(tmp_path / "r", "old")
    die(tmp_path / "r", "after")
    (scratch_of(tmp_path / "r") / "new" / "foreign.txt").write_text("the only copy")
    with pytest.warns(UserWarning, match=r"kept in .*r\.former"):
        put(tmp_path / "r", "next")
    assert texts(tmp_path / "r.former") == ["the only copy"]


def test_an_empty_folder_that_the_disk_does_not_let_go_is_no_treasure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is cleared by the next run, and gets no name that is seen."""

    def fail(self: Path) -> None:
        raise OSError(5, "Input/output error")

    put(tmp_path / "r", "old")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rmdir", fail)
        put(tmp_path / "r", "new")
    assert texts(tmp_path / "r") == ["new"]
    put(tmp_path / "r", "next")
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_a_note_that_was_cut_off_means_that_nothing_was_exchanged(tmp_path: Path) -> None:
    put(tmp_path / "r", "old")
    die(tmp_path / "r", "before")
    (scratch_of(tmp_path / "r") / atomic.NOTE).write_text(json.dumps(["new.txt"])[:4])
    put(tmp_path / "r", "next")
    assert texts(tmp_path) == ["next"]


@pytest.mark.parametrize("what", ["folder", "file", "link"])
def test_a_folder_of_that_name_that_is_none_of_ours_is_kept(what: str, tmp_path: Path) -> None:
    place = scratch_of(tmp_path / "r")
    if what == "folder":
        place.mkdir()
        (place / "mine.txt").write_text("the only copy")
    elif what == "file":
        place.write_text("the only copy")
    else:
        place.symlink_to(tmp_path)
    with pytest.raises(InputError, match="none of ours"), whole_folder(tmp_path / "r"):
        pass
    assert os.path.lexists(place)
    if what == "folder":
        assert texts(place) == ["the only copy"]


def test_what_cannot_be_cleared_is_kept_and_refused(tmp_path: Path) -> None:
    def clear(folder: Path) -> None:
        raise InputError("not yet")

    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "lock").touch()
    (tmp_path / "s" / "kept.txt").write_text("the only copy")
    with pytest.raises(InputError, match="not yet"), held(tmp_path / "s", "it", clear):
        pass
    assert texts(tmp_path / "s") == ["the only copy"]


def test_a_file_that_exists_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("the only copy")
    with pytest.raises(InputError, match="is kept"), whole_file(path) as aside:
        aside.write_text("new")
    for what in (path, tmp_path, tmp_path / "none" / "x.json"):
        with pytest.raises(InputError, match=r"is kept|no folder"):
            demand_file(what, overwrite=False)
    with pytest.raises(InputError, match="is what is read"):
        demand_file(path, True, [path])
    (tmp_path / "link.html").symlink_to(path)
    with pytest.raises(InputError, match="is a link"), whole_file(tmp_path / "link.html", overwrite=True):
        pass
    with pytest.raises(InputError, match="is a link"):
        demand_file(tmp_path / "link.html", True)
    assert path.read_text() == "the only copy"


def test_without_the_call_a_file_that_exists_is_kept_too(tmp_path: Path, without_exchange: None) -> None:
    (tmp_path / "a.json").write_text("the only copy")
    with pytest.raises(InputError, match="is kept"), whole_file(tmp_path / "a.json") as aside:
        aside.write_text("new")
    with whole_file(tmp_path / "b.json") as aside:
        aside.write_text("new")
    assert (tmp_path / "b.json").read_text() == "new"


def test_a_name_may_be_as_long_as_the_system_takes(tmp_path: Path) -> None:
    put(tmp_path / ("r" * 255), "one")
    assert texts(tmp_path) == ["one"]
    with pytest.raises(OSError, match="too long"):
        put(tmp_path / ("r" * 256), "two")
