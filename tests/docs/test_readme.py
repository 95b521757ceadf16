"""The README and the package's own docstring: what they show runs, and what they name is there."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import scumble
from scumble.cli import IN_SHORT

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the table that the examples publish."""
    people = pa.table(
        {
            "name": [f"person {i}" for i in range(600)],
            "age": [i % 90 for i in range(600)],
            "sex": ["F", "M"] * 300,
            "notes_1": ["a note"] * 600,
            "disease": [("flu", "cold", "asthma")[i * i // 7 % 3] for i in range(600)],
        }
    )
    pq.write_table(people, tmp_path / "patients.parquet")
    pyarrow.csv.write_csv(people.drop(["notes_1"]), tmp_path / "patients.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("place")
def test_the_python_of_the_readme_runs() -> None:
    pytest.importorskip("pandas", reason="the example ends in a data frame: pip install pandas")
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["answer"].to_pandas().columns.tolist() == ["sex", "n", "n_se", "n_low", "n_high"]
    assert all(check.passed for check in scumble.verify(names["release"]))


@pytest.mark.slow
@pytest.mark.usefixtures("place")
def test_the_example_of_the_package_runs() -> None:
    assert scumble.__doc__
    names: dict[str, Any] = {"scumble": scumble}
    exec(scumble.__doc__.split("\n\n", 1)[1], names)
    assert names["release"].manifest.sensitive == ["disease"]


def test_the_commands_of_the_readme_exist() -> None:
    commands = {module.__name__.rsplit(".", 1)[-1] for module in IN_SHORT}
    shown = re.findall(r"^\$? ?scumble (\w+)", README, re.MULTILINE)
    assert len(shown) > 8
    assert set(shown) <= commands


def test_what_the_readme_says_to_make_can_be_made() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"demo", "test"} <= set(re.findall(r"^make ([\w-]+)", README, re.MULTILINE)) <= targets
