r"""ES modules as one script: each becomes a function that is called once and gives what it exports.

No more of the language is understood than our modules use: imports by name from a relative path at the start of a line, and exports of functions, classes and
constants where they are declared. hyparquet, which is minified, lists what it exports at its end.

>>> _exports("export const A = 1;\nexport async function b() {}\nfunction c() {}")
['A', 'b']
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath

IMPORT = re.compile(r'^import (?:\{([^}]*)\}|\* as (\w+)) from "(\.[^"]*)";$', re.MULTILINE)
DECLARED = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", re.MULTILINE)
NAME = re.compile(r"^export (?:async )?(?:function\*?|class|const|let) (\w+)", re.MULTILINE)
LISTED = re.compile(r"export\{([^}]*)\};\s*$")
INDENTED = re.compile(r"^[ ]+", re.MULTILINE)
COMMENT = re.compile(r"^\s*(?:/\*\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)


@cache
def script(entry: str) -> str:
    """The script that a module and all that it imports make, each once, those first that others need."""
    order: list[str] = []
    _visit(PurePosixPath(entry), order)
    modules = "\n".join(_wrapped(path) for path in order)
    return f'"use strict";\n(() => {{\n{modules}\n}})();\n'


def source(path: str | PurePosixPath) -> str:
    """A file of this room."""
    return files("scumble.web").joinpath(str(path)).read_text(encoding="utf-8")


def _visit(path: PurePosixPath, order: list[str]) -> None:
    for _, _, other in IMPORT.findall(source(path)):
        _visit(_beside(path, other), order)
    if str(path) not in order:
        order.append(str(path))


def _beside(path: PurePosixPath, other: str) -> PurePosixPath:
    """The module that another names by a relative path."""
    parts = list(path.parent.parts)
    for part in PurePosixPath(other).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return PurePosixPath(*parts)


def _wrapped(path: str) -> str:
    text = source(path)
    listed = LISTED.search(text)
    exported = _pairs(listed[1]) if listed else [(name, name) for name in _exports(text)]
    body = LISTED.sub("", text) if listed else _shortened(DECLARED.sub("", IMPORT.sub("", text)))
    imports = "".join(_imported(PurePosixPath(path), *found) for found in IMPORT.findall(text))
    returned = ", ".join(f"{shown}: {name}" for name, shown in exported)
    return f"const {_module(path)} = (() => {{\n{imports}{body.strip()}\nreturn {{ {returned} }};\n}})();"


def _shortened(text: str) -> str:
    """Without comments and indentation, which every release would carry; no text of ours goes over several lines."""
    return INDENTED.sub("", COMMENT.sub("", text))


def _exports(text: str) -> list[str]:
    return NAME.findall(text)


def _pairs(listed: str) -> Iterator[tuple[str, str]]:
    """What is exported under another name, or under its own."""
    for part in listed.split(","):
        name, _, shown = part.strip().partition(" as ")
        yield name, shown or name


def _imported(path: PurePosixPath, names: str, star: str, other: str) -> str:
    module = _module(str(_beside(path, other)))
    if star:
        return f"const {star} = {module};\n"
    listed = ", ".join(part.strip() for part in names.split(",") if part.strip())
    return f"const {{ {listed} }} = {module};\n"


def _module(path: str) -> str:
    """The name of what a module exports.

    >>> _module("read/kinds.js")
    'read_kinds'
    """
    return re.sub(r"\W", "_", path.removesuffix(".js"))
