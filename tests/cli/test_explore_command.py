"""scumble explore, as it is typed."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from every_mechanism import published

from scumble.cli import run

Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Runs a command: its exit code, and what it printed."""

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["scumble", *arguments])
        code = run()
        return code, *capsys.readouterr()

    return call


def test_it_says_what_it_wrote(typed: Typed, patients: pa.Table, tmp_path: Path) -> None:
    published("uniform", patients, tmp_path / "r", seed=3)
    code, out, _ = typed("explore", str(tmp_path / "r"), "-o", str(tmp_path / "page.html"))
    assert code == 0
    assert "the table is in it; open it in a browser" in out
    code, _, error = typed("explore", str(tmp_path / "r"), "-o", str(tmp_path / "page.html"))
    assert (code, error.count("\n")) == (2, 1)
    assert "exists and is kept" in error


def test_of_a_large_table_it_says_what_the_page_asks_for(
    typed: Typed, patients: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published("uniform", patients, tmp_path / "r", seed=3)
    monkeypatch.setattr("scumble.web.explore.INLINED", 1000)
    _, out, _ = typed("explore", str(tmp_path / "r"), "-o", str(tmp_path / "page.html"))
    assert "it asks for data.parquet" in out
    assert (tmp_path / "page.html").stat().st_size < 300_000


def test_what_is_no_release_is_refused_in_a_line(typed: Typed, tmp_path: Path) -> None:
    code, _, error = typed("explore", str(tmp_path), "-o", str(tmp_path / "page.html"))
    assert (code, error.count("\n")) == (2, 1)
    assert not (tmp_path / "page.html").exists()
