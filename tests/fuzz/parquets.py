"""Releases whose Parquet files somebody broke, with hashes that fit: truncated, with flipped bits, with other columns, types or rows."""

import io
import json
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from forged import refiled
from fuzz.manifests import kept, reader_problem

import scumble
from scumble.core.errors import InputError
from scumble.release.manifest import NAME

TYPES = [pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.binary(), pa.date32(), pa.null()]


def broken(data: bytes, draw: random.Random) -> tuple[bytes, str]:
    """The bytes of a Parquet file with something wrong, and what."""
    kind = draw.choice(
        ["cut", "flipped", "flipped", "flipped", "footer", "zeros", "rows", "type", "renamed", "dropped", "empty"]
    )
    if kind == "cut":
        return data[: draw.randrange(len(data))], kind
    if kind in ("flipped", "footer"):
        changed = bytearray(data)
        start = len(data) - min(len(data), 400) if kind == "footer" else 4
        for _ in range(draw.choice([1, 1, 3, 20])):
            changed[draw.randrange(start, len(data))] ^= 1 << draw.randrange(8)
        return bytes(changed), kind
    if kind == "zeros":
        start = draw.randrange(len(data))
        return data[:start] + bytes(min(64, len(data) - start)) + data[start + 64 :], kind
    return _rewritten(pq.read_table(pa.BufferReader(data)), kind, draw), kind


def _rewritten(table: pa.Table, kind: str, draw: random.Random) -> bytes:
    """A sound Parquet file that is not the one of the manifest."""
    place = draw.randrange(table.num_columns)
    name = table.column_names[place]
    if kind == "type":
        made = pa.nulls(table.num_rows, draw.choice(TYPES))
        table = table.set_column(place, name, made)
    elif kind == "renamed":
        table = table.rename_columns([f"{n}_" if n == name else n for n in table.column_names])
    elif kind == "dropped":
        table = table.remove_column(place)
    else:
        table = table.slice(0, 0 if kind == "empty" else table.num_rows // 2)
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def case(draw: random.Random) -> str:
    """One file of a release, damaged; every tenth release is attacked as well."""
    name = draw.choice(sorted(kept()))
    document = json.loads((kept()[name] / NAME).read_text(encoding="utf-8"))
    path = draw.choice([file["path"] for file in document["files"] if "rows" in file])
    data, kind = broken((kept()[name] / path).read_bytes(), draw)
    with tempfile.TemporaryDirectory(prefix="scumble-fuzz-") as place:
        folder = Path(shutil.copytree(kept()[name], Path(place) / name))
        refiled(folder, path, data)
        problem = reader_problem(folder) or _tables_problem(folder, draw.random() < 0.1)
    assert not problem, f"{name}, {path} {kind}: {problem}"
    return "held"


def _tables_problem(folder: Path, audited: bool) -> str:
    """What breaks where the rows themselves are read."""
    try:
        release = scumble.open(folder)
        names: list[Any] = [table.name for table in release.manifest.form.tables] or [None]
        for name in names:
            release.table(name)
        if audited:
            scumble.audit(release)
    except InputError:
        return ""
    except Exception as error:  # noqa: BLE001  this is what is looked for
        return f"{type(error).__name__}: {str(error)[:200]}"
    return ""
