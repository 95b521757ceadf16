"""The house: what may import what, and how heavy an import is."""

import ast
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import scumble

SOURCE = Path(__file__).parents[1] / "src" / "scumble"
FILES = sorted(SOURCE.rglob("*.py"))


@cache
def walked(path: Path) -> list[ast.AST]:
    """Every node of a module of the house, parsed once for all that looks at it."""
    return list(ast.walk(ast.parse(path.read_text())))


ORDER = """
    core
    errors
    engines
    engines.duckdb
    engines.postgres
    engines.spark
    sources
    spec
    privacy
    mechanisms
    query
    forms
    forms.*
    web
    release
    publishing
    mechanisms.*
    truth
    auditing evaluate learn
    reporting collect
    api
    studio
    cli
    __main__
"""
"""What may import what: everything that stands above it here, and nothing else outside of its own room.

A longer name wins: engines.duckdb is not engines. Below a star each folder is a room of its own, and what stands beside the folders is the room without
the star. Rooms in one line do not know each other. Plug-ins are reached from above them by a registry that names them as text.
"""

MODULES = {
    ".".join(part for part in ("scumble", *path.relative_to(SOURCE).with_suffix("").parts) if part != "__init__"): path
    for path in FILES
}
LEVELS = {room: level for level, line in enumerate(ORDER.split("\n")) for room in line.split()}


def room_of(module: str) -> str:
    """The room that a module belongs to, nothing for the package itself.

    >>> room_of("scumble.engines.duckdb.tally"), room_of("scumble.forms.rows.joint"), room_of("scumble.mechanisms.plan")
    ('engines.duckdb', 'forms.rows', 'mechanisms')
    """
    first, second, *_ = [*module.split(".")[1:], "", ""]
    folder = f"{first}.{second}"
    path = MODULES.get(f"scumble.{folder}")
    inside = path is None or path.name == "__init__.py"
    return folder if second and inside and (folder in LEVELS or f"{first}.*" in LEVELS) else first


def level_of(room: str) -> int:
    if not room:
        return -1
    return LEVELS[room] if room in LEVELS else LEVELS[room.split(".")[0] + ".*"]


def imported(module: str) -> set[str]:
    """The modules of the house that a module imports, at its top or later, but not for its types alone."""
    nodes = walked(MODULES[module])
    tests = [node for node in nodes if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    typing = {id(inner) for test in tests for part in test.body for inner in ast.walk(part)}
    named = set()
    for node in nodes:
        if id(node) in typing:
            continue
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, module)
            named |= {name if (name := f"{base}.{alias.name}") in MODULES else base for alias in node.names}
    return {name for name in named if name in MODULES} - {module}


def _absolute(node: ast.ImportFrom, module: str) -> str:
    if not node.level:
        return str(node.module)
    up = node.level - (MODULES[module].name == "__init__.py")
    package = module.split(".")
    return ".".join([*package[: len(package) - up], *([node.module] if node.module else [])])


@cache
def graph() -> dict[str, set[str]]:
    """What every module imports; worked out by the test that needs it, and not by whoever collects the tests."""
    return {module: imported(module) for module in MODULES}


def upward(graph: dict[str, set[str]]) -> set[tuple[str, str]]:
    """The pairs of rooms of which the first imports the second and must not."""
    pairs = {(room_of(module), room_of(other)) for module, others in graph.items() for other in others}
    return {(room, other) for room, other in pairs if room != other and level_of(other) >= level_of(room)}


def test_every_import_points_down() -> None:
    assert upward(graph()) == set()


def test_the_order_finds_what_points_up_or_sideways() -> None:
    wrong = {"scumble.core.coins": {"scumble.spec.spec"}, "scumble.learn.tree": {"scumble.auditing"}}
    assert upward(wrong) == {("core", "spec"), ("learn", "auditing")}


def test_no_module_imports_itself_through_others() -> None:
    try:
        order = list(TopologicalSorter(graph()).static_order())
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None
    assert len(order) == len(MODULES) > 250


def test_relative_and_deferred_imports_are_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = """
from typing import TYPE_CHECKING
from . import coins
from .errors import TableError
from ..spec import toml
if TYPE_CHECKING:
    from scumble.api import publish
def later():
    import scumble.query.parse
    from scumble import __version__
"""
    (tmp_path / "made.py").write_text(text)
    monkeypatch.setitem(MODULES, "scumble.core.made", tmp_path / "made.py")
    names = {"scumble", "scumble.core.coins", "scumble.core.errors", "scumble.spec.toml", "scumble.query.parse"}
    assert imported("scumble.core.made") == names


@pytest.mark.slow
def test_opening_and_asking_loads_nothing_that_publishes(release: scumble.Release) -> None:
    code = f"""
import sys, scumble
release = scumble.open({str(release.path)!r})
release.query("SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'flu' GROUP BY sex")
print(*sorted(name for name in sys.modules if name.startswith("scumble.")))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert "scumble.release.release" in loaded
    assert [name for name in loaded if name.startswith("scumble.publishing")] == []
    ends = (".plan", ".publish")
    assert [
        name
        for name in loaded
        if name.startswith("scumble.mechanisms.") and name.count(".") > 2 and name.endswith(ends)
    ] == []


def imports(path: Path) -> set[str]:
    named = set()
    for node in walked(path):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named.add(node.module)
    return named


HEAVY = {"numpy", "pyarrow", "duckdb", "sqlglot", "pydantic", "scipy"}


@pytest.mark.parametrize(("module", "heavy"), [("scumble", HEAVY | {"rich", "typer"}), ("scumble.cli", HEAVY)])
def test_what_everybody_imports_loads_nothing_heavy(module: str, heavy: set[str]) -> None:
    """A shell shows the help of a command in no time: what the command works with is loaded when it runs."""
    code = f"import sys, {module}; print(sorted(set(sys.modules) & {heavy!r}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


OTHER_WORDS = {
    "spec/spec.py": {"uniform"},  # the default of publish, in one constant
    "core/channel.py": {"uniform"},  # how replacements are drawn, as a channel is printed
    "release/records.py": {"uniform"},  # the same, as manifests carry it
    "privacy/words_of_counts.py": {"noisy_counts"},  # the kind of a guarantee, which two mechanisms give
}
"""Files with a word that is also the name of a mechanism, and what it means there."""


def mechanisms_named(nodes: Iterable[ast.AST]) -> set[str]:
    """The literals of a module that are the name of a mechanism."""
    from scumble.mechanisms import REGISTRY

    return {node.value for node in nodes if isinstance(node, ast.Constant) and node.value in REGISTRY}


def test_nobody_asks_for_the_name_of_a_mechanism() -> None:
    for path in FILES:
        name = path.relative_to(SOURCE).as_posix()
        if name.split("/")[0] != "mechanisms":
            assert mechanisms_named(walked(path)) == OTHER_WORDS.get(name, set()), name


def test_the_name_of_a_mechanism_is_found_wherever_it_stands() -> None:
    tree = ast.parse('def f(m: str = "sps") -> bool:\n    return m in ("k_dgs", f"{m} by uniform")')
    assert mechanisms_named(ast.walk(tree)) == {"sps", "k_dgs"}


def test_only_an_engine_imports_its_database() -> None:
    importing = {path.parent for path in FILES if any(name.split(".")[0] == "duckdb" for name in imports(path))}
    assert importing == {SOURCE / "engines" / "duckdb"}


def test_the_dialect_of_an_engine_is_named_by_itself_and_that_of_questions_once() -> None:
    texts = {path: [node.value for node in walked(path) if isinstance(node, ast.Constant)] for path in FILES}
    named = {str(path.relative_to(SOURCE)) for path, found in texts.items() if "duckdb" in found}
    assert named == {"engines/__init__.py", "engines/duckdb/engine.py", "query/model.py"}
    for path, found in texts.items():
        if "engines" not in path.parts:
            assert not [
                text for text in found if isinstance(text, str) and ("read_parquet" in text or "::DOUBLE" in text)
            ]


DRAWING = ("urandom", "np.random", "numpy.random", "import random", "import secrets")


def test_randomness_comes_through_one_door() -> None:
    """No module but entropy.py draws random bytes or numbers; the demonstration's made-up patients are nobody."""
    drawing = {
        (path.relative_to(SOURCE).as_posix(), word) for path in FILES for word in DRAWING if word in path.read_text()
    }
    beside = {(name, word) for name, word in drawing if name not in ("core/entropy.py", "cli/hospital.py")}
    assert beside == {("publishing/keyed.py", "urandom")}
    assert ("core/entropy.py", "urandom") in drawing


def test_no_property_is_kept_behind_a_lock() -> None:
    """Before Python 3.12 `cached_property` closes one lock for all objects of a class, and the child of a fork may find it closed."""
    assert not [path for path in FILES if "cached_property" in path.read_text()]


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

    calls = [node for path in FILES for node in walked(path) if isinstance(node, ast.Call)]
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
