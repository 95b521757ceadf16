"""Homogeneity: people who all share their public values and their sensitive value need not be told apart to be known.

Counted are rows in classes of two or more that have one sensitive value (a row that is alone is a matter of linking). The baseline is the part of them
that the most frequent value of the whole table gives anyway. For tables of true values: of a perturbed release the published values are not the people's.
"""

import numpy as np

from scumble.auditing.evidence.case import Case
from scumble.auditing.evidence.publication import together
from scumble.auditing.evidence.value_counts import ValueCounts
from scumble.auditing.finding import Finding

NAME = "homogeneity"


def attack(case: Case) -> Finding | None:
    """The sensitive column that most people give away together."""
    if case.publication.manifest is not None or not case.publication.quasi:
        return None
    findings = [_column(case, name) for name in case.publication.sensitive]
    return max(findings, key=lambda finding: finding.low - finding.baseline, default=None)


def _column(case: Case, name: str) -> Finding:
    table = case.publication.table
    (group,), count = together(case.publication.quasi, table)
    (value,), size = together([name], table)
    first, second, whose = ValueCounts(group, value, size).two_largest(count)
    alike = (first >= 2) & (second == 0)
    rows, people = int(first[alike].sum()), len(value)
    overall = int(np.bincount(value, minlength=size).argmax()) if people else 0
    known = int(first[alike & (whose == overall)].sum()) / max(1, people)
    different = np.bincount(ValueCounts(group, value, size).group, minlength=count)
    least = int(different[first > 0].min(initial=size))
    share = rows / max(1, people)
    sentence = (
        f"{name}: {rows:,} of {people:,} rows are in classes of one value ({int(alike.sum()):,} classes; every class has at least {least}); "
        f"{known:.2%} of all have there the table's most frequent value, which is no news"
    )
    return Finding(NAME, share, known, share, share, sentence)
