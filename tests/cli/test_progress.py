"""Bars: on a terminal, for what lasts, wiped away in the end; and never in what is piped."""

import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import scumble
from scumble.cli.progress import Bar, progress_bar
from scumble.core.progress import stage

PAUSING = str(Path(__file__).parent / "pausing.py")
QUESTION = "SELECT COUNT(*) AS n FROM release WHERE disease = 'flu'"
SHOW_CURSOR, ERASE_LINE = b"\x1b[?25h", b"\x1b[2K"


@pytest.fixture
def folder(patients: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table, its spec and its release."""
    pq.write_table(patients.drop(["name"]), tmp_path / "t.parquet")
    monkeypatch.chdir(tmp_path)
    from scumble.sources.source import read
    from scumble.spec.suggest import spec_text

    suggested = spec_text("t.parquet", read(tmp_path / "t.parquet"))
    (tmp_path / "t.toml").write_text(suggested.replace('role = "?"', 'role = "public"'))
    scumble.publish("t.toml", "r", seed=1)
    return tmp_path


def on_a_terminal(command: list[str], *press_when: bytes) -> tuple[int, bytes]:
    """Runs a command on a terminal of its own, presses Ctrl-C once all that was written, and returns exit code and what was written."""
    process, terminal = pty.fork()
    if process == 0:  # the child
        os.environ.update(TERM="xterm-256color", COLUMNS="100")
        os.execv(command[0], command)
    written, pressed = b"", False
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the child has closed the terminal
            part = b""
        if not part:
            break
        written += part
        if not pressed and all(each in written for each in press_when):
            os.write(terminal, b"\x03")
            pressed = True
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), written


@pytest.mark.parametrize(
    ("label", "place", "arguments"),
    [
        (b"publishing", "scumble.publishing.shuffle:Buckets.add", ["publish", "t.toml", "-o", "s"]),
        (b"reading the table", "scumble.spec.suggest:scan", ["init", "t.parquet", "-o", "s.toml"]),
        (b"planning", "scumble.evaluate.forecast:value_counts", ["plan", "t.toml"]),
        (b"asking", "scumble.query.ask:parse_all", ["query", "r", QUESTION]),
        (b"verifying", "scumble.release.verify:verify", ["verify", "r"]),
        (b"counting rows", "scumble.release.release:Release.unique_rows", ["show", "r"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
@pytest.mark.slow
def test_what_lasts_has_a_bar_that_ctrl_c_wipes_away(
    label: bytes, place: str, arguments: list[str], folder: Path
) -> None:
    code, written = on_a_terminal([sys.executable, PAUSING, place, *arguments], label, b"reached")
    _, _, after = written.rpartition(label)
    assert code == 130
    assert ERASE_LINE in after
    assert SHOW_CURSOR in after
    assert after.endswith(b"scumble: interrupted; nothing half-written was left behind\r\n")
    assert not (folder / "s").exists()
    assert not (folder / "s.toml").exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_is_over_at_once_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scumble.cli.progress.PATIENCE", 3600.0)
    monkeypatch.setattr("sys.stderr", Terminal())
    with progress_bar("working") as progress:
        progress(1, 4)
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


def test_a_bar_that_comes_too_late_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", Terminal())
    bar = Bar("working")
    bar.end()
    bar.show()
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]


SLOWLY = """
import sys, threading
from scumble.cli import progress
shown, show = threading.Event(), progress.Bar.show
progress.PATIENCE = 0.0
progress.Bar.show = lambda bar: (show(bar), shown.set())
with progress.progress_bar("working") as told:
    told(1, 4)
    if sys.stderr.isatty():
        shown.wait()
    told(3, 4)
print("result")
"""
"""Work that lasts until the bar is there, however long that takes on a busy machine."""


@pytest.mark.slow
def test_a_bar_keeps_out_of_what_is_piped() -> None:
    """Standard error is a terminal, standard output a pipe; and both are pipes."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", SLOWLY], stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        drawn = b""
        while part := _read(ours):
            drawn += part
        assert process.stdout is not None
        assert process.stdout.read() == b"result\n"
    os.close(ours)
    assert b"working" in drawn
    assert b"75%" in drawn
    quiet = subprocess.run([sys.executable, "-c", SLOWLY], capture_output=True, check=True)
    assert (quiet.stdout, quiet.stderr) == (b"result\n", b"")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def test_stages_are_parts_of_one_whole() -> None:
    told: list[tuple[int, int | None]] = []

    def progress(done: int, of: int | None) -> None:
        told.append((done, of))

    stage(progress, 0, 2)(10, None)
    stage(progress, 0, 2)(100, 100)
    stage(progress, 1, 2)(5, 10)
    assert told == [(10, None), (100, 200), (15, 20)]


def test_publishing_tells_how_far_it_is(publish_simply: Callable[..., scumble.Release]) -> None:
    told: list[tuple[int, int | None]] = []
    publish_simply(progress=lambda done, of: told.append((done, of)))
    assert told[0] == (3000, 6000)
    assert told[-1] == (6000, 6000)


def test_a_program_may_have_lines_in_the_place_of_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One at once, and no more than a program can read."""
    monkeypatch.setenv("SCUMBLE_PROGRESS", "lines")
    monkeypatch.setattr("scumble.cli.progress.OFTEN", 3600.0)
    with progress_bar("publishing") as progress:
        progress(3, None)
        progress(4, 10)
    assert capsys.readouterr().err == "progress 3 ?\n"
