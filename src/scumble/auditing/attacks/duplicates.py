"""Duplicates: records that stand several times show themselves.

- A release of the form tuple_set has no tuple twice, and made-up tuples are made up once: a tuple that is there twice is surely one of the table.
- Where each record is published k times, every count is a multiple of k: the crowd of k is one person. By chance all of t counts are multiples of 2 or
  more with probability about 2^-t, so at least 20 different records are asked for.
- With the raw table: rows beyond the number of people who have their values, where the mechanism adds none.
"""

import math

import numpy as np
import pyarrow as pa

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.publication import Codes, together
from scumble.auditing.finding import Finding

NAME = "duplicates"

FEWEST = 20
"""Different records below which a common divisor may be chance: 2^-20."""


def attack(case: Case) -> Finding | None:
    """The share of published rows that are copies, as far as they show it."""
    publication = case.publication
    if publication.form == "tuple_set":
        return _set(publication.table)
    if publication.manifest is not None and (publication.manifest.role("copies") or len(publication.tables) > 1):
        return None
    table = publication.table
    names = [name for name in table.column_names if publication.manifest is None or name not in ("weight", "subtable")]
    if publication.form == "buckets":
        names = publication.quasi  # buckets are filled evenly, and their number would make every count the same
    factor = _common(_counts(table, names))
    if publication.perturbed and not publication.sampled:
        factor = max(factor, _common(_counts(table, publication.quasi)))  # copies with coins of their own
    rows = table.num_rows
    copies = rows - rows // factor
    sentence = f"every record is there {factor} times" if factor > 1 else "records do not stand a fixed number of times"
    beyond = 0
    ranges = publication.manifest is not None and publication.manifest.view.ranges
    if case.scored and not publication.traits.adds_rows and not ranges:
        groups = case.groups
        beyond = int(np.maximum(groups.rows - groups.people, 0)[groups.people > 0].sum())
        sentence += f"; {beyond:,} rows are beyond the number of people who have their public values"
    return Finding.of_facts(NAME, max(copies, beyond), rows, sentence, "integrity")


def _set(table: pa.Table) -> Finding:
    counts = _counts(table, table.column_names)
    twice = int((counts > 1).sum())
    sentence = (
        f"{twice:,} of {len(counts):,} tuples are there more than once, and made-up ones never are: these are true"
    )
    return Finding.of_facts(NAME, twice, len(counts), sentence, "inference")


def _counts(table: pa.Table, names: list[str]) -> Codes:
    (number,), _ = together(names, table)
    counts = np.bincount(number)
    return counts[counts > 0]


def _common(counts: Codes) -> int:
    """The divisor that all counts have."""
    return math.gcd(*counts.tolist()) if len(counts) >= FEWEST else 1
