"""What is installed: one version, types for others' type checkers, and extras that bring what the code asks for."""

import re
import tomllib
from pathlib import Path

import scumble

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FOR_DEVELOPERS = {"docs", "test", "bench", "reproduce", "all"}
LARGE = {"spark"}
"""480 MB, and no wheel: whoever wants it names it."""


def test_the_version_stands_in_one_place() -> None:
    assert "version" not in PROJECT["project"]
    assert PROJECT["project"]["dynamic"] == ["version"]
    read = (ROOT / PROJECT["tool"]["hatch"]["version"]["path"]).read_text()
    assert re.findall(r'^__version__ = "([^"]+)"$', read, re.MULTILINE) == [scumble.__version__]


def test_the_package_says_that_it_has_types() -> None:
    """The marker lies in the folder that the wheel is made of."""
    (folder,) = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert (ROOT / folder / "py.typed").is_file()


def test_all_brings_every_extra_that_users_have() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    (every,) = extras["all"]
    named = set(re.fullmatch(r"scumble\[(.*)\]", every)[1].split(","))  # type: ignore[index]
    assert named == set(extras) - FOR_DEVELOPERS - LARGE


def test_an_extra_that_the_code_names_is_there() -> None:
    texts = [path.read_text() for path in (ROOT / "src").rglob("*.py")]
    named = {extra for text in texts for extra in re.findall(r'need\("\w+", "(\w+)"\)', text)}
    assert named
    assert named <= set(PROJECT["project"]["optional-dependencies"])
