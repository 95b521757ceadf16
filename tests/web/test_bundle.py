"""Modules become one script: everything is in it once, and nothing that the bundler does not understand is in the modules."""

import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest
from browser import demand

from scumble.web.bundle import IMPORT, script, source

ROOM = Path(str(files("scumble.web")))
MODULES = sorted(str(path.relative_to(ROOM)) for path in ROOM.rglob("*.js"))
OURS = [name for name in MODULES if not name.startswith("vendor/")]


def test_every_module_is_in_a_script_and_in_each_once_at_most() -> None:
    texts = [script(entry) for entry in ("page/main.js", "embedded.js")]
    names = [re.sub(r"\W", "_", name.removesuffix(".js")) for name in MODULES]
    counts = [[text.count(f"const {name} = (() => {{") for text in texts] for name in names]
    assert {max(each) for each in counts} == {1}


@pytest.mark.parametrize("name", OURS)
def test_modules_import_and_export_in_the_ways_that_are_understood(name: str) -> None:
    text = source(name)
    lines = text.splitlines()
    imports = [line for line in lines if line.startswith("import ")]
    assert len(IMPORT.findall(text)) == len(imports)
    for line in lines:
        assert not line.startswith("export ") or re.match(r"export (async )?(function\*?|class|const) \w+", line), line
    assert text.count("`") % 2 == 0
    for template in re.findall(r"`[^`]*`", text):
        assert "\n" not in template, "indentation is taken out of the script, and would be of this text"
    assert "</script" not in text


@pytest.mark.parametrize("name", OURS)
def test_modules_import_what_they_use_and_nothing_else(name: str) -> None:
    text = source(name)
    body = IMPORT.sub("", text)
    for listed, star, other in IMPORT.findall(text):
        exported = source(
            str((Path(name).parent / other).as_posix())
            .replace("estimate/../", "")
            .replace("page/../", "")
            .replace("read/../", "")
        )
        for part in filter(None, (each.strip() for each in listed.split(","))):
            assert re.search(rf"\b{part}\b", body), f"{part} is not used"
            assert re.search(rf"export\b.*\b{part}\b", exported), f"{other} does not export {part}"
        assert not star or f"{star}." in body


def test_the_script_is_one_that_is_parsed(tmp_path: Path) -> None:
    demand(shutil.which("node") is not None, "node")
    (tmp_path / "page.js").write_text(script("page/main.js"), encoding="utf-8")
    assert subprocess.run(["node", "--check", str(tmp_path / "page.js")], capture_output=True).returncode == 0
