"""init on a terminal: keys on a screen, numbers without prompt_toolkit, and no question where nobody sits."""

import builtins
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput
from typer.testing import CliRunner

from scumble.cli import app, asking, init
from scumble.cli.screen import by_keys
from scumble.spec.interview import Question
from scumble.spec.looks.seen import Seen
from scumble.spec.suggest import Suggestion

UP, DOWN, ENTER, LEFT = "\x1b[A", "\x1b[B", "\r", "\x1b[D"


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    """A keyboard, and a screen that nobody sees."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two columns, the first of them in doubt; and a terminal."""
    lines = [f"{i % 7},{'mf'[i % 2]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["mark,sex", *lines]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(init, "on_terminal", lambda: True)
    return tmp_path / "t.toml"


def question(chosen: str = "?") -> Question:
    column = Suggestion(Seen("mark", pa.int64(), {1, 2}, [1, 2], rows=9), "?", "2 different whole numbers")
    return Question(column, chosen, 1, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pressed", "answer"),
    [
        (ENTER, "?"),
        (DOWN + ENTER, "sensitive"),
        (DOWN + DOWN + ENTER, "public"),
        (UP + ENTER, "dropped"),
        (LEFT, "back"),
        ("b", "back"),
        ("w", "rest"),
        ("q", "quit"),
    ],
)
def test_what_each_key_does(keys: PipeInput, pressed: str, answer: str) -> None:
    """The mark stands at the role as it is, and goes round."""
    keys.send_text(pressed)
    assert by_keys(question()) == answer


def test_ctrl_c_interrupts(keys: PipeInput) -> None:
    keys.send_text("\x03")
    with pytest.raises(KeyboardInterrupt):
        by_keys(question())


@pytest.mark.slow
def test_a_spec_by_keys(keys: PipeInput, table: Path) -> None:
    keys.send_text(DOWN + DOWN + ENTER + ENTER)
    result = CliRunner().invoke(app, ["init", "t.csv"])
    assert result.exit_code == 0, result.output
    assert 'role = "?"' not in table.read_text()
    assert "[columns.mark]" in table.read_text()


def test_whoever_quits_finds_no_spec(keys: PipeInput, table: Path) -> None:
    keys.send_text(DOWN + ENTER + "q")
    result = CliRunner().invoke(app, ["init", "t.csv"])
    assert (result.exit_code, result.output) == (130, "no spec was written\n")
    assert not table.exists()


def test_numbers_where_the_screen_is_not_installed(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is none of the answers is asked again."""
    monkeypatch.setattr(asking, "find_spec", lambda name: None)
    typed = iter(["9", "public", "2", "b", "1", ""])
    monkeypatch.setattr(builtins, "input", lambda prompt: next(typed))
    result = CliRunner().invoke(app, ["init", "t.csv"])
    assert result.exit_code == 0, result.output
    assert "'9' is none of them" in result.stderr
    assert "column 1 of 2: mark" in result.output
    assert 'role = "sensitive"' in table.read_text()


def test_the_end_of_the_input_quits(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr(builtins, "input", closed)
    assert asking.by_number(question()) == "quit"


@pytest.mark.parametrize("more", [["--no-questions"], []])
def test_nobody_is_asked_where_that_is_said_or_there_is_no_terminal(
    table: Path, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    if not more:
        monkeypatch.undo()
        monkeypatch.chdir(table.parent)
    monkeypatch.setattr(asking, "asker", lambda: pytest.fail("it asked"))
    result = CliRunner().invoke(app, ["init", "t.csv", *more])
    assert result.exit_code == 0, result.output
    assert 'role = "?"' in table.read_text()
