"""The tutorials: every cell runs, its output is stored, and nothing in it tells on whose machine."""

import getpass
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

nbformat = pytest.importorskip("nbformat", reason="notebooks are read by nbformat: pip install 'scumble[test]'")
nbclient = pytest.importorskip("nbclient", reason="notebooks are run by nbclient: pip install 'scumble[test]'")

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "notebooks"
ROLES = ["analyst", "auditor", "publisher"]
LARGEST = 200_000


@pytest.fixture(params=ROLES)
def path(request: pytest.FixtureRequest) -> Path:
    """The notebook of a role."""
    return FOLDER / f"{request.param}.ipynb"


def speaking(notebook: Any) -> list[int]:
    """The cells that show something."""
    return [place for place, cell in enumerate(notebook.cells) if cell.cell_type == "code" and cell.outputs]


def test_each_role_has_one() -> None:
    assert sorted(each.stem for each in FOLDER.glob("*.ipynb")) == ROLES


def test_every_cell_runs_and_what_it_shows_is_stored(path: Path, tmp_path: Path) -> None:
    """Numbers may differ in their last digits between versions of the libraries; `make notebooks` stores them anew."""
    notebook = nbformat.read(path, as_version=4)
    stored = speaking(notebook)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    assert speaking(notebook) == stored
    assert len(stored) >= 5
    assert list(tmp_path.iterdir()) == []


def test_what_is_stored_is_small_and_tells_nothing_of_the_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text) < LARGEST
    for private in {
        str(ROOT),
        str(Path.home()),
        os.path.expanduser("~"),
        tempfile.gettempdir() + "/",
        getpass.getuser() + "@",
        "Traceback",
    }:
        assert len(private) < 2 or private not in text, private
    document = json.loads(text)
    assert set(document["metadata"]) == {"kernelspec", "language_info"}
    assert all(set(cell["metadata"]) == set() for cell in document["cells"])


def test_links_between_pages_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (path.parent / link).exists()] == []
