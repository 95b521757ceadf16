"""The tutorial of the wide table: every command runs again, and prints what is stored but for numbers that follow coins."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tutorial() -> ModuleType:
    """The program that runs it."""
    spec = importlib.util.spec_from_file_location("wide_table", ROOT / "docs" / "wide_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def masked(text: str) -> list[str]:
    """Words, with every number and every digest as the same mark; what a table is padded with is none."""
    return re.sub(r"\b[0-9a-f]{64}\b|[A-Za-z0-9+/]{43}=|[-+]?\d[\d.,:T+-]*", "#", text).split()


BY_COINS = ("publish", "report", "sign", "verify", "query")
"""Commands whose numbers follow coins, or keys and times."""


@pytest.mark.slow
def test_every_command_prints_what_is_stored(tutorial: ModuleType, shared_data: Path, tmp_path: Path) -> None:
    """From a file of 52 columns with several rows a person to a signature; refusals included, with their exit codes."""
    pytest.importorskip("altair", reason="the page is drawn by altair: pip install 'scumble[report]'")
    text = tutorial.TUTORIAL.read_text(encoding="utf-8")
    ran = list(tutorial.told(text, shared_data / "census_income_kdd.parquet", tmp_path))
    for block, printed in ran:
        refused = "(exit code 2)" in block.body
        if block.command is None or refused or block.command[1] not in BY_COINS:
            assert printed == block.body.rstrip("\n"), block.head
        else:
            assert masked(printed) == masked(block.body), block.head
    assert len(ran) == 11


def test_the_tutorial_ends_with_a_signature_and_shows_two_refusals(tutorial: ModuleType) -> None:
    """What the stored text says, also where the table is not at hand."""
    text = tutorial.TUTORIAL.read_text(encoding="utf-8")
    heads = [block.command[1] for block in tutorial.blocks(text) if block.command is not None]
    assert heads == ["init", "publish", "plan", "publish", "publish", "report", "sign", "sign", "verify", "query"]
    assert text.count("(exit code 2)") == 2
    assert "FAIL" not in text
    assert "ok    signed by: D. P. Officer" in text
