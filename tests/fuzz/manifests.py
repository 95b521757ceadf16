"""Releases of all forms whose manifests somebody changed at random, with digests that fit: refused in a sentence, or taken for what they are."""

import atexit
import copy
import json
import random
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from every_mechanism import EVERY, published
from forged import sealed
from tables import DISEASES

import scumble
from scumble.core.errors import InputError
from scumble.release.manifest import NAME

SECONDS = 2.0
"""Of the processor, at most, for all that a reader does with one release; opening a sound one and asking it takes a tenth."""

HOSTILE: list[Any] = [
    None, True, False, 0, -1, 1, 2.0, 0.5, 10**12, 10**19, 10**24, 10**400, 1e308, -1e-320, "", "0", "5000", "yes", "x" * 5000,
    "0E-100000000", "1e999999", "1E+999999999", "NaN", "-inf", "garbage[(", "timestamp[xx, tz=Mars]", "decimal128(99, 3)", "list<item: int64>",
    "\x1b[31mred\x07", "a\nb", "../../etc/passwd", "/dev/zero", [], {}, [[]], [None], [{}], {"a": {}}, [[[[[[[[]]]]]]]], ["flu", ["cold"]], [1, "1"],
    "public", "sensitive", "stratum", "weight", "low", "rows", "boxes", "uniform", "int64", "string", "date32[day]", "null", "bool", "2020-13-45",
]  # fmt: skip
"""What is put in the place of anything."""

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM release",
    "SELECT disease, COUNT(*) AS n FROM release WHERE sex = 'F' GROUP BY disease",
]


def releases(folder: Path) -> dict[str, Path]:
    """One small release of each mechanism."""
    draw, rows = np.random.default_rng(3), 400
    table = pa.table(
        {
            "sex": draw.choice(["F", "M"], rows),
            "disease": draw.choice(DISEASES, rows, p=[0.3, 0.25, 0.2, 0.15, 0.1]),
            "smoker": draw.random(rows) < 0.3,
            "visits": draw.integers(0, 11, rows),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: published(name, table, folder / name, seed=4).path for name in EVERY}


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all parts of a document."""
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def mutated(document: Any, draw: random.Random) -> tuple[Any, str]:
    """The document with one to three changes, and what was changed."""
    changed, done = copy.deepcopy(document), []
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        path = draw.choice(list(places(changed)))
        holder = changed
        for key in path[:-1]:
            holder = holder[key]
        done.append(f"{'.'.join(map(str, path))}: {_change(holder, path[-1], changed, draw)}")
    return changed, "; ".join(done)


def _change(holder: Any, key: Any, document: Any, draw: random.Random) -> str:
    kind = draw.choice(["hostile", "hostile", "hostile", "gone", "moved", "twice", "renamed"])
    if kind == "gone":
        del holder[key]
    elif kind == "moved":
        holder[key] = copy.deepcopy(_at(document, draw.choice(list(places(document)))))
    elif kind == "twice" and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    elif kind == "renamed" and isinstance(holder, dict):
        holder[draw.choice(["name", "kind", "values", f"{key}_"])] = holder.pop(key)
    else:
        holder[key] = draw.choice(HOSTILE)
        return f"hostile {str(holder[key])[:40]!r}"
    return kind


def _at(part: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        part = part[key]
    return part


def reader_problem(folder: Path) -> str:
    """What breaks where a reader opens, shows, asks and verifies a release; nothing where all is answered or refused in one sentence."""
    began = time.process_time()
    try:
        _read(folder)
    except InputError as error:
        text = str(error)
        internal = any(sign in text for sign in ("Traceback", "object at 0x", "pyarrow.", "validation error"))
        if internal or "\n" in text or len(text) > 2000:
            return f"a message with internals: {text[:200]!r}"
    except Exception as error:  # noqa: BLE001  this is what is looked for
        return f"{type(error).__name__}: {str(error)[:200]}"
    seconds = time.process_time() - began
    return f"{seconds:.1f} seconds" if seconds > SECONDS else ""


def _read(folder: Path) -> None:
    checks = scumble.verify(folder)  # refuses what it does not understand, as opening does
    release = scumble.open(folder)
    assert checks
    str(release)
    for sql in QUESTIONS:
        try:
            release.query(sql)
        except InputError:
            continue


@cache
def kept() -> dict[str, Path]:
    """The releases, made once."""
    folder = tempfile.TemporaryDirectory(prefix="scumble-fuzz-kept-")
    atexit.register(folder.cleanup)
    return releases(Path(folder.name))


def case(draw: random.Random) -> str:
    """One release, changed."""
    name = draw.choice(sorted(kept()))
    document, done = mutated(json.loads((kept()[name] / NAME).read_text(encoding="utf-8")), draw)
    with tempfile.TemporaryDirectory(prefix="scumble-fuzz-") as place:
        folder = Path(shutil.copytree(kept()[name], Path(place) / name))
        text = sealed(document) if isinstance(document, dict) else json.dumps(document)
        (folder / NAME).write_text(text, encoding="utf-8", errors="replace")
        problem = reader_problem(folder)
    assert not problem, f"{name}, {done}: {problem}"
    return "held"
