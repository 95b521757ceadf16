"""A manifest that tries to break its reader: every one is refused in one sentence, before anything of it is used."""

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from forged import Document, rewritten
from naming import publish_openly
from shell import scumble_command
from typer.testing import CliRunner

import scumble
from scumble.cli import app
from scumble.core.errors import QueryError, ReleaseError
from scumble.release.manifest import NAME


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draw = np.random.default_rng(4)
    table = pa.table({"sex": draw.choice(["F", "M"], 300), "ill": draw.choice(["flu", "cold", "hiv"], 300)})
    made = publish_openly(table, tmp_path / "r", sensitive="ill", domains={"ill": ["flu", "cold", "hiv"]}, gamma=3)
    return made.path


def of(name: str, /, **fields: Any) -> Callable[[Document], object]:
    return lambda document: next(c for c in document["columns"] if c["name"] == name).update(fields)


def coins(**fields: Any) -> Callable[[Document], object]:
    return lambda document: next(c for c in document["columns"] if c["name"] == "ill")["channel"].update(fields)


def file(**fields: Any) -> Callable[[Document], object]:
    return lambda document: document["files"][-1].update(fields)


def guarantee(**fields: Any) -> Callable[[Document], object]:
    return lambda document: document["guarantees"][0].update(fields)


GRID = {"kind": "grid", "low": "0", "high": "2", "step": "1"}
HOSTILE: dict[str, tuple[Callable[[Document], object], str]] = {
    "a file above the folder": (file(path="../outside.parquet"), "no file inside of its folder"),
    "a file from the root": (file(path="/etc/passwd"), "no file inside of its folder"),
    "a file without a name": (file(path=""), "no file inside of its folder"),
    "a name without end": (file(path="x" * 5000), "no file inside of its folder"),
    "a name with a bell": (file(path="a\x07.parquet"), "no file inside of its folder"),
    "no data": (lambda document: document.update(files=document["files"][:1]), "no file with rows"),
    "a file twice": (lambda document: document["files"].append(document["files"][0]), "lists a file twice"),
    "a public column as a weight": (of("sex", role="weight"), "has no numbers"),
    "a public column as copies": (of("sex", role="copies"), "has no numbers"),
    "a public column as a size": (of("sex", role="size"), "which rows do not have"),
    "a public column that was perturbed by nothing": (of("sex", role="sensitive"), "has other parts"),
    "a perturbed column as public": (of("ill", role="public"), "0 columns of the role 'sensitive'"),
    "bits below zero": (coins(bits=-1), "bits"),
    "bits without end": (coins(bits=10**12), "bits"),
    "a size of nothing": (coins(size=0), "size"),
    "a size without end": (coins(size=10**12), "as many values"),
    "a threshold without end": (coins(threshold=10**24), "not the one of its threshold"),
    "members outside of the domain": (coins(members=[0, 1, 99]), "as many values"),
    "a number of 400 digits": (lambda document: document.update(rows=10**400), "cannot be read"),
    "a number without end": (lambda document: document.update(rows=float("inf")), "cannot be read"),
    "no number": (lambda document: document.update(rows=float("nan")), "cannot be read"),
    "rows below zero": (lambda document: document.update(rows=-1), "too small a number"),
    "a type that there is none of": (of("ill", type="garbage[("), "there is no type"),
    "another type than the file's": (of("sex", type="int64"), "has the type 'string'"),
    "a column of another name": (of("sex", name="gender"), "no such column"),
    "two columns of one name": (of("sex", name="ILL"), "two columns of one name"),
    "a public column as a sub-table": (of("sex", role="stratum"), "has no numbers"),
    "a grid of nothing": (of("ill", type="double", domain=GRID | {"low": "0E-100000000"}), "38 digits"),
    "a grid without end": (of("ill", type="double", domain=GRID | {"high": "1e999999"}), "38 digits"),
    "a domain of lists": (of("ill", domain={"kind": "categories", "values": [["flu"]]}), "no lists"),
    "a domain of another type": (of("ill", domain={"kind": "categories", "values": [1, 2, 3]}), "do not fit"),
    "a guarantee that nobody knows": (guarantee(kind="perfect"), "does not know"),
    "a condition that nobody knows": (guarantee(condition_codes=[{"code": "none"}]), "does not know"),
    "a field that nobody knows": (lambda document: document.update(more=1), "does not know"),
    "a name in another language of terminals": (of("sex", role="\x1b[31m"), "does not know"),
    "a version that is no whole number": (lambda document: document.update(version=2.0), "format version"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_manifest_is_refused_in_a_sentence(folder: Path, what: str) -> None:
    change, message = HOSTILE[what]
    rewritten(folder, change)
    with pytest.raises(ReleaseError, match=message):
        scumble.open(folder).query("SELECT ill, COUNT(*) AS n FROM release GROUP BY ill")


@pytest.mark.parametrize("what", ["link", "pipe", "link in its path", "device"])
def test_a_file_that_is_none_is_refused_and_not_waited_for(folder: Path, what: str) -> None:
    data = folder / "data.parquet"
    if what == "link in its path":
        (folder.parent / "elsewhere").mkdir()
        data.rename(folder.parent / "elsewhere" / "data.parquet")
        (folder / "in").symlink_to(folder.parent / "elsewhere")
        rewritten(folder, file(path="in/data.parquet"))
    else:
        data.rename(folder.parent / "moved.parquet")
        if what == "pipe":
            os.mkfifo(data)
        else:
            data.symlink_to("/dev/zero" if what == "device" else folder.parent / "moved.parquet")
    with pytest.raises(ReleaseError, match="no regular file"):
        scumble.open(folder)


@pytest.mark.parametrize("what", ["pipe", "link"])
def test_a_manifest_that_is_no_file_is_refused_and_not_waited_for(folder: Path, what: str) -> None:
    (folder / NAME).rename(folder.parent / "moved.json")
    if what == "pipe":
        os.mkfifo(folder / NAME)
    else:
        (folder / NAME).symlink_to(folder.parent / "moved.json")
    with pytest.raises(ReleaseError, match="cannot be read"):
        scumble.open(folder)


GREEDY = {
    "lists": b"[" + b"[]," * 5_000_000 + b"[]]",
    "numbers": b"[" + b"1," * 10_000_000 + b"1]",
    "length": b'{"a": "' + b"x" * (40 << 20) + b'"}',
    "depth": b'{"a": ' * 500 + b"1" + b"}" * 500,
    "digits": b'{"a": ' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("what", GREEDY)
def test_a_text_that_asks_for_much_is_refused_before_it_is_taken_apart(folder: Path, what: str) -> None:
    """Beside its own bytes it takes hardly any memory: 40 million bytes of lists would take 600."""
    (folder / NAME).write_bytes(GREEDY[what])
    tracemalloc.start()
    with pytest.raises(ReleaseError):
        scumble.open(folder)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100 << 20


def test_every_message_is_one_line_of_plain_text(folder: Path) -> None:
    rewritten(folder, of("sex", name="\x1b[31m" + "x\n" * 5000))
    run = CliRunner().invoke(app, ["verify", str(folder)])
    assert run.exit_code == 1
    assert "\x1b" not in run.stdout
    assert len(run.stdout) < 500


def test_what_is_not_understood_is_exit_2_and_what_is_contradicted_is_exit_1(folder: Path) -> None:
    """In verify; whatever is wrong with a release, other commands refuse it."""
    sound = (folder / NAME).read_text(encoding="utf-8")
    for change, verified in ((of("ill", role="king"), 2), (of("sex", name="gender"), 1), (coins(threshold=17), 1)):
        (folder / NAME).write_text(sound, encoding="utf-8")
        rewritten(folder, change)
        codes = [
            scumble_command("verify", folder).returncode,
            scumble_command("query", folder, "SELECT ill, COUNT(*) AS n FROM release GROUP BY ill").returncode,
        ]
        assert codes == [verified, 2]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' + "9" * 5000 + "}", '{"a": "\\ud800"}', "\xff"])
def test_a_file_that_nobody_wrote_is_refused(folder: Path, text: str) -> None:
    (folder / NAME).write_bytes(text.encode("latin-1"))
    with pytest.raises(ReleaseError):
        scumble.open(folder)


def test_every_byte_of_the_manifest_counts(folder: Path) -> None:
    (folder / NAME).write_bytes((folder / NAME).read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(ReleaseError, match="was changed"):
        scumble.open(folder)


def test_a_table_outside_of_the_hashed_files_is_refused(tmp_path: Path) -> None:
    table = pa.table({"sex": ["F", "M"] * 60, "ill": ["flu", "cold", "hiv"] * 40})
    how: dict[str, Any] = {"mechanism": "anatomy", "settings": {"l": 2}, "domains": {"ill": ["flu", "cold", "hiv"]}}
    folder = publish_openly(table, tmp_path / "r", sensitive="ill", **how).path
    rewritten(folder, lambda document: document["form"]["values"].update(files=["evil.parquet"]))
    with pytest.raises(ReleaseError, match="not among its hashed files"):
        scumble.open(folder)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT COUNT(*) AS n FROM release WHERE ill IN ('flu' 'cold')", "not valid SQL"),
        ("SELECT sex, COUNT(*) AS n FROM release GROUP BY sex LIMIT -1", "not negative"),
        ("SELECT sex, COUNT(*) AS n FROM release GROUP BY sex LIMIT 1 OFFSET -1", "not negative"),
        ("SELECT COUNT(*) AS n FROM release GROUP BY ()", "names no column"),
        ("SELECT COUNT(*) AS n FROM release GROUP BY", "not valid SQL"),
    ],
)
def test_a_question_that_sqlglot_would_repair_is_refused(folder: Path, sql: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        scumble.open(folder).query(sql)
