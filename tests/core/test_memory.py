"""A command keeps to the memory that it is given: the engine to half of it, our buffers to less, and the rest goes into private files."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from naming import publish_openly
from sqlglot import exp

import scumble
from scumble.core.errors import InputError, ParameterError
from scumble.core.memory import QUESTIONS, USUAL, memory_of, of_buffers, of_engine, within
from scumble.core.scratch import _sweep
from scumble.engines.duckdb.connection import connect
from scumble.engines.engine import TABLE
from scumble.engines.expressions import select


def limit() -> str:
    with connect() as connection:
        return str(connection.sql("SELECT current_setting('memory_limit')").fetchall()[0][0])


def test_the_engine_and_the_buffers_have_shares_of_what_is_given() -> None:
    assert (of_engine(), limit()) == (QUESTIONS, "1.0 GiB")
    with within("2GiB"):
        assert (of_engine(), of_buffers(), limit()) == (1 << 30, 384 << 20, "1.0 GiB")
        with within(None):
            assert of_engine() == 1 << 30
        with within("512MiB"):
            assert limit() == "256.0 MiB"
    with within(None):
        assert of_engine() == USUAL // 2
    assert of_engine() == QUESTIONS


def test_an_open_release_is_given_its_memory(release: scumble.Release) -> None:
    def engine_of(memory: object) -> object:
        setting = exp.func("CURRENT_SETTING", exp.Literal.string("memory_limit"))
        opened = scumble.open(release.path, memory=memory)
        return opened.engine.run(select({"limit": setting}, TABLE)).column("limit")[0].as_py()

    assert [engine_of(memory) for memory in (None, "4GiB", "256MiB")] == ["1.0 GiB", "2.0 GiB", "128.0 MiB"]
    with pytest.raises(ParameterError, match="memory is at least 256 MiB"):
        scumble.open(release.path, memory="1MB")


@pytest.mark.parametrize("given", ["much", "-2GB", "2XB", "", "100MB", 5, None, "1e3GB"])
def test_what_is_no_memory_is_refused(given: object) -> None:
    with pytest.raises(ParameterError, match="memory is"):
        memory_of(given)


def test_publishing_is_given_its_memory(patients: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def progress(done: int, of: int | None) -> None:
        seen.append(of_engine())

    how = {"sensitive": "disease", "domain_from_data": True, "retain": 0.5, "progress": progress}
    publish_openly(patients, tmp_path / "a", **how)
    assert set(seen) == {USUAL // 2}
    seen.clear()
    publish_openly(patients, tmp_path / "b", memory="4GiB", **how)
    assert set(seen) == {2 << 30}
    with pytest.raises(ParameterError, match="memory is"):
        scumble.publish(patients, tmp_path / "c", rest="drop", sensitive="disease", retain=0.5, memory="none")


LEFT = """
import os, sys
from scumble.core.scratch import private_folder
folder = private_folder(os.getpid())
(folder / "spill").write_text("raw rows")
print(folder, flush=True)
if len(sys.argv) > 1:
    os._exit(9)
"""


@pytest.fixture
def left(tmp_path: Path) -> Callable[..., Path]:
    """The private folder of a process that ended, or that was killed where it is told so."""

    def run(*arguments: str) -> Path:
        environment = {"PYTHONPATH": ":".join(sys.path), "TMPDIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", LEFT, *arguments], stdout=subprocess.PIPE, text=True, env=environment
        )
        return Path(done.stdout.strip())

    return run


def test_what_a_killed_process_left_in_the_temporary_folder_is_cleared_by_the_next(
    left: Callable[..., Path], tmp_path: Path
) -> None:
    killed = left("killed")
    assert (killed / "spill").exists()
    assert killed.stat().st_mode & 0o777 == 0o700
    (tmp_path / "scumble-mine").mkdir()
    (tmp_path / "scumble-mine" / "notes").write_text("the only copy")
    ended = left()
    assert (killed.exists(), ended.exists()) == (False, False)
    assert [path.name for path in tmp_path.iterdir()] == ["scumble-mine"]


def test_the_folder_of_a_living_process_is_kept() -> None:
    from scumble.core.scratch import private_folder

    own = private_folder(os.getpid())
    assert own.parent == Path(tempfile.gettempdir())
    _sweep(own)
    assert own.exists()
    with pytest.raises(InputError, match="none of ours"):
        _sweep(Path("/proc/self"))
