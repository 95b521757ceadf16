"""CONTRIBUTING.md: the files, registries and targets that it names are there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PLACES = sorted(set(re.findall(r"`(src/[\w/]+\.py):(\w+)`", TEXT)))
PATHS = sorted(set(re.findall(r"`((?:src|tests)/[\w/]+\.py)(?::\w+)?`", TEXT)))


def names_of(path: Path) -> set[str]:
    """What a module defines at its top."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        found |= {target.id for target in targets if isinstance(target, ast.Name)}
        found |= {node.name} if isinstance(node, ast.ClassDef | ast.FunctionDef) else set()
    return found


def test_each_of_six_things_names_its_registry() -> None:
    registries = {name for _, name in PLACES}
    assert {"REGISTRY", "ENGINES", "AGGREGATES", "ATTACKS", "SECTIONS"} <= registries
    assert len([path for path, name in PLACES if name == "REGISTRY"]) == 2


@pytest.mark.parametrize(("path", "name"), PLACES)
def test_a_registry_is_where_the_page_says(path: str, name: str) -> None:
    assert name in names_of(ROOT / path)


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_the_page_names_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_what_the_page_says_to_make_can_be_made() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert "quick" in set(re.findall(r"`make ([\w-]+)`", TEXT)) <= targets
