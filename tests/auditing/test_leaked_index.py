"""Row numbers in disguise are found, with the raw table or without; columns that are merely different in each row are not called that."""

import base64
import datetime
import hashlib
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from scumble.auditing import Finding, case_of
from scumble.auditing.attacks import index

ROLES: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": ["disease"]}


def looked_at(raw: pa.Table, column: Any, *, given: bool, known: bool = True) -> Finding:
    """The raw table with a column more, shuffled; given says whether the auditor has it, known whether with that column."""
    table = raw.append_column("key", pa.array(column))
    published = table.take(pa.array(np.random.default_rng(1).permutation(len(table))))
    found = index.attack(case_of(published, (table if known else raw) if given else None, **ROLES))
    assert found is not None
    return found


def _text(number: int) -> bytes:
    return str(number).encode()


DISGUISES: dict[str, Callable[[int], Any]] = {
    "cut SHA-256": lambda i: hashlib.sha256(_text(i)).hexdigest()[:16],
    "SHA-256 of a padded number": lambda i: hashlib.sha256(f"{i:06d}".encode()).hexdigest(),
    "SHA-256 behind a letter": lambda i: hashlib.sha256(f"P{i:06d}".encode()).hexdigest(),
    "SHA-512": lambda i: hashlib.sha512(_text(i)).hexdigest().upper(),
    "BLAKE2b": lambda i: hashlib.blake2b(_text(i)).hexdigest()[:20],
    "MD5 from 100000": lambda i: hashlib.md5(_text(100000 + i)).hexdigest(),
    "SHA-1 in Base64": lambda i: base64.b64encode(hashlib.sha1(_text(i)).digest()).decode(),
    "MD5 as a UUID": lambda i: str(uuid.UUID(hashlib.md5(_text(i)).hexdigest())),
    "a step around a circle": lambda i: i * 7919 % 1000003,
    "backwards": lambda i: str(i)[::-1].zfill(6),
    "between letters": lambda i: f"P-{i:06d}-X",
    "Base64 of bytes": lambda i: base64.b64encode(i.to_bytes(4, "big")).decode(),
    "Base64 of digits": lambda i: base64.b64encode(_text(i)).decode(),
    "hexadecimal": lambda i: f"{i:08x}",
    "in a UUID": lambda i: f"{i:08x}-0000-4000-8000-000000000000",
    "as a time in text": lambda i: f"2020-01-01T{i // 3600:02d}:{i // 60 % 60:02d}:{i % 60:02d}",
    "as a time": lambda i: datetime.datetime(2020, 1, 1) + datetime.timedelta(minutes=i),
    "as a fraction": lambda i: i / 1000,
}


@pytest.mark.slow
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("disguise", DISGUISES)
def test_numbers_in_disguise(disguise: str, given: bool, raw: pa.Table) -> None:
    found = looked_at(raw, [DISGUISES[disguise](i) for i in range(len(raw))], given=given)
    assert found.verdict == "broken"
    assert "'key'" in found.detail


def _innocent(rows: int) -> dict[str, Any]:
    draw = np.random.default_rng(7)
    secret = draw.bytes(16)
    return {
        "cost": np.round(draw.gamma(2, 1e5, rows), 2),
        "cost, the table sorted by it": np.sort(draw.gamma(2, 1000, rows)),
        "random numbers": draw.integers(0, 2**40, rows),
        "random numbers among few": draw.permutation(4 * rows)[:rows],
        "telephone numbers": [f"0{n:09d}" for n in draw.integers(0, 10**9, rows)],
        "random UUIDs": [str(uuid.UUID(bytes=draw.bytes(16), version=4)) for _ in range(rows)],
        "digests under a secret": [hashlib.sha256(secret + _text(i)).hexdigest() for i in range(rows)],
        "times": [
            datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=int(s)) for s in draw.integers(0, 10**8, rows)
        ],
        "words": ["".join(draw.choice(list("aeioubcdfg"), 9)) for _ in range(rows)],
    }


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.slow
def test_columns_of_the_raw_table_that_are_merely_different_are_none(given: bool, raw: pa.Table) -> None:
    for what, column in _innocent(len(raw)).items():
        assert looked_at(raw, column, given=given).verdict == "holds", what


def test_a_label_that_the_raw_table_has_not(raw: pa.Table) -> None:
    """Random numbers, which somebody put on the rows after the raw table: whoever has them elsewhere can join."""
    found = looked_at(raw, _innocent(len(raw))["random numbers"], given=True, known=False)
    assert found.verdict == "broken"
    assert "labels every row" in found.detail


@pytest.mark.slow
@pytest.mark.parametrize("column", ["numbers", "text"])
def test_a_column_that_has_the_order_of_the_raw_table(column: str, raw: pa.Table) -> None:
    """Uneven steps: only beside the raw table does it show."""
    rising = np.cumsum(np.random.default_rng(3).integers(1, 10**6, len(raw)))
    made = rising if column == "numbers" else [f"case {n:012d}" for n in rising]
    assert looked_at(raw, made, given=False).verdict == "holds"
    found = looked_at(raw, made, given=True)
    assert found.verdict == "broken"
    assert "order of the raw table" in found.detail
