"""Bytes: is there anything in the files that the published rows do not tell? Row groups, dictionaries, statistics, order, padding, metadata, README: all are outputs.

A manifest names what wrote the data files. Where this software writes by the same rules with the same library, the published rows are written again (`rewriting`), and every byte must be the same. Where it does not,
the layout must be the same: row groups, encodings, order of dictionaries, what lies beside columns, metadata. Rows must be in the order in which a release is written (`runs`), and the folder must hold what it says.
How many rows a row group has is chosen by coins, each row for itself, and is held to that law.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.layout import gap_bytes
from scumble.auditing.evidence.rewriting import Layout, WrittenTable, layout_of, text_columns
from scumble.auditing.evidence.runs import in_order
from scumble.auditing.evidence.signs import Sign, worst_sign
from scumble.auditing.evidence.tails import bennett
from scumble.auditing.finding import Finding
from scumble.auditing.level import error_of
from scumble.publishing.shuffle import bucket_count
from scumble.publishing.write import ROW_GROUP, writer_name
from scumble.release.folder import folder_checks
from scumble.release.release import Release

NAME = "bytes"

UNKNOWN = bucket_count(None)
"""Parts that a table of unknown length is dealt into."""

ADVICE = "publish again with scumble, and hand out the folder as it was written"


def attack(case: Case) -> Finding | None:
    """How many files are not what their rows become; and row groups that coins do not make."""
    release = case.publication.release
    if release is None or release.manifest.writer is None:
        return None
    manifest = release.manifest
    same = manifest.writer == writer_name()
    problems = [check.detail for check in folder_checks(release.path, manifest) if not check.passed]
    tables = [files for _, files in manifest.form.layout([c.name for c in manifest.columns], manifest.data)]
    for files in tables:
        written = WrittenTable(manifest, [release.file(file) for file in files])
        for file, path in zip(files, written.files, strict=True):
            problems += _problems(written, file, path, same)
    problems += _orders(case)
    if problems:
        more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
        count = max(len(problems), len(manifest.data))
        return Finding.of_facts(NAME, len(problems), count, problems[0] + more, "integrity", advice=ADVICE)
    told = "byte for byte" if same else f"in its layout (it was written by {manifest.writer})"
    counted = "1 data file" if len(manifest.data) == 1 else f"{len(manifest.data)} data files"
    sentence = f"{counted}, written again from the rows, the same {told}"
    sign = worst_sign([list(_sizes(release, tables))])
    if sign is None:
        return Finding.of_facts(NAME, 0, len(manifest.data), sentence, "integrity")
    return Finding.of_test(
        NAME, sign.seen, sign.expected, sign.log_p, error_of(NAME), f"{sentence}; {sign.of}", advice=ADVICE
    )


def _problems(written: WrittenTable, name: str, path: Path, same: bool) -> Iterator[str]:
    """What is wrong with a file."""
    if same:
        if not any(way.same_bytes(path) for way in written.ways(path)):
            yield f"{name} is not what its rows become when they are written again: {_difference(written, path)}"
        return
    if gaps := gap_bytes(path):
        yield f"{name} has {gaps:,} bytes that belong to no column"
    found = _layout(path)
    if not any(way.layout() == found for way in written.ways(path)):
        yield f"{name} has another layout than its rows have when they are written again: {_difference(written, path)}"


def _layout(path: Path) -> Layout:
    return layout_of(pq.ParquetFile(path, read_dictionary=text_columns(pq.read_schema(path))))


PARTS = {
    "rows": "row groups",
    "columns": "encodings, dictionaries or statistics",
    "metadata": "metadata",
    "schema": "columns",
}


def _difference(written: WrittenTable, path: Path) -> str:
    """In what it differs, as far as its layout shows it."""
    found = _layout(path)
    every = [
        [words for part, words in PARTS.items() if getattr(way.layout(), part) != getattr(found, part)]
        for way in written.ways(path)
    ]
    wrong = min(every, key=len)
    return ", ".join(wrong) or ("bytes that belong to no column" if gap_bytes(path) else "its pages")


def _orders(case: Case) -> Iterator[str]:
    """Shuffled rows are sorted by columns of few values, within each row group."""
    release = case.publication.release
    assert release is not None
    if release.manifest.order == "shuffled" and release.manifest.view.row_by_row:
        files = [release.file(path) for path in release.manifest.data]
        if not in_order(release.manifest, files):
            yield "rows are not in the order in which a release is written"


def _sizes(release: Release, tables: list[list[str]]) -> Iterator[Sign]:
    """Row groups of shuffled rows, each row of which was dealt to one of them by a coin."""
    if release.manifest.order != "shuffled" or not release.manifest.view.row_by_row:
        return
    for files in tables:
        metas = [pq.ParquetFile(release.file(file)).metadata for file in files]
        rows = [meta.row_group(i).num_rows for meta in metas for i in range(meta.num_row_groups)]
        total = sum(rows)
        allowed = [count for count in (bucket_count(total), UNKNOWN) if len(rows) <= count or total > count * ROW_GROUP]
        if allowed:
            yield max((_of_sizes(rows, total, count) for count in allowed), key=lambda sign: sign.log_p)
        else:
            of = f"{total:,} rows are in {len(rows)} row groups, where {bucket_count(total)} or {UNKNOWN} are written"
            yield Sign(-math.inf, 1.0, 0.0, of)


def _of_sizes(rows: list[int], total: int, count: int) -> Sign:
    """The row group whose size is least probable, if rows were dealt to so many."""
    if count == 1:
        return Sign(0.0 if len(rows) <= 1 else -math.inf, 1.0, 1.0, f"there are {len(rows)} row groups of 1")
    sizes = rows + [0] * max(0, count - len(rows))
    share = 1 / count
    log_p = bennett([abs(size - total * share) for size in sizes], total * share * (1 - share))
    at = int(log_p.argmin())
    of = f"a row group has {sizes[at]:,} of {total:,} rows, where {total * share:,.1f} are expected"
    return Sign(float(log_p[at]), sizes[at] / max(1, total), share, of).among(2 * count)
