"""A leaked index: a column that numbers the rows of the source, openly or in disguise.

- whole numbers, or text of them, that run without gaps from any start in any step, each once
- digests or encodings of 0, 1, 2, ... : MD5, SHA-1, SHA-256, CRC-32, hexadecimal, Base64
- with the raw table: a column that the raw table does not have, and that goes with the order of its rows

Whoever has it puts the rows back into their order, and joins them with anything else that was numbered alike. An id that is
merely different in each row is a matter of linking; `--on` needs one, and a random number will do.
"""

import base64
import hashlib
import math
import zlib
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scumble.audit.case import Case
from scumble.audit.exhibit import Codes, together
from scumble.audit.finding import Finding, Z
from scumble.domain import is_text

NAME = "leaked index"

FEWEST = 20
"""Rows below which a sequence without gaps may be an ordinary column."""

TRIED = 200_000
"""Row numbers whose digests are tried."""

LOOKED_AT = 32
"""Values of a column that are looked for among the digests."""

DISGUISES: dict[str, Callable[[bytes], str]] = {
    "MD5": lambda text: hashlib.md5(text, usedforsecurity=False).hexdigest(),
    "SHA-1": lambda text: hashlib.sha1(text, usedforsecurity=False).hexdigest(),
    "SHA-256": lambda text: hashlib.sha256(text).hexdigest(),
    "CRC-32": lambda text: f"{zlib.crc32(text):08x}",
    "Base64": lambda text: base64.b64encode(text).decode(),
    "hexadecimal": lambda text: f"{int(text):x}",
}


def attack(case: Case) -> Finding | None:
    """The first column that gives the source's order away."""
    table = case.exhibit.table
    if table.num_rows < FEWEST or case.exhibit.mechanism in ("k_dgs", "noisy_counts", "columnized", "alpha_beta"):
        return None
    manifest = case.exhibit.manifest
    names = [n for n in table.column_names if n not in case.exhibit.sensitive]
    if manifest is not None:
        names = [column.name for column in manifest.columns if column.role == "public"]
    for name in names:
        if told := _numbered(case, name):
            return Finding.of_facts(NAME, table.num_rows, table.num_rows, f"column {name!r} {told}", "integrity")
    return Finding.of_facts(NAME, 0, table.num_rows, f"none of {len(names)} columns numbers the rows", "integrity")


def _numbered(case: Case, name: str) -> str | None:
    """How a column gives the order away."""
    column = case.exhibit.table.column(name)
    (codes,), count = together([name], case.exhibit.table)
    if count < 0.99 * len(codes) or column.null_count:
        return None
    return _sequence(column) or _disguised(column) or _follows_raw(case, name, codes)


def _sequence(column: pa.ChunkedArray) -> str | None:
    """Different whole numbers in even steps, with few missing."""
    if is_text(column.type):
        digits = pc.replace_substring_regex(column, r"^\D*", "")
        if not pc.all(pc.match_substring_regex(digits, r"^\d{1,15}$")).as_py():
            return None
        column = digits.cast(pa.int64())
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return None
    numbers = np.sort(column.to_numpy().astype(np.float64))
    steps = np.diff(numbers)
    even = steps > 0
    if not even.any() or not np.isfinite(numbers).all():
        return None
    unit = float(np.median(steps))
    if unit <= 0 or not np.allclose(steps / unit, np.rint(steps / unit), atol=1e-6):
        return None
    if (steps == unit).mean() < 0.99 and (numbers[-1] - numbers[0]) / unit > 1.5 * len(numbers):
        return None
    first, last = f"{numbers[0]:.12g}", f"{numbers[-1]:.12g}"
    return f"runs from {first} to {last} in steps of {unit:.12g}: it numbers the rows"


def _disguised(column: pa.ChunkedArray) -> str | None:
    """Digests of the numbers of rows."""
    if not is_text(column.type):
        return None
    places = np.linspace(0, len(column) - 1, LOOKED_AT).astype(np.int64)
    wanted = {str(value).lower() for value in column.take(pa.array(places)).to_pylist()}
    upto = min(len(column) + 2, TRIED)
    for name, disguise in DISGUISES.items():
        hits = wanted & {disguise(str(number).encode()).lower() for number in range(upto)}
        if len(hits) > LOOKED_AT * upto / (4 * len(column)):
            return f"is the {name} of the number of the row"
    return None


def _follows_raw(case: Case, name: str, codes: Codes) -> str | None:
    """A column that the publisher added, and that rises or falls with the place in the raw table."""
    if case.source is None or name in case.source.schema.names:
        return None
    others = [n for n in case.exhibit.quasi if n != name]
    assert case.raw is not None
    (published, raw), count = together(others, case.exhibit.table, case.raw)
    rows, people = np.bincount(published, minlength=count), np.bincount(raw, minlength=count)
    place = np.zeros(count)
    place[raw] = np.arange(len(raw))
    known = (rows == 1)[published] & (people == 1)[published]
    if known.sum() < FEWEST:
        return None
    correlation = float(np.corrcoef(place[published[known]], codes[known])[0, 1])
    if abs(correlation) * math.sqrt(known.sum() - 1) < 2 * Z:
        return None
    return f"is not in the raw table and goes with the order of its rows (rank correlation {correlation:.2f})"
