"""Metadata: what the files tell beside the rows.

Looked at are: key-value metadata of Parquet files and of their fields, an index that pandas left, statistics of any row group that reach beyond its
rows, words of a dictionary that no row has, bytes between the parts of a file, paths in any text, comment lines in CSV files, folders named after
values (column=value), and files of a release that its manifest does not list.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.layout import stray_bytes
from scumble.auditing.evidence.publication import Publication, parquet_files
from scumble.auditing.finding import Finding
from scumble.publishing.encode import used_places
from scumble.release.manifest import NAME as MANIFEST

NAME = "metadata"

PATH = re.compile(r"(/home/|/Users/|/root/|/tmp/|/var/|[A-Za-z]:\\[A-Za-z]|file://)[\w./\\-]*")
TEXT = (".csv", ".tsv", ".txt", ".gz", ".zst")


def attack(case: Case) -> Finding | None:
    """How much of the files tells something that their rows do not."""
    files = case.publication.files
    if not files:
        return None
    texts = {path: list(_leaks(path)) for path in files}
    more = [*_words(case.publication), *_strangers(case.publication)]
    telling = sum(bool(lines) for lines in texts.values()) + len(more)
    said = [text for lines in texts.values() for text in lines] + more
    detail = "; ".join(said[:3]) + (f"; and {len(said) - 3} more" if len(said) > 3 else "")
    return Finding.of_facts(
        NAME,
        telling,
        max(telling, len(files)),
        detail or "1 file tells nothing beside its rows"
        if len(files) == 1
        else f"{len(files)} files tell nothing beside their rows",
        "integrity",
    )


def _leaks(path: Path) -> Iterator[str]:
    for part in path.parts[-3:-1]:
        if re.fullmatch(r"\w+=.+", part):
            yield f"the folder {part!r} of {path.name} tells a value"
    if path.suffix in TEXT:
        yield from _comments(path)
    for _, file in parquet_files([path]):
        yield from _keys(path.name, file)
        yield from _fields(path.name, file.schema_arrow)
        yield from _statistics(path.name, file)
        if stray := stray_bytes(path):
            yield f"{path.name} has {stray:,} bytes that belong to no column"


def _comments(path: Path) -> Iterator[str]:
    with pa.input_stream(str(path), compression="detect") as stream:
        head = stream.read(1 << 16).decode("utf-8", "replace")
    for number, line in enumerate(head.splitlines()[:50], 1):
        if line.startswith(("#", "//")):
            yield f"line {number} of {path.name} is a comment: {line.strip()[:60]!r}"


def _keys(name: str, file: pq.ParquetFile) -> Iterator[str]:
    given = {k.decode(errors="replace"): v.decode(errors="replace") for k, v in (file.metadata.metadata or {}).items()}
    for key, text in given.items():
        if key == "pandas":
            yield from _pandas(name, text)
        elif key != "ARROW:schema":
            yield f"{name} carries metadata {key!r}"
    inner = file.schema_arrow.metadata or {}
    yield from (f"{name} carries metadata {k.decode()!r}" for k in inner if k.decode() not in ("pandas", *given))
    place = PATH.search(f"{file.metadata.created_by} {' '.join(v for k, v in given.items() if k != 'ARROW:schema')}")
    if place:
        yield f"{name} carries the path {place[0]!r}"


def _pandas(name: str, text: str) -> Iterator[str]:
    try:
        said = json.loads(text)
    except json.JSONDecodeError:
        yield f"{name} carries metadata 'pandas'"
        return
    kept = [column for column in said.get("index_columns", []) if isinstance(column, str)]
    if kept:
        yield f"{name} carries the index of a data frame, {kept[0]!r}: rows of the source can be told by it"
    if said.get("attributes"):
        yield f"{name} carries attributes of a data frame: {', '.join(map(str, said['attributes']))}"


def _fields(name: str, fields: Iterable[pa.Field]) -> Iterator[str]:
    """What is noted at columns, at any depth; the number of a field is the format's own."""
    for field in fields:
        for key, text in (field.metadata or {}).items():
            if key != b"PARQUET:field_id":
                place = PATH.search(text.decode(errors="replace"))
                carried = f"the path {place[0]!r}" if place else f"metadata {key.decode(errors='replace')!r}"
                yield f"{name} carries {carried} at {field.name!r}"
        yield from _fields(name, [field.type.field(i) for i in range(field.type.num_fields)])


def _statistics(name: str, file: pq.ParquetFile) -> Iterator[str]:
    """Ends that no row has, as a writer leaves them that filtered afterwards. Row groups are read one at a time, and only columns that have statistics."""
    for place in range(file.metadata.num_columns):
        path = file.metadata.schema.column(place).path
        if any(_reaches_beyond(file, group, place) for group in range(file.metadata.num_row_groups)):
            yield f"{name}: the statistics of {path!r} reach beyond its rows"


def _reaches_beyond(file: pq.ParquetFile, group: int, place: int) -> bool:
    column = file.metadata.row_group(group).column(place)
    if not column.is_stats_set or not column.statistics.has_min_max:
        return False
    ends = column.statistics
    try:
        seen = pc.min_max(file.read_row_group(group, columns=[column.path_in_schema]).column(0)).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return seen["min"] is not None and (_below(ends.min, seen["min"]) or _below(seen["max"], ends.max))


def _below(a: Any, b: Any) -> bool:
    return (
        type(a) is type(b)
        and isinstance(a, int | float | str)
        and a < b
        and not (isinstance(a, str) and b.startswith(a))
    )


def _words(publication: Publication) -> Iterator[str]:
    """Words that stand in the dictionary of a text column and in no row; those of a declared domain are public anyway."""
    held: dict[str, set[Any]] = {}
    used: dict[str, set[Any]] = {}
    for path, file in parquet_files(publication.files):
        text = [f.name for f in file.schema_arrow if pa.types.is_string(f.type) or pa.types.is_dictionary(f.type)]
        for batch in pq.ParquetFile(path, read_dictionary=text).iter_batches(1 << 20, columns=text):
            for name, column in zip(text, batch.columns, strict=True):
                if pa.types.is_dictionary(column.type):
                    held.setdefault(name, set()).update(column.dictionary.to_pylist())
                    used.setdefault(name, set()).update(
                        column.dictionary.take(pa.array(used_places(column))).to_pylist()
                    )
    domains = publication.manifest.domains if publication.manifest is not None else {}
    for name, words in held.items():
        declared = set(domains[name].values.fill_null("").to_pylist()) if name in domains else set()
        unused = words - used[name] - declared
        if unused:
            yield f"the dictionary of {name!r} has {len(unused):,} words that no row has"


def _strangers(publication: Publication) -> Iterator[str]:
    if publication.release is None:
        return
    listed = {MANIFEST, *(file.path for file in publication.release.manifest.files)}
    for path in sorted(publication.release.path.rglob("*")):
        inside = path.relative_to(publication.release.path).as_posix()
        if path.is_file() and inside not in listed:
            yield f"{inside!r} lies in the release and is not in its manifest"
