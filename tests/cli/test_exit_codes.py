"""Exit codes tell the truth: 0 where the output has its name, 2 and one line where the system refused something, never 1, never a traceback."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import scumble
from scumble import __main__
from scumble.core import failure

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is needed")

PUBLISH = [
    "publish",
    "t.parquet",
    "--sensitive",
    "disease",
    "--rest",
    "drop",
    "--domain",
    "disease=flu,cold,asthma,diabetes,hiv",
]
PUBLISH += ["--retain", "0.5", "-o", "r"]
ASK = ["query", "r", "SELECT disease, COUNT(*) AS n FROM release GROUP BY disease"]


@pytest.fixture
def work(patients: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pq.write_table(patients.drop(["name"]), tmp_path / "t.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """The main door redirects standard output where nobody takes it, and listens to signals: not for the tests after this one."""
    monkeypatch.setattr(__main__.Interruptions, "install", lambda self: None)
    monkeypatch.setattr(__main__, "leave", lambda number: None)
    monkeypatch.setattr(__main__, "stand_anywhere", lambda: None)


def run(*arguments: str, **how: Any) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": ":".join(sys.path), **how.pop("env", {})}
    how.setdefault("stdout", subprocess.PIPE)
    return subprocess.run(
        [sys.executable, "-m", "scumble", *arguments], stderr=subprocess.PIPE, text=True, env=environment, **how
    )


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    assert done.stderr.startswith("scumble: "), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def closed_pipe() -> int:
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.slow
@pytest.mark.parametrize("output", ["full", "closed"])
def test_a_release_in_place_is_a_success_whatever_becomes_of_the_screen(output: str, work: Path) -> None:
    done = run(*PUBLISH, stdout=os.open("/dev/full", os.O_WRONLY) if output == "full" else closed_pipe())
    assert (done.returncode, "r is in place" in one_line(done)) == (0, True)
    scumble.open(work / "r")


@pytest.mark.slow
@pytest.mark.parametrize("output", ["full", "closed"])
@pytest.mark.parametrize("arguments", [ASK, ["verify", "r"], ["show", "r", "--format", "json"]])
def test_an_answer_that_cannot_be_written_is_a_failure(arguments: list[str], output: str, work: Path) -> None:
    scumble.publish("t.parquet", "r", sensitive="disease", rest="drop", domain_from_data=True, retain=0.5)
    done = run(*arguments, stdout=os.open("/dev/full", os.O_WRONLY) if output == "full" else closed_pipe())
    assert done.returncode == 2
    assert ("disk is full" if output == "full" else "nobody reads") in one_line(done)


@pytest.mark.slow
def test_a_terminal_of_ascii_gets_every_character_by_its_number(work: Path) -> None:
    table = pa.table({"disease": ["Kreuzschnäbel", "flu"] * 50})
    scumble.publish(table, "r", sensitive="disease", domain_from_data=True, retain=0.5)
    for arguments, expected in ((ASK, "Kreuzschn\\xe4bel"), ([*ASK, "--format", "json"], "Kreuzschn\\u00e4bel")):
        done = run(*arguments, env={"PYTHONIOENCODING": "ascii", "LANG": "C"})
        assert (done.returncode, expected in done.stdout) == (0, True), done.stderr


@pytest.mark.slow
def test_a_working_directory_that_was_removed_is_said_so(work: Path) -> None:
    (work / "gone").mkdir()
    code = "import os, sys; os.rmdir(os.getcwd()); from scumble.__main__ import main; main()"
    command = [sys.executable, "-c", code, "publish", str(work / "t.parquet"), *PUBLISH[2:]]
    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    done = subprocess.run(command, cwd=work / "gone", capture_output=True, text=True, env=environment)
    assert (done.returncode, "working directory was removed" in one_line(done)) == (2, True)


def test_a_name_that_no_system_takes_is_one_line(
    work: Path, streams: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments in (PUBLISH[:-1], ["report", "r", "-o"], ["init", "t.parquet", "-o"], ["show"]):
        monkeypatch.setattr(sys, "argv", ["scumble", *arguments, "x" * 300])
        assert _code() == 2
        assert capsys.readouterr().err.count("\n") == 1


def _code() -> int:
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    return int(str(ended.value.code))


FAILURES: dict[str, tuple[Callable[[], Exception], str]] = {
    "full disk": (lambda: OSError(28, "No space left on device", "r"), "the disk is full ('r')"),
    "broken disk": (lambda: OSError(5, "Input/output error", "r"), "input/output error: 'r'"),
    "memory": (MemoryError, "not enough memory"),
    "memory of Arrow": (lambda: pa.ArrowMemoryError("malloc of size 64 failed"), "not enough memory"),
    "memory of the engine": (lambda: duckdb.OutOfMemoryException("Out of Memory Error"), "not enough memory"),
    "threads": (lambda: RuntimeError("can't start new thread"), "not enough memory"),
    "disk of the engine": (lambda: duckdb.IOException("IO Error: Could not write"), "the engine failed: IO Error"),
    "our own": (lambda: KeyError("x"), "a mistake of scumble's own, KeyError in "),
}


@pytest.mark.parametrize("what", FAILURES)
def test_whatever_fails_while_publishing_is_one_line_and_leaves_nothing(
    what: str, work: Path, streams: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made, sentence = FAILURES[what]

    def fail(*_: object, **__: object) -> None:
        raise made()

    monkeypatch.setattr("scumble.publishing.sealing.readme", fail)
    monkeypatch.setattr(sys, "argv", ["scumble", *PUBLISH])
    assert _code() == 2
    said = capsys.readouterr().err
    assert said.startswith("scumble: ")
    assert sentence in said
    assert said.count("\n") == 1
    assert [path.name for path in work.iterdir()] == ["t.parquet"]


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt()])
def test_once_in_place_neither_memory_nor_an_interruption_is_a_failure(
    error: BaseException, work: Path, streams: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that saw a failure would publish once more, with fresh coins."""

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("scumble.cli.shown.singling_out", fail)
    monkeypatch.setattr(sys, "argv", ["scumble", *PUBLISH])
    assert _code() == 0
    assert "r is in place" in capsys.readouterr().err
    scumble.open(work / "r")


def test_where_an_error_came_from_is_shown_on_demand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(failure.TRACEBACK, "1")
    assert "KeyError" in failure.sentence(KeyError("x"))
    assert "KeyError: 'x'" in capsys.readouterr().err
