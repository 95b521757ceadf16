"""A manifest that tries to break its reader: every one is refused in one sentence, before anything of it is used."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from forged import Document, rewritten
from naming import publish_openly

import scumble
from scumble.core.errors import QueryError, ReleaseError
from scumble.release.manifest import NAME


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draw = np.random.default_rng(4)
    table = pa.table({"sex": draw.choice(["F", "M"], 300), "ill": draw.choice(["flu", "cold", "hiv"], 300)})
    made = publish_openly(table, tmp_path / "r", sensitive="ill", domains={"ill": ["flu", "cold", "hiv"]}, gamma=3)
    return made.path


def of(name: str, **fields: Any) -> Callable[[Document], object]:
    return lambda document: next(c for c in document["columns"] if c["name"] == name).update(fields)


def coins(**fields: Any) -> Callable[[Document], object]:
    return lambda document: next(c for c in document["columns"] if c["name"] == "ill")["channel"].update(fields)


def file(**fields: Any) -> Callable[[Document], object]:
    return lambda document: document["files"][-1].update(fields)


HOSTILE: dict[str, tuple[Callable[[Document], object], str]] = {
    "a file above the folder": (file(path="../outside.parquet"), "no file inside of its folder"),
    "a file from the root": (file(path="/etc/passwd"), "no file inside of its folder"),
    "a file without a name": (file(path=""), "no file inside of its folder"),
    "a name without end": (file(path="x" * 5000), "no file inside of its folder"),
    "a name with a bell": (file(path="a\x07.parquet"), "no file inside of its folder"),
    "no data": (lambda document: document.update(files=document["files"][:1]), "no file with rows"),
    "a file twice": (lambda document: document["files"].append(document["files"][0]), "lists a file twice"),
    "a public column as a weight": (of("sex", role="weight"), "weights are not those"),
    "a public column as copies": (of("sex", role="copies"), "weights are not those"),
    "a public column as a size": (of("sex", role="size"), "which rows do not have"),
    "a public column that was perturbed by nothing": (of("sex", role="sensitive"), "has other parts"),
    "a perturbed column as public": (of("ill", role="public"), "has other parts"),
    "bits below zero": (coins(bits=-1), "bits"),
    "bits without end": (coins(bits=10**12), "bits"),
    "a size of nothing": (coins(size=0), "size"),
    "a size without end": (coins(size=10**12), "as many values"),
    "a threshold without end": (coins(threshold=10**400), "not the one of its threshold"),
    "members outside of the domain": (coins(members=[0, 1, 99]), "as many values"),
    "a version that is no whole number": (lambda document: document.update(version=2.0), "format version"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_manifest_is_refused_in_a_sentence(folder: Path, what: str) -> None:
    change, message = HOSTILE[what]
    rewritten(folder, change)
    with pytest.raises(ReleaseError, match=message):
        scumble.open(folder).query("SELECT ill, COUNT(*) AS n FROM release GROUP BY ill")


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
        ("SELECT COUNT(*) AS n FROM release WHERE ill IN ('flu' 'cold')", "texts side by side"),
        ("SELECT sex, COUNT(*) AS n FROM release GROUP BY sex LIMIT -1", "not negative"),
        ("SELECT sex, COUNT(*) AS n FROM release GROUP BY sex LIMIT 1 OFFSET -1", "not negative"),
        ("SELECT COUNT(*) AS n FROM release GROUP BY ()", "names no column"),
        ("SELECT COUNT(*) AS n FROM release GROUP BY", "names no column"),
    ],
)
def test_a_question_that_sqlglot_would_repair_is_refused(folder: Path, sql: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        scumble.open(folder).query(sql)
