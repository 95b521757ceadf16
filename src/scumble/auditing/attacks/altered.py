"""Altered values: public columns whose values are not those of the raw table, though it is plainly the same table.

What is hidden in the sixth decimal, in the sign of a zero or in the bits of a missing number is seen by no reader who rounds, and can hold the true
value of every row.
"""

import numpy as np

from scumble.auditing.evidence.case import Case
from scumble.auditing.finding import Finding

NAME = "altered values"


def attack(case: Case) -> Finding | None:
    """The share of rows with a public value that nobody has in the raw table."""
    if case.raw is None or not case.publication.perturbed:
        return None
    rows, altered = case.publication.table.num_rows, case.altered
    hits = int(np.logical_or.reduce(list(altered.values())).sum()) if altered else 0
    sentence = (
        f"values of {', '.join(map(repr, altered))} are not those of the raw table in {hits:,} rows; attacks go on without"
        if altered
        else "public values are those of the raw table"
    )
    return Finding.of_facts(NAME, hits, rows, sentence, "integrity")
