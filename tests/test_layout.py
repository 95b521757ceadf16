"""The house: what may import what, and how heavy an import is."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "scumble"
FILES = sorted(SOURCE.rglob("*.py"))
ORDER = ["engines", "privacy", "mechanisms", "release", "query", "cli"]


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_import_scumble_loads_nothing_heavy() -> None:
    code = "import sys, scumble; print(sorted(set(sys.modules) & {'numpy', 'pyarrow', 'duckdb', 'sqlglot', 'pydantic', 'scipy', 'rich', 'typer'}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_an_engine_imports_its_database(path: Path) -> None:
    if path.parent.name != "duckdb":
        assert not {name for name in imports(path) if name.split(".")[0] == "duckdb"}


def test_the_dialect_of_an_engine_is_named_by_itself_and_that_of_questions_once() -> None:
    texts = {
        path: [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
        for path in FILES
    }
    named = {str(path.relative_to(SOURCE)) for path, found in texts.items() if "duckdb" in found}
    assert named == {"engines/__init__.py", "engines/duckdb/engine.py", "query/parse.py"}
    for path, found in texts.items():
        if "engines" not in path.parts:
            assert not [
                text for text in found if isinstance(text, str) and ("read_parquet" in text or "::DOUBLE" in text)
            ]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_randomness_comes_through_one_door(path: Path) -> None:
    """No module but entropy.py draws random bytes or numbers; the demonstration's made-up patients are nobody."""
    if path.name in ("entropy.py", "demo.py"):
        return
    text = path.read_text()
    for word in ("urandom", "np.random", "numpy.random", "import random", "import secrets"):
        assert word not in text or (word == "urandom" and path.name == "keyed.py"), word


def test_privacy_does_not_know_mechanisms_nor_mechanisms_releases() -> None:
    for path in FILES:
        package = path.parent.name
        for name in imports(path):
            for upper in {
                "privacy": ("mechanisms", "release", "query"),
                "mechanisms": ("release", "query"),
                "query": ("release",),
            }.get(package, ()):
                assert not name.startswith(f"scumble.{upper}"), (path, name)


def test_privacy_names_no_module_above_it_and_imports_its_own_at_the_top() -> None:
    """Also not by a name in a text that is loaded later; its public names alone are loaded when they are asked for."""
    for path in (SOURCE / "privacy").rglob("*.py"):
        text = path.read_text()
        assert "scumble.mechanisms" not in text, path
        inner = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        late = [node for function in inner for node in ast.walk(function) if isinstance(node, ast.ImportFrom)]
        assert not [node.module for node in late if str(node.module).startswith("scumble")], path
        assert path.name == "__init__.py" or "import_module" not in text, path


def test_every_mechanism_derives_its_promise_and_every_guarantee_has_words() -> None:
    from scumble.mechanisms import find_mechanism, names
    from scumble.privacy.words import STATEMENTS

    for name in names():
        derive = find_mechanism(name).derive
        assert callable(getattr(import_module(derive.__module__), derive.__name__))

    calls = [node for path in FILES for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    made = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Guarantee"]
    told = [keyword.value for call in made for keyword in call.keywords if keyword.arg == "kind"]
    kinds = {
        node.value
        for value in told
        for node in ast.walk(value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert len(kinds) > 10
    assert kinds <= set(STATEMENTS)
