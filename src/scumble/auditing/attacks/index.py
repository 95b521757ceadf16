"""A leaked index: a column that numbers the rows of the source, openly or in disguise.

- whole numbers, however written, that run in even steps, or that a fixed step makes in a circle
- digests of 0, 1, 2, ...
- with the raw table: a column that rises or falls with its rows, or changes from row to row by the same steps
- with the raw table: a label of its own on every row, in a column that the raw table does not have

Whoever has it puts the rows back into their order, and joins them with anything else that was numbered alike. A column of the raw table that is
merely different in each row is a matter of linking; `--on` needs one, and a random number will do.
"""

import math

import numpy as np
import pyarrow as pa

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.digests import digest_of_numbers
from scumble.auditing.evidence.publication import Codes, together
from scumble.auditing.evidence.readings import Numbers, readings
from scumble.auditing.finding import Finding, Z
from scumble.core.arrow_types import decoded, is_text

NAME = "leaked index"

FEWEST = 20
"""Rows below which a sequence without gaps may be an ordinary column."""

DIFFERENT = 0.95
"""The share of different values from which a column is a label of its rows."""

READ = 0.85
"""The same for text, as some ways to write numbers (backwards, say) make a few of them alike."""

MANY = 100
"""Numbers among whose gaps chance does not leave three sizes alone."""

STEADY = 0.9
"""The share of gaps of one size that is no chance; numbers that are drawn among few have it where nine in ten are drawn."""


def attack(case: Case) -> Finding | None:
    """The first column that gives the source's order away."""
    table = case.publication.table
    if table.num_rows < FEWEST or case.publication.form in ("tuples", "tuple_set"):
        return None
    manifest = case.publication.manifest
    names = [n for n in table.column_names if n not in case.publication.sensitive]
    if manifest is not None:
        names = [column.name for column in manifest.columns if column.role == "public"]
    for name in names:
        if sentence := _numbered(case, name):
            return Finding.of_facts(NAME, table.num_rows, table.num_rows, f"column {name!r} {sentence}", "integrity")
    return Finding.of_facts(NAME, 0, table.num_rows, f"none of {len(names)} columns numbers the rows", "integrity")


def _numbered(case: Case, name: str) -> str | None:
    """How a column gives the order away."""
    column = decoded(case.publication.table.column(name))
    (codes,), count = together([name], case.publication.table)
    different = count / len(codes)
    if different < (READ if is_text(column.type) else DIFFERENT) or column.null_count:
        return None
    return _sequence(column) or _disguised(column) or (_by_raw(case, name, codes) if different >= DIFFERENT else None)


def _sequence(column: pa.ChunkedArray) -> str | None:
    """Numbers in even steps, with few missing."""
    for numbers in readings(column):
        there = np.unique(numbers)
        if len(there) >= READ * len(numbers) and _even(there):
            return f"runs from {there[0]} to {there[-1]} in even steps: it numbers the rows"
    if pa.types.is_floating(column.type):
        there = np.unique(column.to_numpy().astype(np.float64))
        gaps = np.diff(there)
        if len(gaps) and np.isfinite(there).all() and np.allclose(gaps, gaps[0], rtol=1e-6, atol=0):
            return f"runs from {there[0]:.12g} to {there[-1]:.12g} in even steps: it numbers the rows"
    return None


def _even(rising: Numbers) -> bool:
    """Whether one gap is nearly everywhere, or half of all places that it leaves are taken, or a fixed step around a circle made them.

    A step around a circle leaves gaps of three sizes at most, wherever it stops; of drawn numbers the gaps are of many.
    """
    sizes, times = np.unique(np.diff(rising), return_counts=True)
    if not len(sizes):
        return False
    unit = sizes[times.argmax()]
    taken = bool((sizes % unit == 0).all()) and (rising[-1] - rising[0]) // unit < 1.5 * len(rising)
    return times.max() >= STEADY * times.sum() or taken or (len(sizes) <= 3 and len(rising) >= MANY)


def _disguised(column: pa.ChunkedArray) -> str | None:
    """Digests of the numbers of rows."""
    name = digest_of_numbers(column) if is_text(column.type) else None
    return f"is the {name} of the number of the row" if name else None


def _by_raw(case: Case, name: str, codes: Codes) -> str | None:
    """What the raw table tells of a column that is different in each row."""
    if case.source is None:
        return None
    if name in case.source.schema.names:
        return _orders_raw(case, name)
    return (
        _follows_raw(case, name, codes)
        or "is not in the raw table and labels every row: it can be joined with other tables"
    )


def _orders_raw(case: Case, name: str) -> str | None:
    """A column of the raw table that has the order of its rows. Measured numbers may be what it is sorted by, and are left to `order`."""
    assert case.raw is not None
    column = decoded(case.raw.column(name))
    if pa.types.is_floating(column.type) or column.null_count or len(column) < FEWEST:
        return None
    (codes,), count = together([name], case.raw)
    if count < DIFFERENT * len(codes):
        return None
    place = np.arange(len(codes))
    if abs(np.corrcoef(place, codes)[0, 1]) > 0.99:
        return "has the order of the raw table's rows"
    for numbers in readings(column):
        steps = np.sort(np.unique(np.diff(numbers), return_counts=True)[1])[::-1]
        if steps[:3].sum() >= STEADY * (len(numbers) - 1):
            return "changes by the same steps from row to row of the raw table"
    return None


def _follows_raw(case: Case, name: str, codes: Codes) -> str | None:
    """A column that the publisher added, and that rises or falls with the place in the raw table."""
    others = [n for n in case.publication.quasi if n != name]
    assert case.raw is not None
    (published, raw), count = together(others, case.publication.table, case.raw)
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
